package function_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// row is the type of a call without a predicate.
type row struct {
	reason    string
	arguments []typing.Type
	want      string
}

func args(types ...typing.Type) []typing.Type { return types }

func TestTypes(t *testing.T) {
	constant := typing.Constant
	tests := map[string]row{
		"first":                     {"A list may be empty.", args(listOf(text)), "string?"},
		"take":                      {"Elements.", args(listOf(spec), integer), "[{limit integer?, name string}]"},
		"get":                       {"A constant key.", args(spec, constant("name")), "string"},
		"get what is optional":      {"It may be absent.", args(spec, constant("limit")), "integer?"},
		"get of what may be absent": {"Of nil it is nil.", args(spec.Nilable(), constant("name")), "string?"},
		"get by index":              {"The list may be shorter.", args(listOf(text), constant(int64(0))), "string?"},
		"get what is not known":     {"Dynamic keys are not typed.", args(spec, text), "any"},
		"get spec":                  {"Only a path reads it as an empty map.", args(thing, constant("spec")), "{limit integer?, name string}?"},
		"concat":                    {"Elements of all.", args(listOf(text), nothing, listOf(integer)), "[integer or string]"},
		"flatten":                   {"Elements of lists at any depth.", args(listOf(text, listOf(listOf(integer)))), "[integer or string]"},
		"values":                    {"Of all fields.", args(typing.Map(map[string]typing.Type{"a": integer}, text)), "[integer or string]"},
		"pick":                      {"The keys that are said.", args(mapping("a", integer), typing.Constant("a")), "{a integer}"},
		"pick one of two":           {"Either may be left out.", args(mapping("a", integer), typing.Union(typing.Constant("a"), typing.Constant("b"))), "{a integer?, b ?}"},
		"pick by a name":            {"Nobody knows which.", args(mapping("a", integer), text), "{* any}"},
		"merge":                     {"The later wins.", args(mapping("a", integer), mapping("a", text)), "{a string}"},
		"merge with what is optional": {
			"The earlier is what it is by default.", args(mapping("limit", constant(int64(1))), spec), "{limit integer, name string}",
		},
		"merge with nil":               {"It is an empty map.", args(nothing, mapping("a", integer)), "{a integer}"},
		"merge with what is not known": {"It may hold anything else.", args(anyType, mapping("a", integer)), "{a integer, * any}"},
		"condition":                    {"An element of the conditions, or nil.", args(thing, text), "{message string?, status string, type string}?"},
		"controllerOf": {
			"It says controller.", args(thing), "{apiVersion string, blockOwnerDeletion boolean?, controller boolean, kind string, name string, uid string}?",
		},
		"controllerRef": {
			"Always whole.", args(thing), "{apiVersion string, blockOwnerDeletion true, controller true, kind string, name string, uid string}",
		},
		"setCondition": {
			"An element as before, or the new one.", args(listOf(mapping("type", text)), typing.Map(map[string]typing.Type{"type": constant("Up")})),
			"[{lastTransitionTime any, type string}]",
		},
		"setCondition with nil":        {"The list as it was.", args(listOf(integer).Nilable(), nothing), "[integer|{lastTransitionTime any}]?"},
		"setCondition of what is open": {"A list.", args(anyType, mapping("type", text)), "[any]"},
		"split":                        {"Texts.", args(text, text), "[string]"},
		"max of a list":                {"It may be empty.", args(listOf(integer)), "integer?"},
		"max of a list and a number":   {"The number is there.", args(listOf(typing.Of(value.Float)), integer), "number"},
		"max of what is not known":     {"A list may be empty, a number is not.", args(anyType), "any"},
		"mean of a list":               {"Or nil.", args(listOf(integer)), "float?"},
		"window":                       {"Or nil.", args(text, text), "{end string, start string}?"},
		"url": {
			"Its parts.", args(text),
			"{fragment string, host string, hostname string, path string, port integer?, query {* [string]?}, scheme string, user string}",
		},
		"default":                 {"The first is not nil then.", args(integer.Nilable(), text), "integer or string"},
		"type":                    {"The names of the kinds.", args(typing.Of(value.Int | value.Nil | value.Map)), `"nil"|"int"|"map"`},
		"merge without arguments": {"The same.", nil, "{}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			word, _, _ := strings.Cut(name, " ")
			f, _ := function.Lookup(word)
			if got := written(f.Type(&function.TypeCall{Arguments: tt.arguments})); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}

// same gives the element or, for reduce, a map of the accumulator.
func same(element, _ typing.Type) typing.Type { return element }

func TestTypesWithPredicate(t *testing.T) {
	name := func(element, _ typing.Type) typing.Type { return element.At("name") }
	limited := func(element typing.Type) typing.Type { return element.Present([]string{"limit"}) }
	tests := map[string]struct {
		reason    string
		arguments []typing.Type
		predicate func(element, accumulator typing.Type) typing.Type
		narrowed  func(element typing.Type) typing.Type
		want      string
	}{
		"filter":              {"Elements.", args(listOf(spec)), same, nil, "[{limit integer?, name string}]"},
		"filter that narrows": {"Of those the condition holds.", args(listOf(spec)), same, limited, "[{limit integer, name string}]"},
		"map":                 {"What the predicate gives.", args(listOf(spec)), name, nil, "[string]"},
		"sum":                 {"An integer for nothing.", args(listOf(typing.Of(value.Quantity))), same, nil, "integer or quantity"},
		"sum of nothing":      {"It is 0.", args(nothing), nil, nil, "integer"},
		"groupBy":             {"Elements under any key.", args(listOf(integer)), name, nil, "{* [integer]?}"},
		"groups":              {"By what the predicate gives.", args(listOf(spec)), name, nil, "[{items [{limit integer?, name string}], key string}]"},
		"sortBy":              {"Elements, none of them narrowed.", args(listOf(spec)), name, limited, "[{limit integer?, name string}]"},
		"reduce":              {"The first element, or a result.", args(listOf(integer)), same, nil, "integer"},
		"reduce without end":  {"A type that grows is given up.", args(listOf(integer), text), grow, nil, "any"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			word, _, _ := strings.Cut(name, " ")
			f, _ := function.Lookup(word)
			call := &function.TypeCall{Arguments: tt.arguments, Predicate: tt.predicate, Narrowed: tt.narrowed}
			if got := written(f.Type(call)); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}

func grow(_, accumulator typing.Type) typing.Type { return mapping("n", accumulator) }

// TestReduceEndsWithAll makes sure that the last call of the predicate is for all that
// the accumulator can be, so that what it finds wrong is certain.
func TestReduceEndsWithAll(t *testing.T) {
	f, _ := function.Lookup("reduce")
	tests := map[string]struct {
		reason    string
		predicate func(element, accumulator typing.Type) typing.Type
		last      string
	}{
		"settles": {"It comes to the start or an element.", same, "integer or string"},
		"grows":   {"It is not known.", grow, "any"},
	}
	for name, tt := range tests {
		var last typing.Type
		f.Type(&function.TypeCall{
			Arguments: args(listOf(integer), text),
			Predicate: func(element, accumulator typing.Type) typing.Type {
				last = accumulator
				return tt.predicate(element, accumulator)
			},
		})
		if got := written(last); got != tt.last {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.last, tt.reason)
		}
	}
}
