package typing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
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

func must(t typing.Type, _ typing.FieldResult) typing.Type { return t }

func TestAt(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		key    any
		want   string
	}{
		"key":              {"As a path.", mapping("a", text), "a", "string"},
		"key that lacks":   {"It is nil.", mapping("a", text), "b", "?"},
		"spec":             {"Only a path reads it as an empty map.", object, "status", written(must(read(object, "status"))) + "?"},
		"of nil":           {"It is nil.", nothing, "a", "?"},
		"not known":        {"A key that is computed is not typed.", object, nil, "any"},
		"index":            {"An element counts as there.", list(text), int64(3), "string"},
		"index of a part":  {"Its elements.", must(read(object, "spec.containers")), int64(0), written(must(read(object, "spec.containers.[]")))},
		"key of a list":    {"It has none, which the caller sees.", list(text), "a", "any"},
		"index of a map":   {"It has none.", mapping("a", text), int64(0), "none"},
		"index of unknown": {"Nothing is known.", anyType, int64(0), "any"},
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
		"text part":       {"Nor has one of a schema.", must(read(object, "spec.name")), "none", "none"},
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
