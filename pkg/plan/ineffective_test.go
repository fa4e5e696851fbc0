package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIneffective holds that what came back unchanged is left out of the next
// plan, and only that.
func TestIneffective(t *testing.T) {
	tests := map[string]struct {
		reason   string
		wishes   map[string]string // rule -> body, in order of name
		current  string
		answered string
		next     string // the object of the next snapshot, default: current
		want     string // the next body, empty for none
	}{
		"Defaulted": {
			reason: "A null that the API server defaults again is tried once.",
			wishes: map[string]string{"a": `{spec: {d: null}}`}, current: `{spec: {d: 1}}`, answered: `{spec: {d: 1}}`,
		},
		"OtherRuleGoesOn": {
			reason: "What is written with it goes on.",
			wishes: map[string]string{"a": `{spec: {d: null}}`, "b": `{spec: {x: 1}}`}, current: `{spec: {d: 1}}`,
			answered: `{spec: {d: 1, x: 1}}`, next: `{spec: {d: 1, x: 2}}`, want: `{"spec":{"x":1}}`,
		},
		"OtherFieldOfTheRule": {
			reason: "So does another field of the same patch.",
			wishes: map[string]string{"a": `{spec: {d: null, x: 1}}`}, current: `{spec: {d: 1}}`,
			answered: `{spec: {d: 1, x: 1}}`, next: `{spec: {d: 1}}`, want: `{"spec":{"x":1}}`,
		},
		"OtherValue": {
			reason: "Another value to start from is another attempt.",
			wishes: map[string]string{"a": `{spec: {d: null}}`}, current: `{spec: {d: 1}}`, answered: `{spec: {d: 1}}`,
			next: `{spec: {d: 2}}`, want: `{"spec":{"d":null}}`,
		},
		"Unrelated": {
			reason: "An unrelated change is not.",
			wishes: map[string]string{"a": `{spec: {d: null}}`}, current: `{spec: {d: 1}}`, answered: `{spec: {d: 1}}`,
			next: `{spec: {d: 1, e: 5}, metadata: {labels: {a: b}}}`,
		},
		"Pruned": {
			reason: "A field that the schema prunes is absent before and after.",
			wishes: map[string]string{"a": `{spec: {unknown: {deep: 1}}}`}, current: `{spec: {}}`, answered: `{spec: {}}`,
		},
		"NoTraces": {
			reason: "Nothing is left of a change that is left out, not even its parent.",
			wishes: map[string]string{"a": `{spec: {volume: {size: 5}, x: 1}}`}, current: `{spec: {}}`,
			answered: `{spec: {x: 1}}`, want: `{"spec":{"x":1}}`,
		},
		"JSON": {
			reason: "A JSON patch without effect is left out as a whole.",
			wishes: map[string]string{"a": `[{op: remove, path: /spec/d}]`}, current: `{spec: {d: 1}}`, answered: `{spec: {d: 1}}`,
		},
		"JSONPartly": {
			reason:  "A JSON patch with some effect is repeated as a whole.",
			wishes:  map[string]string{"a": `[{op: remove, path: /spec/d}, {op: add, path: /spec/x, value: 1}]`},
			current: `{spec: {d: 1}}`, answered: `{spec: {d: 1, x: 1}}`,
			want: `[{"op":"remove","path":"/spec/d"},{"op":"add","path":"/spec/x","value":1}]`,
		},
		"Effective": {
			reason: "What had an effect and was undone is written again.",
			wishes: map[string]string{"a": `{spec: {x: 1}}`}, current: `{spec: {}}`, answered: `{spec: {x: 1}}`,
			want: `{"spec":{"x":1}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			build := func(current string, known Marks) Plan {
				object := decode[map[string]any](t, current)
				var wishes []Wish
				for _, name := range []string{"a", "b"} {
					if tc.wishes[name] == "" {
						continue
					}
					w := wish(t, name, Merge, object, tc.wishes[name])
					if _, list := w.Body.([]any); list {
						w.Type = JSON
					}
					wishes = append(wishes, w)
				}
				return Build(wishes, Options{Ineffective: known})
			}
			known := Marks{}
			for _, o := range build(tc.current, nil).Operations {
				known, _ = o.Ineffective(decode[map[string]any](t, tc.answered))
			}
			next := tc.current
			if tc.next != "" {
				next = tc.next
			}
			second := build(next, known)
			got := ""
			for _, o := range second.Operations {
				got += encode(t, o.Body)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want == "" && len(second.Suppressed) != len(known) {
				t.Errorf("met %d of %d known marks", len(second.Suppressed), len(known))
			}
		})
	}
}

func TestIneffectiveApply(t *testing.T) {
	current := decode[map[string]any](t, `{spec: {}}`)
	w := wish(t, "a", Apply, current, `{spec: {ports: [{port: 80}]}}`)
	first := Build([]Wish{w}, Options{}).Operations[0]
	if marks, _ := first.Ineffective(decode[map[string]any](t, `{metadata: {resourceVersion: "8"}, spec: {}}`)); len(marks) != 0 {
		t.Error("an apply that changed the version changed something, be it the ownership")
	}
	known, paths := first.Ineffective(decode[map[string]any](t, `{metadata: {resourceVersion: "7"}, spec: {}}`))
	if len(known) != 1 || len(paths) == 0 {
		t.Fatalf("an apply that left the version alone had no effect: %v, %v", known, paths)
	}
	if again := Build([]Wish{w}, Options{Ineffective: known}); len(again.Operations) != 0 || len(again.Suppressed) != 1 {
		t.Errorf("it is planned again: %+v", again.Operations)
	}
}

func TestAllMarksSuppressEverything(t *testing.T) {
	current := decode[map[string]any](t, `{spec: {}}`)
	wishes := []Wish{
		wish(t, "a", Merge, current, `{spec: {x: 1, w: 2}}`),
		wish(t, "b", Apply, current, `{spec: {z: 1}}`),
	}
	for _, rule := range []string{"c", "d"} { // The second finalizer is put beside the first.
		held := wish(t, rule, Merge, current, `{}`)
		held.Type, held.Body = Finalize, Finalizer{Name: "example.com/" + rule, Present: true}
		wishes = append(wishes, held)
	}
	known := Marks{}
	for _, o := range Build(wishes, Options{}).Operations {
		for mark := range o.All() {
			known[mark] = true
		}
	}
	if again := Build(wishes, Options{Ineffective: known}); len(again.Operations) != 0 {
		t.Errorf("a dry run would repeat %+v", again.Operations)
	}
}
