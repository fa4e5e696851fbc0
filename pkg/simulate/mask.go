package simulate

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// shortestSecret is how long a value must be to be looked for in other text.
// Shorter ones are found everywhere and hardly secret.
const shortestSecret = 4

// lastApplied is where kubectl keeps a copy of the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// mask hides the values of a Secret wherever they are shown: its own data, and
// text that a rule made of them.
type mask struct {
	values       []string
	fingerprints bool
}

// newMask knows the values of the Secret and those that are written to it.
func newMask(content map[string]any, writes []Write, fingerprints bool) *mask {
	m := &mask{fingerprints: fingerprints}
	m.collectObject(content)
	for _, w := range writes {
		switch body := w.Body.(type) {
		case map[string]any:
			m.collectObject(body)
		case []any:
			for _, step := range body {
				if field, value := written(step); isData(field) {
					m.collect(value)
				}
			}
		}
	}
	m.values = slices.DeleteFunc(m.values, func(value string) bool { return len(value) < shortestSecret })
	return m
}

func (m *mask) collectObject(content map[string]any) {
	for key, value := range content {
		if isData(key) {
			m.collect(value)
		}
	}
}

// collect takes a value as it is and as the other of the two fields of a
// Secret would have it.
func (m *mask) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, element := range value {
			m.collect(element)
		}
	case string:
		m.values = append(m.values, value, base64.StdEncoding.EncodeToString([]byte(value)))
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
			m.values = append(m.values, string(decoded))
		}
	}
}

// isData tells the two fields that hold the values of a Secret.
func isData(key string) bool { return key == "data" || key == "stringData" }

// written returns what a step of a JSON patch writes, and in which field of the
// object. No rule may write the object as a whole.
func written(step any) (field string, value any) {
	fields, _ := step.(map[string]any)
	field, _, _ = strings.Cut(strings.TrimPrefix(stringAt(fields, "path"), "/"), "/")
	return field, fields["value"]
}

func (m *mask) hide(d *Decided) {
	for i := range d.Decisions {
		decision := &d.Decisions[i]
		if hidden := m.text(decision.Reason); hidden != decision.Reason {
			decision.Reason, decision.Err = hidden, nil
		}
	}
	for _, writes := range [][]Write{d.Writes, d.Audited} {
		for i := range writes {
			writes[i].Body = m.body(writes[i].Body)
		}
	}
	for i := range d.Events {
		event := &d.Events[i]
		event.Reason, event.Action, event.Message = m.text(event.Reason), m.text(event.Action), m.text(event.Message)
	}
	d.Object = m.object(d.Object)
}

func (m *mask) body(body any) any {
	steps, ok := body.([]any)
	if !ok {
		content, _ := body.(map[string]any)
		return m.object(content)
	}
	out := make([]any, len(steps))
	for i, step := range steps {
		out[i] = m.step(step)
	}
	return out
}

// step hides the value of one step of a JSON patch.
func (m *mask) step(step any) any {
	out := m.other(step)
	fields, ok := out.(map[string]any)
	if field, value := written(step); ok && isData(field) && value != nil {
		fields["value"] = m.data(value)
	}
	return out
}

// object hides what the data of a Secret holds, and looks for it elsewhere.
func (m *mask) object(content map[string]any) map[string]any {
	if content == nil {
		return nil
	}
	out := make(map[string]any, len(content))
	for key, value := range content {
		if isData(key) {
			out[key] = m.data(value)
		} else {
			out[key] = m.other(value)
		}
	}
	return out
}

// data hides every value but not which ones there are. A null says that one is
// to be removed.
func (m *mask) data(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			out[key] = m.data(element)
		}
		return out
	default:
		return m.masked(fmt.Sprint(value))
	}
}

func (m *mask) other(value any) any {
	switch value := value.(type) {
	case string:
		return m.text(value)
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = m.other(element)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			out[key] = m.other(element)
			if text, ok := element.(string); ok && key == lastApplied {
				out[key] = m.masked(text)
			}
		}
		return out
	default:
		return value
	}
}

// text hides the whole of a text that holds a secret value.
func (m *mask) text(text string) string {
	if slices.ContainsFunc(m.values, func(value string) bool { return strings.Contains(text, value) }) {
		return m.masked(text)
	}
	return text
}

// masked stands for a value. A fingerprint tells values apart, but also lets a
// guess be confirmed: it is for goldens, whose fixtures are no secret.
func (m *mask) masked(value string) string {
	if !m.fingerprints {
		return "(masked)"
	}
	sum := sha256.Sum256([]byte(value))
	return "(masked " + hex.EncodeToString(sum[:4]) + ")"
}
