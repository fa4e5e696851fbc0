package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPositions holds that a JSON patch counts the elements of lists as they were read, and as itself has moved them, whatever else the plan
// does.
func TestPositions(t *testing.T) {
	const read = `{spec: {d: 1, l: [{name: a, k: [1, 2, 3]}, {name: b, k: [4]}, {name: c}], zeroes: []}}`
	tests := map[string]struct {
		reason  string
		current string // default: read
		wishes  []string
		want    []string
		decided []string
	}{
		"Elements": {
			reason: "forEach removes the elements that it names.",
			wishes: []string{"a json x [{op: remove, path: /spec/l/0}]", "a json x [{op: remove, path: /spec/l/1}]"},
			want:   []string{`json x a [{"op":"remove","path":"/spec/l/0"},{"op":"remove","path":"/spec/l/0"}]`},
		},
		"OnePatch": {
			reason: "Within a patch each operation follows the one before (RFC 6902).",
			wishes: []string{"a json x [{op: remove, path: /spec/l/0}, {op: remove, path: /spec/l/0}]", "b json x [{op: remove, path: /spec/l/2/name}]"},
			want:   []string{`json x a+b [{"op":"remove","path":"/spec/l/0"},{"op":"remove","path":"/spec/l/0"},{"op":"remove","path":"/spec/l/0/name"}]`},
		},
		"Nested": {
			reason: "An outer list moves the inner ones.",
			wishes: []string{"a json x [{op: remove, path: /spec/l/0}]", "b json x [{op: add, path: /spec/l/1/k/0, value: 5}]", "c json x [{op: replace, path: /spec/l/1/k/0, value: 6}]"},
			want: []string{`json x a+b+c [{"op":"remove","path":"/spec/l/0"},{"op":"add","path":"/spec/l/0/k/0","value":5},` +
				`{"op":"replace","path":"/spec/l/0/k/1","value":6}]`},
		},
		"InsertedInOrder": {
			reason: "What is inserted before one element stands in the order of the actions.",
			wishes: []string{"a json x [{op: add, path: /spec/l/1, value: {name: x}}]", "a json x [{op: add, path: /spec/l/1, value: {name: w}}]"},
			want:   []string{`json x a [{"op":"add","path":"/spec/l/1","value":{"name":"x"}},{"op":"add","path":"/spec/l/2","value":{"name":"w"}}]`},
		},
		"Appended": {
			reason: "Behind all that was read is what an earlier action has added, for a later one to fill.",
			wishes: []string{"a json x [{op: add, path: /spec/l/-, value: {name: x, k: []}}]", "a json x [{op: add, path: /spec/l/3/k/-, value: 1}]"},
			want:   []string{`json x a [{"op":"add","path":"/spec/l/-","value":{"k":[],"name":"x"}},{"op":"add","path":"/spec/l/3/k/-","value":1}]`},
		},
		"Reordered": {
			reason: "An element that has moved within its list is the same one.",
			wishes: []string{"a json x [{op: move, from: /spec/l/2, path: /spec/l/0}]", "a json x [{op: remove, path: /spec/l/2}]", "a json x [{op: copy, from: /spec/l/0/k/2, path: /spec/z}]"},
			want: []string{`json x a [{"from":"/spec/l/2","op":"move","path":"/spec/l/0"},{"op":"remove","path":"/spec/l/0"},` +
				`{"from":"/spec/l/0/k/2","op":"copy","path":"/spec/z"}]`},
		},
		"Tests": {
			reason: "A test is of the object as it was read, and is not sent where another patch has changed the value.",
			wishes: []string{
				"a json x [{op: remove, path: /spec/l/0}]",
				"a json x [{op: test, path: /spec/l/1/name, value: b}, {op: test, path: /spec/l, value: [{name: a, k: [1, 2, 3]}, {name: b, k: [4]}, {name: c}]}, {op: remove, path: /spec/l/1}]",
			},
			want: []string{`json x a [{"op":"remove","path":"/spec/l/0"},{"op":"test","path":"/spec/l/0/name","value":"b"},{"op":"remove","path":"/spec/l/0"}]`},
		},
		"TestFails": {
			reason:  "A test that never held fails.",
			wishes:  []string{"a json x [{op: remove, path: /spec/l/0}]", "b json x [{op: test, path: /spec/l/1/name, value: a}]"},
			want:    []string{`json x a [{"op":"remove","path":"/spec/l/0"}]`},
			decided: []string{"b failed: operation 0 of the json patch, test: spec.l[1].name has another value"},
		},
		"BothRemove": {
			reason: "Two that remove the same agree, of a list as of a map.",
			wishes: []string{"a json x [{op: remove, path: /spec/l/1}, {op: remove, path: /spec/d}]", "b json x [{op: remove, path: /spec/l/1}, {op: remove, path: /spec/l/1}, {op: remove, path: /spec/d}]"},
			want:   []string{`json x a+b [{"op":"remove","path":"/spec/l/1"},{"op":"remove","path":"/spec/d"},{"op":"remove","path":"/spec/l/1"}]`},
		},
		"BothInsert": {
			reason: "Two rules that add the same element agree: it is added once.",
			wishes: []string{"a json x [{op: add, path: /spec/l/-, value: {name: x}}]", "b json x [{op: add, path: /spec/l/0, value: {name: x}}, {op: remove, path: /spec/l/3}]"},
			want:   []string{`json x a+b [{"op":"add","path":"/spec/l/-","value":{"name":"x"}},{"op":"remove","path":"/spec/l/2"}]`},
		},
		"OtherOfTheName": {
			reason:  "Two elements of one name contradict each other.",
			wishes:  []string{"a json x [{op: add, path: /spec/l/-, value: {name: x}}]", "b json x [{op: add, path: /spec/l/-, value: {name: x, k: []}}]"},
			want:    []string{`json x a [{"op":"add","path":"/spec/l/-","value":{"name":"x"}}]`},
			decided: []string{"b withheld: spec.l is decided by rule guardrails/a, which comes first"},
		},
		"RemovedAndChanged": {
			reason:  "One rule removes the element that another changes: the earlier one wins.",
			wishes:  []string{"a json x [{op: remove, path: /spec/l/0}]", "b json x [{op: replace, path: /spec/l/0/name, value: z}]", "c json x [{op: replace, path: /spec/l/1/name, value: z}]"},
			want:    []string{`json x a+c [{"op":"remove","path":"/spec/l/0"},{"op":"replace","path":"/spec/l/0/name","value":"z"}]`},
			decided: []string{"b withheld: spec.l[0].name is decided by rule guardrails/a, which comes first"},
		},
		"ChangedTwice": {
			reason:  "Two rules give an element other values.",
			wishes:  []string{"a json x [{op: replace, path: /spec/l/2, value: {name: w}}]", "b json x [{op: remove, path: /spec/l/0}, {op: replace, path: /spec/l/1, value: {name: z}}]"},
			want:    []string{`json x a [{"op":"replace","path":"/spec/l/2","value":{"name":"w"}}]`},
			decided: []string{"b withheld: spec.l[2] is decided by rule guardrails/a, which comes first"},
		},
		"RemovedByItself": {
			reason:  "A rule cannot change what an action of its own has taken away: no other element takes its place.",
			wishes:  []string{"a json x [{op: remove, path: /spec/l/0}]", "a json x [{op: replace, path: /spec/l/0/name, value: z}]"},
			decided: []string{"a failed: operation 0 of the json patch, replace: spec.l[0] was taken away by an earlier action"},
		},
		"MergedList": {
			reason: "A merge patch replaces the list: the elements are known by their values and names.",
			wishes: []string{"a merge x {spec: {l: [{name: c}, {name: b, k: [5]}]}}", "a json x [{op: remove, path: /spec/l/2}]", "a json x [{op: replace, path: /spec/l/1/name, value: z}]", "a json x [{op: remove, path: /spec/l/0}]"},
			want: []string{`json x a [{"op":"add","path":"/spec/l","value":[{"name":"c"},{"k":[5],"name":"b"}]},{"op":"remove","path":"/spec/l/0"},` +
				`{"op":"replace","path":"/spec/l/0/name","value":"z"}]`},
		},
		"MergedListOfAnother": {
			reason:  "A rule that wants a whole list leaves no room for positions.",
			wishes:  []string{"a json x [{op: remove, path: /spec/l/2}]", "b merge x {spec: {l: [{name: b, k: [4]}]}}"},
			want:    []string{`json x a [{"op":"remove","path":"/spec/l/2"}]`},
			decided: []string{"b withheld: spec.l[2] is decided by rule guardrails/a, which comes first"},
		},
		"OtherRequest": {
			reason: "A later request counts on, too.",
			wishes: []string{"a json x [{op: remove, path: /spec/l/0}]", "a merge x/status {status: {seen: true}}", "a json x [{op: remove, path: /spec/l/1}]"},
			want:   []string{`json x a [{"op":"remove","path":"/spec/l/0"}]`, `merge x a {"status":{"seen":true}}`, `json x a [{"op":"remove","path":"/spec/l/0"}]`},
		},
		"NoEffect": {
			reason: "What has no effect is left out, and moves nothing.",
			wishes: []string{"a json x [{op: remove, path: /spec/l/0}, {op: add, path: /spec/l/0, value: {name: a, k: [1, 2, 3]}}]", "a json x [{op: remove, path: /spec/l/1}]"},
			want:   []string{`json x a [{"op":"remove","path":"/spec/l/1"}]`},
		},
		"Made": {
			reason:  "An empty list that a later action fills is made, though alone it is stored as none.",
			current: `{spec: {d: 1}}`,
			wishes:  []string{"a json x [{op: add, path: /spec/zeroes, value: []}]", "a json x [{op: add, path: /spec/zeroes/-, value: 1}]"},
			want:    []string{`json x a [{"op":"add","path":"/spec/zeroes","value":[]},{"op":"add","path":"/spec/zeroes/-","value":1}]`},
		},
		"MadeByAnother": {
			reason:  "So is one that another rule fills, tests or copies.",
			current: `{spec: {d: 1}}`,
			wishes: []string{
				"a merge x {spec: {zeroes: [], zero: {}}}", "b json x [{op: add, path: /spec/zero/a, value: 1}]",
				"c json x [{op: test, path: /spec/zeroes, value: []}, {op: add, path: /spec/zeroes/0, value: 1}]",
			},
			want: []string{`json x b+c [{"op":"add","path":"/spec/zero","value":{}},{"op":"add","path":"/spec/zero/a","value":1},` +
				`{"op":"add","path":"/spec/zeroes","value":[]},{"op":"test","path":"/spec/zeroes","value":[]},{"op":"add","path":"/spec/zeroes/0","value":1}]`},
		},
		"MadeDeep": {
			reason:  "At any depth.",
			current: `{spec: {d: 1}}`,
			wishes: []string{
				"a json x [{op: add, path: /spec/zero, value: {}}]", "a json x [{op: add, path: /spec/zero/zeroed, value: {}}]",
				"a json x [{op: add, path: /spec/zero/zeroed/zeroes, value: []}]", "a json x [{op: add, path: /spec/zero/zeroed/zeroes/-, value: 1}]",
			},
			want: []string{`json x a [{"op":"add","path":"/spec/zero","value":{"zeroed":{"zeroes":[]}}},{"op":"add","path":"/spec/zero/zeroed/zeroes/-","value":1}]`},
		},
		"MadeInElement": {
			reason: "In an element of a list that has moved.",
			wishes: []string{
				"a json x [{op: remove, path: /spec/l/0}]", "a json x [{op: add, path: /spec/l/2/zeroes, value: []}]",
				"b json x [{op: add, path: /spec/l/2/zeroes/-, value: 1}]", "b json x [{op: remove, path: /spec/l/1}]",
			},
			want: []string{`json x a+b [{"op":"remove","path":"/spec/l/0"},{"op":"add","path":"/spec/l/1/zeroes","value":[]},` +
				`{"op":"add","path":"/spec/l/1/zeroes/-","value":1},{"op":"remove","path":"/spec/l/0"}]`},
		},
		"MadeAnnotations": {
			reason:  "Metadata has no empty maps, whatever the schema.",
			current: `{spec: {d: 1}, metadata: {name: x}}`,
			wishes:  []string{"a merge x {metadata: {annotations: {}}}", "a json x [{op: add, path: /metadata/annotations/a, value: b}]"},
			want:    []string{`json x a [{"op":"add","path":"/metadata/annotations","value":{}},{"op":"add","path":"/metadata/annotations/a","value":"b"}]`},
		},
		"MadeInAnotherRequest": {
			reason:  "Where a request in between has stored nothing of it, it is made again.",
			current: `{spec: {d: 1}}`,
			wishes: []string{
				"a json x [{op: add, path: /spec/zeroes, value: []}, {op: add, path: /spec/a, value: 1}]", "a merge x/status {status: {seen: true}}",
				"a json x [{op: add, path: /spec/zeroes/-, value: 1}]",
			},
			want: []string{
				`json x a [{"op":"add","path":"/spec/zeroes","value":[]},{"op":"add","path":"/spec/a","value":1}]`, `merge x a {"status":{"seen":true}}`,
				`json x a [{"op":"add","path":"/spec/zeroes","value":[]},{"op":"add","path":"/spec/zeroes/-","value":1}]`,
			},
		},
		"MadeAlone": {
			reason:  "Nothing is sent for what nobody fills.",
			current: `{spec: {d: 1}}`,
			wishes:  []string{"a json x [{op: add, path: /spec/zeroes, value: []}]", "b merge x {spec: {a: 1}}"},
			want:    []string{`merge x b {"spec":{"a":1}}`},
		},
		"Emptied": {
			reason:  "A rule that empties a list contradicts one that adds to it.",
			wishes:  []string{"a json x [{op: replace, path: /spec/l, value: []}]", "b json x [{op: add, path: /spec/l/-, value: 1}]"},
			want:    []string{`json x a [{"op":"replace","path":"/spec/l","value":[]}]`},
			decided: []string{"b withheld: spec.l is decided by rule guardrails/a, which comes first"},
		},
		"FilledOtherwise": {
			reason:  "Of two that fill what a third has made, the earlier one decides.",
			current: `{spec: {d: 1}}`,
			wishes:  []string{"a json x [{op: add, path: /spec/zeroes, value: []}]", "b merge x {spec: {zeroes: [1]}}", "c merge x {spec: {zeroes: [2]}}"},
			want:    []string{`merge x b {"spec":{"zeroes":[1]}}`},
			decided: []string{"c withheld: spec.zeroes is decided by rule guardrails/b, which comes first"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := tc.current
			if current == "" {
				current = read
			}
			built := Build(cluster{"x": current}.wishes(t, tc.wishes...), Options{Canonical: stores})
			if diff := cmp.Diff(tc.want, written(t, built.Operations)); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.decided, decided(built.Decisions)); diff != "" {
				t.Errorf("%s\ndecisions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
