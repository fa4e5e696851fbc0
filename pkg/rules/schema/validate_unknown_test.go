package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// TestValidateUnknown holds that nothing is said of what only an evaluation knows.
func TestValidateUnknown(t *testing.T) {
	unknown := Unknown{}
	tests := map[string]struct {
		reason string
		of     string
		value  any
		want   []string
	}{
		"NoField": {
			"But not where there is no field.",
			`{alpha: int}`,
			map[string]any{"beta": unknown},
			[]string{`/beta unknown-field: unknown field "beta"; the only field here is alpha`},
		},
		"OtherKeys": {
			"The known ones are compared all the same.", `{a!: int, b: int}`,
			map[string]any{SomeKeys: unknown, "b": "x"},
			[]string{"/b type-mismatch: want an integer, have a string"},
		},
		"RealKey": {
			"A user's own key of that name is a key.",
			`{a: int}`,
			map[string]any{SomeKeys: "x"},
			[]string{`/` + SomeKeys + ` unknown-field: unknown field "\x00keys"; the only field here is a`},
		},
		"Least": {
			"More than are written there are not.",
			`{is: {"*": int}, minProperties: 3}`,
			map[string]any{"a": unknown, "b": int64(1)},
			[]string{" out-of-bounds: want at least 3 keys, have 2"},
		},
		"Most": {
			"Those that are known are there.",
			`{is: {"*": int}, maxProperties: 1}`,
			map[string]any{"a": unknown, "b": int64(1), "c": int64(1)},
			[]string{" out-of-bounds: want at most 1 key, have 2"},
		},
		"Set": {
			"Nobody knows which element it is.",
			`{items: any, set: true}`,
			[]any{unknown, unknown, map[string]any{"a": unknown}, map[string]any{"a": unknown}},
			nil,
		},
		"Key": {
			"Nor which key.",
			`{items: {name!: text}, by: [name]}`,
			[]any{map[string]any{"name": unknown}, map[string]any{"name": unknown}, unknown},
			nil,
		},
		"KeyOfKeys": {
			"A missing key may be among the unknown ones.", `{items: {name: text}, by: [name]}`,
			[]any{map[string]any{SomeKeys: unknown}},
			nil,
		},
		"Computed": {
			"Values that only expressions have are written as something else.",
			`{a: int}`,
			map[string]any{"a": value.Stamp{}},
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, allTold(typeOf(t, tc.of).Validate(tc.value, Whole))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestValidatePath is about places, whatever is in them.
func TestValidatePath(t *testing.T) {
	of := &Type{Kinds: value.Map, Map: &Map{Fields: map[string]Field{
		"spec": {Type: &Type{Kinds: value.Map, Map: &Map{Fields: map[string]Field{
			"size":  {Type: &Type{Kinds: value.Int}, Required: true},
			"class": {Type: &Type{Kinds: value.String}},
		}}}},
		"data": {Type: Open()},
	}}}
	tests := map[string]struct {
		reason, path, field, hint string
		found                     int
	}{
		"Field":    {"What is there is right, and nothing beside it is missing.", "spec.class", "", "", 0},
		"Open":     {"Of what is open nothing is known.", "data.any.thing", "", "", 0},
		"Misspelt": {"The field that was meant comes with it.", "spec.szie", "size", `did you mean "size"?`, 1},
		"Unlike":   {"If one is near.", "spec.host", "", "the fields here are class, size", 1},
		"Beyond":   {"An integer has no fields.", "spec.size.max", "", "", 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := of.ValidatePath(strings.Split(tc.path, ".")...)
			if len(got) != tc.found {
				t.Fatalf("%s have %v", tc.reason, got)
			}
			if len(got) > 0 && (got[0].Field != tc.field || got[0].Hint != tc.hint) {
				t.Errorf("%s have %+v", tc.reason, got[0])
			}
		})
	}
}
