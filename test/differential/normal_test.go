package differential

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// identities gives what an API server thinks up names that are the same for both: in the
// order in which they were seen. So what is told is whether they changed.
type identities struct {
	uids, versions map[string]string
	names          map[string]string
}

func newIdentities() *identities {
	return &identities{uids: map[string]string{}, versions: map[string]string{}, names: map[string]string{}}
}

// name makes known a name that the API server has made.
func (k *identities) name(made string) { k.names[made] = "<generated>" }

var (
	stamp  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
	number = regexp.MustCompile(`\b\d{3,}\b`)
	// generated are the names that refused objects would have had.
	generated = regexp.MustCompile(`\bmade-[a-z0-9]{5}\b`)
	// stored is where an API server keeps objects, which it tells when a uid is wrong.
	stored = regexp.MustCompile(`Key: \S+,`)
	// entire is an object in a message, where the order of its managers is that of times.
	entire = regexp.MustCompile(`Invalid value: "\{.*managedFields.*\}"`)
	told   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// fixed is what it says of fields that never change: of some it shows the value.
	fixed = regexp.MustCompile(`Invalid value: [^,]*: field is immutable`)
)

// normal is an answer without what only one API server can know.
func (k *identities) normal(v any) any {
	object, is := v.(map[string]any)
	if !is {
		return v
	}
	if items, is := object["items"].([]any); is {
		k.list(object, items)
		return object
	}
	if object["kind"] == "Status" {
		return k.status(object)
	}
	k.metadata(object)
	return k.texts(object, false)
}

func (k *identities) list(object map[string]any, items []any) {
	if metadata, is := object["metadata"].(map[string]any); is {
		metadata["resourceVersion"] = "<list>"
	}
	for i, item := range items {
		items[i] = k.normal(item)
	}
}

// metadata replaces uids, versions and times.
func (k *identities) metadata(object map[string]any) {
	metadata, is := object["metadata"].(map[string]any)
	if !is {
		return
	}
	replace(metadata, "uid", k.uids, "uid")
	replace(metadata, "resourceVersion", k.versions, "version")
	stamped(metadata, "creationTimestamp")
	stamped(metadata, "deletionTimestamp")
	managers, _ := metadata["managedFields"].([]any)
	for _, manager := range managers {
		if entry, is := manager.(map[string]any); is {
			stamped(entry, "time")
		}
	}
	// They are sorted by time, and the clocks are two.
	slices.SortStableFunc(managers, func(a, b any) int {
		return cmp.Compare(managerOf(a), managerOf(b))
	})
}

func managerOf(v any) string {
	entry, _ := v.(map[string]any)
	return fmt.Sprint(entry["manager"], " ", entry["operation"], " ", entry["subresource"], " ", entry["apiVersion"])
}

func replace(metadata map[string]any, key string, known map[string]string, word string) {
	text, is := metadata[key].(string)
	if !is || text == "" {
		return
	}
	if known[text] == "" {
		known[text] = fmt.Sprintf("<%s %d>", word, len(known)+1)
	}
	metadata[key] = known[text]
}

func stamped(in map[string]any, key string) {
	if text, is := in[key].(string); is && stamp.MatchString(text) {
		in[key] = "<time>"
	}
}

// status replaces what is known in the text of a refusal, and sorts its causes: some are
// found in the order of a map.
func (k *identities) status(object map[string]any) any {
	if message, is := object["message"].(string); is {
		object["message"] = lines(message)
	}
	if details, is := object["details"].(map[string]any); is {
		replace(details, "uid", k.uids, "uid")
		if causes, is := details["causes"].([]any); is {
			slices.SortStableFunc(causes, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			if message, is := object["message"].(string); is && len(causes) > 1 {
				object["message"] = parts(message)
			}
		}
	}
	return k.texts(object, true)
}

// lines sorts what is enumerated in a message line by line.
// Where one is of an unknown field, those that come after it in the map are not looked for.
func lines(message string) string {
	if head, _, found := strings.Cut(message, "): "); found && strings.Contains(message, "field not declared in schema") {
		return head + "): there are unknown fields"
	}
	head, list, found := strings.Cut(message, "errors:\n")
	if !found {
		return message
	}
	all := strings.Split(list, "\n")
	slices.Sort(all)
	return head + "errors:\n" + strings.Join(all, "\n")
}

// parts sorts what is enumerated in a message.
func parts(message string) string {
	head, list, found := strings.Cut(message, "[")
	if !found || !strings.HasSuffix(list, "]") {
		return message
	}
	all := strings.Split(strings.TrimSuffix(list, "]"), ", ")
	slices.Sort(all)
	return head + "[" + strings.Join(all, ", ") + "]"
}

// texts replaces what is known anywhere in texts, versions only where somebody is told of
// them: elsewhere a number is a number.
func (k *identities) texts(v any, versions bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = k.texts(value, versions)
		}
	case []any:
		for i, value := range v {
			v[i] = k.texts(value, versions)
		}
	case string:
		return k.text(v, versions)
	}
	return v
}

func (k *identities) text(text string, versions bool) string {
	for uid, name := range k.uids {
		text = strings.ReplaceAll(text, uid, name)
	}
	for made, name := range k.names {
		text = strings.ReplaceAll(text, made, name)
	}
	if !versions {
		return text
	}
	text = entire.ReplaceAllString(text, "Invalid value: <the object>")
	text = told.ReplaceAllString(text, "<time>")
	text = generated.ReplaceAllString(text, "<generated>")
	text = stored.ReplaceAllString(text, "Key: <key>,")
	text = fixed.ReplaceAllString(text, "field is immutable")
	return number.ReplaceAllStringFunc(text, func(digits string) string {
		if name := k.versions[digits]; name != "" {
			return name
		}
		return digits
	})
}
