package typing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// TestFieldOfObject is what paths of an object are, by its schema.
func TestFieldOfObject(t *testing.T) {
	tests := map[string]struct {
		reason string
		path   string
		want   string
	}{
		"apiVersion":          {"Every object has it, even if the schema does not say so.", "apiVersion", "string"},
		"kind":                {"Every object has it.", "kind", "string"},
		"name":                {"Every object has it.", "metadata.name", "string"},
		"namespace":           {"It counts as there.", "metadata.namespace", "string"},
		"generation":          {"It counts as there.", "metadata.generation", "integer"},
		"creation":            {"It counts as there.", "metadata.creationTimestamp", "string"},
		"deletion":            {"Few objects are being deleted.", "metadata.deletionTimestamp", "string?"},
		"labels":              {"They read as an empty map.", "metadata.labels", "{* string?}"},
		"a label":             {"It may be absent.", "metadata.labels.app", "string?"},
		"annotations":         {"They read as an empty map.", "metadata.annotations", "{* string?}"},
		"finalizers":          {"They may be absent, as any list.", "metadata.finalizers", "[string]?"},
		"owners":              {"Their fields are known.", "metadata.ownerReferences.[].uid", "string"},
		"owner's controller":  {"Not all are.", "metadata.ownerReferences.[].controller", "boolean?"},
		"required":            {"It is there even though spec is not required.", "spec.name", "string"},
		"default":             {"It is stored.", "spec.replicas", "integer"},
		"optional":            {"It may be absent.", "spec.nickname", "string?"},
		"nullable":            {"It may be null although it has to be there.", "spec.nullable", "string?"},
		"either":              {"Both.", "spec.port", "integer or string?"},
		"element":             {"It has the fields that are required.", "spec.containers.[].name", "string"},
		"in an optional map":  {"What it requires is there where it is.", "spec.containers.[].limit.memory", "string"},
		"value of a map":      {"Any key may be absent.", "spec.selector.app", "string?"},
		"in an open map":      {"What is declared is known.", "spec.open.a", "string"},
		"status":              {"It reads as an empty map.", "status", "{message string?, observed {generation integer}?, phase Ready|Failed?}"},
		"required in status":  {"Nobody may have written a status.", "status.phase", "Ready|Failed?"},
		"below in the status": {"Where observed is, it is whole.", "status.observed.generation", "integer"},
		"template's spec":     {"An object in an object has one too.", "spec.template.spec", "{a string}"},
		"template's kind":     {"So has it a kind.", "spec.template.kind", "string"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, result := read(object, tt.path)
			if result != typing.Found || written(got) != tt.want {
				t.Errorf("%s is %s (%v), want %s: %s", tt.path, written(got), result, tt.want, tt.reason)
			}
		})
	}
}

func TestFieldNotFound(t *testing.T) {
	open := &schema.Type{Kinds: value.Map, Map: &schema.Map{Open: true}}
	tests := map[string]struct {
		reason string
		of     typing.Type
		path   string
		want   typing.FieldResult
	}{
		"misspelt":            {"The schema is closed.", object, "spec.replica", typing.Lacking},
		"no spec":             {"A ConfigMap has none.", typing.Object(mapOf(nil)), "spec", typing.Lacking},
		"in metadata":         {"It is closed.", object, "metadata.nam", typing.Lacking},
		"in an element":       {"It is closed.", object, "spec.containers.[].nam", typing.Lacking},
		"built":               {"It is built whole.", mapping("a", text), "b", typing.Lacking},
		"constant":            {"It is known.", constant(map[string]any{"a": "x"}), "b", typing.Lacking},
		"in a constant":       {"So is what is in it.", constant(map[string]any{"a": map[string]any{}}), "a.b", typing.Lacking},
		"in none of several":  {"Neither has it.", typing.Union(mapping("a", text), mapping("b", text)), "c", typing.Lacking},
		"open":                {"Other fields are kept.", object, "spec.open.b", typing.Unsure},
		"free":                {"Nothing is known of it.", object, "spec.free.b", typing.Unsure},
		"free itself":         {"It can be anything.", object, "spec.free", typing.Unsure},
		"unknown":             {"Nothing is known.", anyType, "a", typing.Unsure},
		"unknown value":       {"It can be anything.", mapping("a", anyType), "a", typing.Unsure},
		"kinds":               {"A map it is, and no more is known.", typing.Of(value.Map), "a", typing.Unsure},
		"text":                {"The caller sees that it is no map.", text, "a", typing.Unsure},
		"nil":                 {"The caller sees that it is nil.", nothing, "a", typing.Unsure},
		"nothing":             {"There is no such value.", none, "a", typing.Unsure},
		"an open object":      {"Its spec can be anything.", typing.Object(open), "spec.a", typing.Unsure},
		"an unknown object":   {"Without a schema nothing is known.", typing.Object(nil), "spec", typing.Unsure},
		"a map of any values": {"The key is possible.", typing.Map(nil, anyType), "a", typing.Unsure},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, result := read(tt.of, tt.path)
			if result != tt.want || got.Known() {
				t.Errorf("%s of %s is %s (%v), want %v: %s", tt.path, tt.of, written(got), result, tt.want, tt.reason)
			}
		})
	}
}

func TestFieldOfBuilt(t *testing.T) {
	either := typing.Union(typing.Map(map[string]typing.Type{"a": integer, "b": text}), mapping("b", integer))
	tests := map[string]struct {
		reason string
		of     typing.Type
		path   string
		want   string
	}{
		"entry":              {"It is there.", mapping("a", text), "a", "string"},
		"entry with nil":     {"As it was built.", mapping("a", text.Nilable()), "a", "string?"},
		"value":              {"Its key may not be among them.", typing.Map(nil, text), "a", "string?"},
		"entry beside":       {"The entry counts.", typing.Map(map[string]typing.Type{"a": integer}, text), "a", "integer"},
		"value beside":       {"The values count.", typing.Map(map[string]typing.Type{"a": integer}, text), "b", "string?"},
		"of several values":  {"Any.", typing.Map(nil, text, integer), "a", "integer or string?"},
		"in both":            {"Either.", either, "b", "integer or string"},
		"in one of two":      {"The other has none.", either, "a", "integer?"},
		"of a part or built": {"Either.", typing.Union(object, mapping("kind", integer)), "kind", "integer or string"},
		"only of the part":   {"The other has none.", typing.Union(object, mapping("kind", integer)), "metadata", written(must(read(object, "metadata"))) + "?"},
		"of what can be nil": {"The caller sees that.", mapping("a", text).Nilable(), "a", "string"},
		"of a map or text":   {"The caller sees that.", typing.Union(mapping("a", text), text), "a", "string"},
		"constant":           {"It is known.", constant(map[string]any{"a": map[string]any{"b": int64(1)}}), "a.b", "1"},
		"constant null":      {"It is known.", constant(map[string]any{"a": nil}), "a", "?"},
		"of two constants": {
			"Either.", typing.Union(constant(map[string]any{"a": int64(1)}), constant(map[string]any{"a": "x", "b": true})), "a", "1|x",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, result := read(tt.of, tt.path)
			if result != typing.Found || written(got) != tt.want {
				t.Errorf("%s is %s (%v), want %s: %s", tt.path, written(got), result, tt.want, tt.reason)
			}
		})
	}
}

func must(t typing.Type, _ typing.FieldResult) typing.Type { return t }

func TestAt(t *testing.T) {
	numbers := constant([]any{int64(1), "x"})
	tests := map[string]struct {
		reason string
		of     typing.Type
		key    any
		want   string
	}{
		"key":                 {"As a path.", mapping("a", text), "a", "string"},
		"key that lacks":      {"It is nil.", mapping("a", text), "b", "?"},
		"spec":                {"Only a path reads it as an empty map.", object, "status", written(must(read(object, "status"))) + "?"},
		"of nil":              {"It is nil.", nothing, "a", "?"},
		"not known":           {"A key that is computed is not typed.", object, nil, "any"},
		"index":               {"An element counts as there.", list(text), int64(3), "string"},
		"index of a constant": {"It is known.", numbers, int64(1), "x"},
		"from the end":        {"It is known.", numbers, int64(-1), "x"},
		"beyond a constant":   {"It is nil.", numbers, int64(2), "?"},
		"index of a part":     {"Its elements.", must(read(object, "spec.containers")), int64(0), written(must(read(object, "spec.containers.[]")))},
		"key of a list":       {"It has none, which the caller sees.", list(text), "a", "any"},
		"index of a map":      {"It has none.", mapping("a", text), int64(0), "none"},
		"index of unknown":    {"Nothing is known.", anyType, int64(0), "any"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := written(tt.of.At(tt.key)); got != tt.want {
				t.Errorf("At(%v) = %s, want %s: %s", tt.key, got, tt.want, tt.reason)
			}
		})
	}
}

func TestItemsAndValues(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		items  string
		values string
	}{
		"list":            {"What it is made of.", list(text, integer), "integer or string", "none"},
		"empty list":      {"It has no elements.", list(), "none", "none"},
		"map":             {"What it is made of.", typing.Map(map[string]typing.Type{"a": text}, integer), "none", "integer or string"},
		"constant list":   {"Each.", constant([]any{int64(1), nil, "x"}), "1|x?", "none"},
		"constant map":    {"Each.", constant(map[string]any{"a": int64(1), "b": "x"}), "none", "1|x"},
		"part":            {"By its schema, and what is absent is no value.", must(read(object, "spec.selector")), "none", "string"},
		"closed part":     {"All fields.", must(read(object, "status")), "none", "string|{generation integer}"},
		"open part":       {"Anything.", must(read(object, "spec.open")), "none", "any"},
		"either":          {"Of both.", typing.Union(list(text), mapping("a", integer)), "string", "integer"},
		"unknown":         {"Nothing is known.", anyType, "any", "any"},
		"kinds":           {"Nothing is known.", typing.Of(value.List | value.Map), "any", "any"},
		"text":            {"It has neither.", text, "none", "none"},
		"nil":             {"It has neither.", nothing, "none", "none"},
		"list or nothing": {"What is there.", list(text).Nilable(), "string", "none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := written(tt.of.Items()); got != tt.items {
				t.Errorf("items are %s, want %s: %s", got, tt.items, tt.reason)
			}
			if got := written(tt.of.Values()); got != tt.values {
				t.Errorf("values are %s, want %s: %s", got, tt.values, tt.reason)
			}
		})
	}
}

func TestNames(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   []string
	}{
		"part":     {"By its schema.", must(read(object, "status")), []string{"message", "observed", "phase"}},
		"built":    {"As it is built.", typing.Map(map[string]typing.Type{"b": text, "a": text}, text), []string{"a", "b"}},
		"constant": {"As it is.", constant(map[string]any{"b": nil, "a": nil}), []string{"a", "b"}},
		"either":   {"Of both, each once.", typing.Union(must(read(object, "status")), mapping("phase", text), mapping("a", text)), []string{"a", "message", "observed", "phase"}},
		"a list":   {"It has none.", constant([]any{"a"}), nil},
		"unknown":  {"None are known.", anyType, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.of.Names(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}
