package typing_test

import (
	"fmt"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func TestUnionOf(t *testing.T) {
	a, b := mapping("a", text), mapping("b", integer)
	tests := map[string]struct {
		reason string
		types  []typing.Type
		want   string
	}{
		"nothing":              {"It is none.", nil, "none"},
		"one":                  {"It is that.", []typing.Type{text}, "string"},
		"two":                  {"Either.", []typing.Type{text, integer}, "integer or string"},
		"with nil":             {"Or nil.", []typing.Type{text, nothing}, "string?"},
		"with none":            {"It adds nothing.", []typing.Type{none, text, none}, "string"},
		"with unknown":         {"Nothing is known.", []typing.Type{text, anyType, nothing}, "any"},
		"constants":            {"Either.", []typing.Type{constant("a"), constant("b"), constant("a")}, "a|b"},
		"constant and text":    {"Any.", []typing.Type{constant("a"), text}, "string"},
		"text and constant":    {"Any.", []typing.Type{text, constant("a")}, "string"},
		"constant and integer": {"The text is known, and not told.", []typing.Type{constant("a"), integer}, "integer or string"},
		"lists":                {"Elements of either.", []typing.Type{list(text), list(integer)}, "[integer or string]"},
		"list and empty list":  {"Elements of either.", []typing.Type{list(text), list()}, "[string]"},
		"constant lists":       {"Elements of either.", []typing.Type{constant([]any{"a"}), constant([]any{"b", nil})}, "[a|b?]"},
		"same constant list":   {"It is that.", []typing.Type{constant([]any{"a"}), constant([]any{"a"})}, "[a]"},
		"maps":                 {"Entries of either may be absent.", []typing.Type{a, b}, "{a string?, b integer?}"},
		"same entries":         {"They are there.", []typing.Type{a, mapping("a", integer)}, "{a integer or string}"},
		"entries and values":   {"Entries may be among the values.", []typing.Type{a, typing.Map(nil, integer)}, "{a integer or string?, * integer?}"},
		"map and text":         {"Either.", []typing.Type{a, text}, "string|{a string}"},
		"map and list":         {"Either.", []typing.Type{a, list(text)}, "[string]|{a string}"},
		"map of any kind":      {"Nothing is known of its entries.", []typing.Type{a, typing.Of(value.Map)}, "{* any}"},
		"parts":                {"Of either.", []typing.Type{must(read(object, "status")), a}, "{a string?, message string?, observed {generation integer}?, phase Ready|Failed?}"},
		"nested":               {"They are joined too.", []typing.Type{mapping("x", a), mapping("x", b)}, "{x {a string?, b integer?}}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			union := typing.Union(tt.types...)
			got := written(union)
			if got != tt.want {
				t.Errorf("%s, want %s: %s", got, tt.want, tt.reason)
			}
			if !typing.Union(union, union).Equal(union) {
				t.Errorf("%s is more with itself", got)
			}
		})
	}
}

// TestTooLarge makes sure that types that grow are given up, and keep their kinds.
func TestTooLarge(t *testing.T) {
	doubled := mapping("a", text)
	for range 100 {
		doubled = typing.Map(map[string]typing.Type{"x": doubled, "y": doubled})
	}
	wide := map[string]typing.Type{}
	large := map[string]any{}
	many := make([]any, 1000)
	var constants typing.Type
	for i := range 1000 {
		key := fmt.Sprint("k", i)
		wide[key], large[key], many[i] = text, int64(i), map[string]any{key: "x"}
		constants = typing.Union(constants, constant(key))
	}
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   string
	}{
		"wide":           {"It has too many entries.", typing.Map(wide).Nilable(), "{* any}?"},
		"constants":      {"There are too many.", constants, "string"},
		"elements":       {"There are too many.", constant(many).Items(), "any"},
		"list of many":   {"It is one still.", typing.Union(constant(many), list(text)), "[any]"},
		"map of many":    {"It is one still.", typing.Union(constant(large), mapping("a", text)), "{* any}"},
		"entry of many":  {"It is not known.", must(constant(large).Field("k999")), "any"},
		"union of large": {"It is given up.", typing.Union(typing.Map(wide), text), "string|{* any}"},
	}
	for name, tt := range tests {
		if got := written(tt.of); got != tt.want {
			t.Errorf("%s: %.200s, want %s: %s", name, got, tt.want, tt.reason)
		}
	}
	if inner, result := doubled.Field("x"); result == typing.Lacking || doubled.Kinds() != value.Map {
		t.Errorf("what was doubled is %s", written(inner))
	}
}
