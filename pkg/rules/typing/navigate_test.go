package typing_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

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
