package redact

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
)

// shortest is how many bytes a value must have to be looked for. Shorter ones are found
// everywhere and hardly secret.
const shortest = 4

// shortestPart is the same for a part of a value: many files have the same short lines.
const shortestPart = 8

// What is learned is bounded. Past it, no text that [Values] are asked about is shown.
const (
	mostBytes  = 64 << 20
	mostValues = 1 << 18
)

// LastApplied is the annotation where kubectl keeps a copy of the whole object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Values are what must not be shown. The zero value knows none, and shows [Plain] for a
// value. Learning is not safe for concurrent use; once nothing is learned any more, the rest is.
type Values struct {
	standIn func(value string) string
	known   map[string]bool // folded, as exceptions are
	except  map[string]bool
	bytes   int
	tooMuch bool
	index   atomic.Pointer[index] // of known, nil while that changes
}

// New returns values for which others stand: see [Plain] and [Fingerprint].
func New(standIn func(value string) string) *Values { return &Values{standIn: standIn} }

// Everything returns values of which nothing is known, so that any text may be one: it is
// masked whole.
func Everything(standIn func(value string) string) *Values {
	return &Values{standIn: standIn, tooMuch: true}
}

// Learn takes the values of a Secret, or of a body that is written to one: a map, or the
// steps of a JSON patch. Anything else has none.
func (v *Values) Learn(secret any) {
	switch body := secret.(type) {
	case map[string]any:
		v.learnFields(body)
		v.learnCopy(body)
	case []any:
		for _, step := range body {
			if field, value := written(step); isData(field) {
				v.collect(field, value)
			}
		}
	}
}

// LearnField takes a value that is, or was, in a field of a Secret: a map of values or one
// of them. It ignores fields that hold none.
func (v *Values) LearnField(field string, value any) {
	if isData(field) {
		v.collect(field, value)
	}
}

// LearnFrom takes what others know, nil for nothing. Their exceptions are their own.
func (v *Values) LearnFrom(others *Values) {
	if others == nil {
		return
	}
	v.tooMuch = v.tooMuch || others.tooMuch
	for text := range others.known {
		v.keep(text)
	}
}

// Except has words shown as they are, such as names that stand in every line anyway. They
// are masked still as a part of longer values.
func (v *Values) Except(words ...string) {
	for _, word := range words {
		if v.except == nil {
			v.except = map[string]bool{}
		}
		if word = folded(word); !v.except[word] {
			v.except[word] = true
			v.index.Store(nil)
		}
	}
}

// Empty reports whether there is nothing to look for.
func (v *Values) Empty() bool { return len(v.known) == 0 && !v.tooMuch }

func (v *Values) learnFields(object map[string]any) {
	for field, value := range object {
		v.LearnField(field, value)
	}
}

// learnCopy takes what kubectl has noted of the object, which may be older values.
func (v *Values) learnCopy(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[LastApplied].(string)
	var noted map[string]any
	if text != "" && json.Unmarshal([]byte(text), &noted) == nil {
		v.learnFields(noted)
	}
}

// isData tells the two fields that hold the values of a Secret.
func isData(field string) bool { return field == "data" || field == "stringData" }

// written returns what a step of a JSON patch writes, and in which field of the object. No
// rule may write the object as a whole.
func written(step any) (field string, value any) {
	fields, _ := step.(map[string]any)
	at, _ := fields["path"].(string)
	field, _, _ = strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return field, fields["value"]
}

// collect takes a value as it is, and as the other of the two fields would have it.
func (v *Values) collect(field string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, element := range value {
			v.collect(field, element)
		}
	case string:
		v.add(value)
		if field == "stringData" {
			v.add(base64.StdEncoding.EncodeToString([]byte(value)))
		} else if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
			v.add(string(decoded))
		}
	}
}

// add takes a value as a whole, each line of it, and what a line or JSON gives a key.
func (v *Values) add(value string) {
	v.look(value, shortest)
	v.look(strings.TrimSpace(value), shortest)
	for line := range strings.SplitSeq(value, "\n") {
		if v.tooMuch {
			return
		}
		line = strings.TrimSpace(line)
		v.look(line, shortestPart)
		for _, separator := range []string{": ", "="} {
			_, setting, _ := strings.Cut(line, separator)
			v.look(strings.Trim(setting, " \t\"'"), shortestPart)
		}
	}
	if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		var inner any
		if json.Unmarshal([]byte(value), &inner) == nil {
			v.leaves(inner)
		}
	}
}

// leaves takes the texts in a value that is JSON, such as the passwords of registries.
func (v *Values) leaves(value any) {
	switch value := value.(type) {
	case string:
		v.look(value, shortestPart)
	case []any:
		for _, element := range value {
			v.leaves(element)
		}
	case map[string]any:
		for _, element := range value {
			v.leaves(element)
		}
	}
}

// look has a text be looked for in all spellings.
func (v *Values) look(text string, atLeast int) {
	word := folded(text)
	if len(text) < atLeast || isFrame(text) || slices.Contains([]string{"true", "false", "null", "none"}, word) || v.known[word] {
		return
	}
	for _, once := range spellings(text) {
		for _, twice := range spellings(once) {
			v.keep(folded(twice))
		}
	}
	for _, escaped := range escapes(text) {
		v.keep(folded(escaped))
	}
}

func (v *Values) keep(text string) {
	if v.known[text] {
		return
	}
	if v.bytes += len(text); v.bytes > mostBytes || len(v.known) >= mostValues {
		v.tooMuch = true
		return
	}
	if v.known == nil {
		v.known = map[string]bool{}
	}
	v.known[text] = true
	v.index.Store(nil)
}

// isFrame tells the first and last line of PEM, which keys and public certificates share.
func isFrame(line string) bool {
	return strings.HasSuffix(line, "-----") && (strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END "))
}
