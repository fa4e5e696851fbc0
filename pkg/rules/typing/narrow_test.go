package typing_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func TestSlice(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   string
	}{
		"list":          {"Its elements.", list(text), "[string]"},
		"text":          {"A text.", text, "string"},
		"constant text": {"It is part of it.", constant("abc"), "string"},
		"constant list": {"It is part of it.", constant([]any{"a", "b"}), "[a|b]"},
		"either":        {"Either.", typing.Union(list(integer), text), "string|[integer]"},
		"optional list": {"What is absent is an empty list.", list(integer).Nilable(), "[integer]"},
		"nil":           {"It is an empty list.", nothing, "[none]"},
		"part":          {"Its elements.", must(read(object, "metadata.finalizers")), "[string]"},
		"map":           {"It has no slice, which the caller sees.", object, "none"},
		"unknown":       {"Nothing is known.", anyType, "any"},
	}
	for name, tt := range tests {
		if got := written(tt.of.Slice()); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.want, tt.reason)
		}
	}
}

func TestFlat(t *testing.T) {
	nested := list(integer)
	for range 5 {
		nested = list(nested, text)
	}
	endless := &schema.Type{Kinds: value.List, List: &schema.List{}}
	endless.List.Items = endless
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   string
	}{
		"flat":         {"Its elements.", list(text), "string"},
		"lists":        {"Their elements.", list(list(text), list(integer)), "integer or string"},
		"mixed":        {"Of both.", list(text, list(integer)), "integer or string"},
		"deep":         {"All of them.", nested, "integer or string"},
		"nil":          {"It is taken for a list that is absent.", list(text.Nilable()), "string"},
		"optional":     {"A list among them that is absent is empty.", list(list(text).Nilable()), "string"},
		"constant":     {"All of them.", constant([]any{"a", []any{"b", []any{}}}), "a|b"},
		"part":         {"All of them.", typing.From(required(listOf(listOf(textSchema)))), "string"},
		"endless":      {"It is given up.", typing.From(required(endless)), "any"},
		"unknown":      {"Nothing is known.", anyType, "any"},
		"of unknown":   {"Nothing is known.", list(anyType), "any"},
		"empty":        {"There are none.", list(), "none"},
		"maps in maps": {"Maps are elements.", list(list(mapping("a", list(text)))), "{a [string]}"},
	}
	for name, tt := range tests {
		if got := written(tt.of.Flat()); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.want, tt.reason)
		}
	}
}
