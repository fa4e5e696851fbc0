package typing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func TestQuestions(t *testing.T) {
	type answers struct {
		Kinds                        value.Kind
		Known, None, CanBeNil, Whole bool
		Name                         string
	}
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   answers
	}{
		"unknown": {
			"It can be anything, and nothing is certain, not even that it can be nil.",
			anyType,
			answers{value.Any | value.Computed | value.Stamped | value.Omission, false, false, false, false, "a value"},
		},
		"any": {
			"All that a cluster can hold is not worth knowing.",
			typing.Of(value.Any),
			answers{value.Any | value.Computed | value.Stamped | value.Omission, false, false, false, false, "a value"},
		},
		"none":             {"It never is.", none, answers{0, false, true, false, false, "no value"}},
		"no kinds":         {"It never is.", typing.Of(0), answers{0, false, true, false, false, "no value"}},
		"text":             {"It is one.", text, answers{value.String, true, false, false, false, "a string"}},
		"text or nil":      {"Beside other kinds nil goes without saying.", text.Nilable(), answers{value.String | value.Nil, true, false, true, false, "a string"}},
		"nil":              {"It is nil.", nothing, answers{value.Nil, true, false, true, false, "nil"}},
		"constant nil":     {"It is nil.", constant(nil), answers{value.Nil, true, false, true, false, "nil"}},
		"constant":         {"It has the kind of its value.", constant(1.5), answers{value.Float, true, false, false, false, "a float"}},
		"computed":         {"Expressions have more kinds.", typing.Of(value.Duration), answers{value.Duration, true, false, false, false, "a duration"}},
		"object":           {"It is whole.", object, answers{value.Map, true, false, false, true, "a map"}},
		"object or nil":    {"It is whole where it is there.", object.Nilable(), answers{value.Map | value.Nil, true, false, true, true, "a map"}},
		"object or map":    {"It may not be whole.", typing.Union(object, mapping("a", text)), answers{value.Map, true, false, false, false, "a map"}},
		"part":             {"It is not whole.", must(read(object, "spec")), answers{value.Map, true, false, false, false, "a map"}},
		"optional":         {"It may be absent.", typing.From(optional(textSchema)), answers{value.String | value.Nil, true, false, true, false, "a string"}},
		"required":         {"It is there.", typing.From(required(textSchema)), answers{value.String, true, false, false, false, "a string"}},
		"always":           {"It is there.", typing.From(schema.Field{Type: textSchema, Always: true}), answers{value.String, true, false, false, false, "a string"}},
		"open":             {"Nothing is known of it.", typing.From(optional(schema.Open())), answers{anyType.Kinds(), false, false, false, false, "a value"}},
		"without a schema": {"Nothing is known of it.", typing.From(schema.Field{}), answers{anyType.Kinds(), false, false, false, false, "a value"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			of := tt.of
			got := answers{of.Kinds(), of.Known(), of.None(), of.CanBeNil(), of.Whole(), of.String()}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}

func TestString(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   string
	}{
		"kinds":        {"As kinds are named.", typing.Union(integer, text), "an integer or a string"},
		"number":       {"Either kind.", typing.Of(value.Number), "a number"},
		"list":         {"With what is in it.", list(text), "a list of strings"},
		"of numbers":   {"With what is in it.", list(integer, typing.Of(value.Float)), "a list of numbers"},
		"of maps":      {"With what is in it.", list(object), "a list of maps"},
		"of lists":     {"One level will do.", list(list(text)), "a list of lists"},
		"of an y":      {"Its plural is its own.", list(typing.Of(value.Quantity)), "a list of quantities"},
		"optional":     {"Nil goes without saying.", list(boolean.Nilable()).Nilable(), "a list of booleans"},
		"of several":   {"It would take too long.", list(integer, text), "a list"},
		"of nil":       {"It has no plural.", list(nothing), "a list"},
		"of nothing":   {"It is empty.", list(), "a list"},
		"of unknown":   {"Nothing is known.", list(anyType), "a list"},
		"of calls":     {"They have no plural.", list(typing.Of(value.Stamped)), "a list"},
		"list or text": {"As kinds are named.", typing.Union(list(text), text), "a string or a list"},
		"constant":     {"By its kind.", constant([]any{"a"}), "a list of strings"},
	}
	for name, tt := range tests {
		if got := tt.of.String(); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", name, got, tt.want, tt.reason)
		}
	}
}

func TestSchema(t *testing.T) {
	dated := &schema.Type{Kinds: value.String, Format: schema.DateTime}
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   *schema.Type
	}{
		"status":          {"It is one.", must(read(object, "status")), statusSchema},
		"part":            {"It is one.", typing.From(optional(dated)), dated},
		"refined":         {"It still is.", typing.From(optional(statusSchema)).Present([]string{"phase"}), statusSchema},
		"twice":           {"It is the same.", typing.Union(typing.From(optional(dated)), typing.From(required(dated))), dated},
		"of two":          {"It is either.", typing.Union(typing.From(optional(dated)), typing.From(required(textSchema))), nil},
		"or built":        {"It may be something else.", typing.Union(typing.From(optional(statusSchema)), mapping("a", text)), nil},
		"or a constant":   {"It may be something else.", typing.Union(typing.From(optional(dated)), constant("a")), nil},
		"or any text":     {"It may be something else.", typing.Union(typing.From(optional(dated)), text), nil},
		"or a list":       {"It may be something else.", typing.Union(typing.From(optional(dated)), list(text)), nil},
		"built":           {"It has none.", mapping("a", text), nil},
		"text":            {"It has none.", text, nil},
		"unknown":         {"It has none.", anyType, nil},
		"open":            {"Nothing is known.", typing.From(optional(schema.Open())), nil},
		"nothing of it":   {"It is never there.", typing.From(optional(dated)).Only(value.Nil), nil},
		"by its elements": {"They have one.", typing.From(optional(listOf(dated))).Items(), dated},
	}
	for name, tt := range tests {
		if got := tt.of.Schema(); got != tt.want {
			t.Errorf("%s: %v: %s", name, got, tt.reason)
		}
	}
	quantity := typing.From(optional(&schema.Type{Kinds: value.String | value.Number, Format: schema.Quantity}))
	if !typing.Union(quantity, constant("0")).IsQuantity() || quantity.Only(value.Number).IsQuantity() || typing.From(optional(dated)).IsQuantity() {
		t.Error("a quantity is a text that its schema takes for one, whatever else the value can be")
	}
	s := whole()
	if typing.Object(s).Schema() != s {
		t.Error("an object does not tell its schema")
	}
}

func TestBuilt(t *testing.T) {
	tests := map[string]struct {
		reason        string
		of            typing.Type
		fields        int
		closed, built bool
	}{
		"map":          {"Its entries are known.", mapping("a", text), 1, true, true},
		"or nil":       {"Nil aside.", mapping("a", text).Nilable(), 1, true, true},
		"with values":  {"There are others.", typing.Map(map[string]typing.Type{"a": text}, text), 1, false, true},
		"of two":       {"Entries of either.", typing.Union(mapping("a", text), mapping("b", text)), 2, true, true},
		"or a part":    {"It may be another.", typing.Union(mapping("a", text), object), 0, false, false},
		"or a text":    {"It may be another.", typing.Union(mapping("a", text), text), 0, false, false},
		"or a list":    {"It may be another.", typing.Union(mapping("a", text), list(text)), 0, false, false},
		"part":         {"No expression built it.", object, 0, false, false},
		"constant":     {"As if it were written out.", constant(map[string]any{"a": "b"}), 1, true, true},
		"unknown":      {"Nothing is known.", anyType, 0, false, false},
		"only by kind": {"Its entries are not known.", typing.Of(value.Map), 0, false, true},
	}
	for name, tt := range tests {
		fields, closed, built := tt.of.Built()
		if len(fields) != tt.fields || closed != tt.closed || built != tt.built {
			t.Errorf("%s: %d fields, closed %v, built %v: %s", name, len(fields), closed, built, tt.reason)
		}
	}
}
