package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The words that the documents get beside those of OpenAPI.
const (
	zeroIsAbsent = "x-dyncontroller-zero-is-absent"
	always       = "x-dyncontroller-always"
)

// enrich adds to the schemas of a document what only the code of Kubernetes knows.
func (w *world) enrich(d *document) error {
	e := &emitter{from: d.Components.Schemas, bodies: d.bodies(), to: map[string]object{}, names: map[string]map[string]string{}}
	required := map[string][]string{}
	for name, schema := range e.from {
		required[name] = stringsOf(schema["required"])
	}
	for _, name := range e.bodies {
		s := newSurvey(w, required)
		for _, gvk := range d.kinds(name) {
			r, err := w.root(gvk)
			if err != nil {
				return err
			}
			s.kind(r)
		}
		specified := d.reach([]string{name}, "status")
		given, err := (&writing{emitter: e, root: name, survey: s, specified: specified, done: map[string]string{}}).schema(name)
		if err != nil {
			return err
		}
		if given != name {
			return fmt.Errorf("%s is a resource, and something else within another", name)
		}
	}
	d.Components.Schemas = e.to
	return nil
}

// kinds returns the kind of a schema, none of a schema that many groups share.
func (d *document) kinds(name string) []schema.GroupVersionKind {
	data, err := json.Marshal(d.Components.Schemas[name][kind])
	var found []schema.GroupVersionKind
	if err != nil || json.Unmarshal(data, &found) != nil || len(found) != 1 {
		return nil
	}
	return found
}

// describe adds what was seen of the fields of a schema. specified says that it is not only part of a status.
func (s *survey) describe(name string, t reflect.Type, schema object, specified bool) {
	properties, _ := schema["properties"].(object)
	_, whole := schema[kind] // It is an object with a name of its own, whose kind everybody knows.
	var absent, there, required []string
	for _, f := range fieldsOf(t) {
		property, ok := properties[f.name].(object)
		if !ok || whole && identity(f) {
			continue
		}
		s.world.refine(property, name, f)
		if f.zeroIsAbsent() {
			absent = append(absent, f.name)
		}
		seen := s.found[name][f.name]
		switch {
		case specified && s.mandatory(name, f):
			required = append(required, f.name)
		case seen != nil && seen.always:
			there = append(there, f.name)
			setDefault(property, f, seen)
		case neverWithout(name, f):
			there = append(there, f.name)
		}
	}
	setNames(schema, zeroIsAbsent, absent)
	setNames(schema, always, there)
	setNames(schema, "required", required)
}

func identity(f field) bool { return f.name == "apiVersion" || f.name == "kind" }

// refine adds to a field what it can be.
func (w *world) refine(property object, model string, f field) {
	addEnum(property, w.enum(model, f))
	if model == claimSize && f.name == "requests" {
		withSize(property)
	}
}

// claimSize says how large a volume is that somebody claims.
const claimSize = core + "VolumeResourceRequirements"

const core = "io.k8s.api.core.v1."

// neverWithout reports whether a field is there though the documents do not call it required, and no code sets it.
func neverWithout(model string, f field) bool {
	switch f.name {
	case "lastTransitionTime": // Whoever writes a condition says since when it is so, and what asks for it could ask for nothing else.
		return strings.HasSuffix(model, "Condition")
	case "image": // Called optional for who fills it in on the way; no container is accepted without, not even in a template.
		return model == core+"Container" || model == core+"EphemeralContainer"
	case "requests": // No claim is accepted without a size.
		return model == claimSize
	default:
		return false
	}
}

// withSize adds to what a claim asks for the size, which is always among it.
func withSize(requests object) {
	const size = "storage"
	requests["properties"] = object{size: requests["additionalProperties"]}
	setNames(requests, always, []string{size})
}

// mandatory reports whether Kubernetes takes no object without the field. Its documents call a field required that the
// Go type does not omit. Of those it fills some itself, cannot tell false from nothing, and takes an empty list for two.
// The status of an object is hardly ever validated.
func (s *survey) mandatory(model string, f field) bool {
	seen := s.found[model][f.name]
	switch {
	case !slices.Contains(s.required[model], f.name), f.typ.Kind() == reflect.Bool:
		return false
	case f.name == "drivers" && strings.HasSuffix(model, ".CSINodeSpec"), f.name == "limits" && strings.HasSuffix(model, ".LimitRangeSpec"):
		return false
	default:
		return !s.written(model, f) || seen == nil || !seen.always || seen.zero
	}
}

// setDefault says what a field becomes that nobody wrote. A struct has defaults of its own,
// and what is set to the time of the writing has none.
func setDefault(property object, f field, seen *finding) {
	var value any
	switch {
	case f.typ.Kind() == reflect.Struct && !leaf(f.typ), f.name == "metadata":
		value = object{}
	case !seen.same || f.typ == reflect.TypeFor[*metav1.Time]() || json.Unmarshal([]byte(seen.value), &value) != nil:
		return
	}
	withDefault(property, value)
}

func addEnum(property object, values []string) {
	if len(values) == 0 {
		return
	}
	if items, ok := property["items"].(object); ok {
		property = items
	}
	property["enum"] = values
}

func setNames(schema object, key string, names []string) {
	delete(schema, key)
	if len(names) > 0 {
		slices.Sort(names)
		schema[key] = names
	}
}

func stringsOf(list any) []string {
	var all []string
	values, _ := list.([]any)
	for _, v := range values {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
