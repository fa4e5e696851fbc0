package typing_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func TestOnly(t *testing.T) {
	all := typing.Union(text, constant(int64(1)), list(boolean), mapping("a", text), nothing)
	port := typing.From(optional(&schema.Type{Kinds: value.Int | value.String}))
	tests := map[string]struct {
		reason string
		of     typing.Type
		kinds  value.Kind
		want   string
	}{
		"text":               {"The rest is gone.", all, value.String, "string"},
		"constant":           {"It stays one.", all, value.Int, "1"},
		"list":               {"With its elements.", all, value.List, "[boolean]"},
		"map":                {"With its entries.", all, value.Map, "{a string}"},
		"nil":                {"Nothing else.", all, value.Nil, "?"},
		"two kinds":          {"Both.", all, value.Map | value.Nil, "{a string}?"},
		"all but one":        {"The rest.", all, ^value.List, "integer or string|{a string}?"},
		"none":               {"It is never that.", all, value.Time, "none"},
		"one of a part":      {"It is that alone.", port, value.Int, "integer"},
		"none of a part":     {"The part is gone.", typing.Union(object, text), value.String, "string"},
		"of unknown":         {"It is any of the kind.", anyType, value.Map, "{* any}"},
		"several of unknown": {"They are known.", anyType, value.String | value.Nil, "string?"},
		"not of unknown":     {"There is no such value.", anyType, value.Foreign, "none"},
	}
	for name, tt := range tests {
		if got := written(tt.of.Only(tt.kinds)); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.want, tt.reason)
		}
	}
}

func TestNilableAndNonNil(t *testing.T) {
	tests := map[string]struct {
		reason  string
		of      typing.Type
		nilable string
		nonNil  string
	}{
		"text":     {"Or nil.", text, "string?", "string"},
		"optional": {"It is already.", text.Nilable(), "string?", "string"},
		"constant": {"It is still known.", constant("a"), "a?", "a"},
		"list":     {"Its elements do not change.", list(text.Nilable()), "[string?]?", "[string?]"},
		"nil":      {"Without it there is nothing.", nothing, "?", "none"},
		"unknown":  {"Nothing is known.", anyType, "any", "any"},
	}
	for name, tt := range tests {
		if nilable, nonNil := written(tt.of.Nilable()), written(tt.of.NonNil()); nilable != tt.nilable || nonNil != tt.nonNil {
			t.Errorf("%s: %s and %s, want %s and %s: %s", name, nilable, nonNil, tt.nilable, tt.nonNil, tt.reason)
		}
	}
}

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
