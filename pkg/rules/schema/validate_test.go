package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// told is a violation on one line.
func told(v Violation) string {
	var b strings.Builder
	for _, step := range v.Path {
		fmt.Fprintf(&b, "/%v", step)
	}
	text := b.String() + " " + string(v.Code) + ": " + v.Message
	if v.Hint != "" {
		text += "; " + v.Hint
	}
	return text
}

func allTold(violations []Violation) []string {
	var out []string
	for _, v := range violations {
		out = append(out, told(v))
	}
	return out
}

// check holds what is said of each value; no line is none.
type check struct {
	reason string
	of     string
	value  string
	want   []string
}

func (c check) run(t *testing.T, how Writing) {
	t.Helper()
	if diff := cmp.Diff(c.want, allTold(typeOf(t, c.of).Validate(parse(t, c.value), how))); diff != "" {
		t.Errorf("%s\nof %s, %s (-want +got):\n%s", c.reason, c.of, c.value, diff)
	}
}

func TestValidateFields(t *testing.T) {
	const workload = `{replicas=1: int, template!: {containers!: {items: {name!: text, image: text}, by: [name]}}, paused: bool}`
	tests := map[string]check{
		"Missing": {
			"A new object needs what is required, at every depth.", workload, `{template: {containers: [{image: x}]}}`,
			[]string{`/template/containers/0 missing-field: the field "name" is missing; add name: ...`},
		},
		"MissingParent": {
			"Of a parent that is missing nothing more is said.",
			workload,
			`{}`,
			[]string{` missing-field: the field "template" is missing; add template: ...`},
		},
		"Null": {
			"Null does not do for a required field.",
			workload,
			`{template: null}`,
			[]string{` missing-field: the field "template" is missing; add template: ...`},
		},
		"Defaulted": {"What is required and has a default need not be given.", `{"a!=x": text}`, `{}`, nil},
		"Misspelt": {
			"The closest field is most likely meant.", workload, `{replcas: 1, template: {containers: []}}`,
			[]string{`/replcas unknown-field: unknown field "replcas"; did you mean "replicas"?`},
		},
		"TooHigh": {
			"A field is often written one level too high.", workload, `{containers: [], template: {containers: []}}`,
			[]string{`/containers unknown-field: unknown field "containers"; did you mean template.containers?`},
		},
		"TooHighTwice": {
			"Where several have it nobody knows which.", `{first: {inner: int}, other: {inner: int}}`, `{inner: 1}`,
			[]string{`/inner unknown-field: unknown field "inner"; the fields here are first, other`},
		},
		"WithoutTime": {
			"setCondition writes a time that these conditions do not have.", `{type: text, status: text}`, `{type: Up, lastTransitionTime: x}`,
			[]string{`/lastTransitionTime unknown-field: unknown field "lastTransitionTime"; these conditions have none, and setCondition writes it; write concat(filter(list, .type != "..."), [{type: "...", ...}])`},
		},
		"ManyMistakes": {
			"All mistakes are found, in order of keys.", `{a: int, b: int}`, `{b: x, a: z, c: 1}`,
			[]string{
				"/a type-mismatch: want an integer, have a string", "/b type-mismatch: want an integer, have a string",
				`/c unknown-field: unknown field "c"; did you mean "a"?`,
			},
		},
		"Identity": {
			"Objects have an identity, also in schemas that forget it.",
			`{is: {spec: open}, object: true}`,
			`{apiVersion: v1, kind: X, metadata: {name: a}, spec: {}}`,
			nil,
		},
		"NoIdentity": {
			"What is no object has none.", `{spec: open}`, `{kind: X}`,
			[]string{`/kind unknown-field: unknown field "kind"; the only field here is spec`},
		},
		"TooMany": {
			"One is told in the singular.",
			`{is: {"*": int}, maxProperties: 1}`,
			`{a: 1, b: 2}`,
			[]string{" out-of-bounds: want at most 1 key, have 2"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, Whole) })
	}
}

func TestValidateMerged(t *testing.T) {
	const of = `{size!: int, mode!=fast: text, map: {a!: int, b: int}, list: {items: {name!: text, image: text}, by: [name]}}`
	tests := map[string]check{
		"Some":   {"A patch gives what changes.", of, `{map: {b: 1}}`, nil},
		"Remove": {"Null removes what need not be there.", of, `{map: null, list: null}`, nil},
		"RemoveIt": {
			"What is required cannot go.",
			of,
			`{map: {a: null}}`,
			[]string{`/map/a missing-field: the field "a" has to be there, and null removes it; leave it out to keep what it is`},
		},
		"Reset": {"A default comes back.", of, `{mode: null}`, nil},
		"Replaced": {
			"A list is replaced, so its elements are whole.",
			of,
			`{list: [{image: x}]}`,
			[]string{`/list/0 missing-field: the field "name" is missing; add name: ...`},
		},
		"Fewer":      {"Entries are added to those that are there.", `{is: {"*": int}, minProperties: 2}`, `{a: 1}`, nil},
		"MoreOrLess": {"Unless they are removed.", `{is: {"*": int}, maxProperties: 1}`, `{a: 1, b: null}`, nil},
		"Atomic": {
			"For a merge patch no map is atomic.",
			`{a: {is: {x!: int, z: int}, atomic: true}}`,
			`{a: {z: 1}}`,
			nil,
		},
		"Keyless": {
			"An element without a key may be odd, but it is stored.",
			`{items: {name: text}, by: [name]}`,
			`[{}]`,
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, Merged) })
	}
}

func TestValidateApplied(t *testing.T) {
	const of = `{size!: int, map: {is: {a!: int, b: int}, atomic: true}, list: {items: {name!: text, image!: text}, by: [name]}, plain: {items: {a!: int, b: int}}}`
	tests := map[string]check{
		"Some":    {"Only what the rule wants is given.", of, `{list: [{name: a}]}`, nil},
		"Nothing": {"Null is nothing.", of, `{size: null}`, nil},
		"Key": {
			"Without its key nobody knows which element is meant.",
			of,
			`{list: [{image: x}]}`,
			[]string{`/list/0 missing-field: the field "name" is missing, which tells the elements apart; add name: ...`},
		},
		"Atomic": {
			"An atomic map is replaced, so it is whole.",
			of,
			`{map: {b: 1}}`,
			[]string{`/map missing-field: the field "a" is missing; add a: ...`},
		},
		"Plain": {
			"So is a list that is not merged.",
			of,
			`{plain: [{b: 1}]}`,
			[]string{`/plain/0 missing-field: the field "a" is missing; add a: ...`},
		},
		"Twice": {
			"Nobody knows either which of two is meant.",
			of,
			`{list: [{name: a}, {name: a}]}`,
			[]string{"/list/1 invalid: the same name as element 0 of the list, and each is there once; remove one of them"},
		},
		"Fewer": {
			"Elements are added to those that are there.",
			`{a: {is: {items: text, set: true}, minItems: 2}}`,
			`{a: [x]}`,
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, Applied) })
	}
}

// TestValidateBounded holds that there is an end to it, whatever the value.
func TestValidateBounded(t *testing.T) {
	list := make([]any, 100_000)
	for i := range list {
		list[i] = "x"
	}
	if got := len(typeOf(t, `{items: int}`).Validate(list, Whole)); got != mostViolations {
		t.Errorf("%d violations, nobody reads more than %d", got, mostViolations)
	}
	entries, fields := map[string]any{}, map[string]Field{}
	for i := range 100_000 {
		entries[fmt.Sprintf("containerPorts%d", i)] = "x"
		if i < 1000 {
			fields[fmt.Sprintf("containersPort%d", i)] = Field{Type: Open()}
		}
	}
	wide := &Type{Kinds: value.Map, Map: &Map{Fields: fields}}
	if got := len(wide.Validate(entries, Whole)); got != mostViolations {
		t.Errorf("%d violations, nobody reads more than %d", got, mostViolations)
	}
	var none *Type
	for _, of := range []*Type{none, Open(), {}} {
		if got := of.Validate(map[string]any{"a": list}, Whole); got != nil {
			t.Errorf("of a place of which nothing is known: %v", got)
		}
	}
	for _, v := range typeOf(t, `{items: int}`).Validate(list[:3], Whole) {
		if v.Code != document.CodeTypeMismatch || len(v.Path) != 1 {
			t.Errorf("a violation is not as the others: %+v", v)
		}
	}
}
