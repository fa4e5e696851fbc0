package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// emitter writes the schemas of a document once more, with what was surveyed. What Kubernetes sets within a kind may
// differ from what it sets in the same Go type within another: a Job has a backoffLimit, the template in a CronJob has
// none. Then each has a schema of its own.
type emitter struct {
	from   map[string]object
	bodies []string
	to     map[string]object
	names  map[string]map[string]string // By the original name: how a schema was written, and under which name.
}

// writing is the work of an emitter on one kind.
type writing struct {
	*emitter
	root      string
	survey    *survey
	specified map[string]bool
	done      map[string]string // The new name by the original one.
}

// schema writes a schema with all that it refers to, and returns its new name.
func (w *writing) schema(name string) (string, error) {
	if given, done := w.done[name]; done || w.from[name] == nil {
		return given, nil
	}
	w.done[name] = name // What contains itself has this name, or there is an error below.
	var s object
	data, err := json.Marshal(w.from[name])
	if err != nil || json.Unmarshal(data, &s) != nil {
		return "", fmt.Errorf("copying %s: %w", name, err)
	}
	if !slices.Contains(w.bodies, name) {
		delete(s, kind) // Within another kind it is no object with a name of its own.
	}
	if t, ok := w.survey.types[name]; ok {
		w.survey.describe(name, t, s, w.specified[name])
	}
	if err := w.rename(s); err != nil {
		return "", err
	}
	if data, err = json.Marshal(s); err != nil {
		return "", fmt.Errorf("encoding %s: %w", name, err)
	}
	w.done[name] = w.place(name, string(data), s)
	if w.done[name] != name && slices.Contains(references(s), name) {
		return "", fmt.Errorf("%s contains itself and differs in %s", name, w.root)
	}
	return w.done[name], nil
}

// place finds the name for a schema: its own for the first form of it, then that with the kind behind it.
func (w *writing) place(name, written string, s object) string {
	forms := w.names[name]
	if forms == nil {
		forms = map[string]string{}
		w.names[name] = forms
	}
	if forms[written] == "" {
		forms[written] = name
		if len(forms) > 1 {
			forms[written] = name + "." + w.root[strings.LastIndex(w.root, ".")+1:]
		}
		w.to[forms[written]] = s
	}
	return forms[written]
}

// rename makes the references within a schema those to the new names.
func (w *writing) rename(schema any) error {
	switch s := schema.(type) {
	case object:
		for key, value := range s {
			if ref, ok := value.(string); ok && key == "$ref" {
				name, err := w.schema(strings.TrimPrefix(ref, reference))
				if err != nil {
					return err
				}
				s[key] = reference + name
			} else if err := w.rename(value); err != nil {
				return err
			}
		}
	case []any:
		for _, value := range s {
			if err := w.rename(value); err != nil {
				return err
			}
		}
	}
	return nil
}
