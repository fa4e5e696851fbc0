package plan

import (
	"testing"
)

// FuzzBuild holds that any two bodies on any object give a plan that leads
// where it predicts, and that a second plan from there is empty or contradicts
// nobody.
func FuzzBuild(f *testing.F) {
	f.Add(`{spec: {a: 1}}`, `{spec: {a: 2, b: null}}`, `{spec: {c: [1]}}`)
	f.Add(`{spec: {a: {b: 1}}}`, `[{op: add, path: /spec/a/c, value: {x: 1}}]`, `{spec: {a: null}}`)
	f.Add(`{}`, `[{op: add, path: /-, value: 1}, {op: move, from: /-, path: /0}]`, `{a: {b: {c: {}}}}`)
	f.Add(`{l: [1, 2]}`, `[{op: copy, from: /l/0, path: /l/-}]`, `{l: [3]}`)
	f.Fuzz(func(t *testing.T, current, first, second string) {
		var object map[string]any
		var bodies [2]any
		if unmarshal([]byte(current), &object) != nil || unmarshal([]byte(first), &bodies[0]) != nil || unmarshal([]byte(second), &bodies[1]) != nil {
			t.Skip()
		}
		before := encode(t, object)
		var wishes []Wish
		for i, body := range bodies {
			kind := Merge
			if _, list := body.([]any); list {
				kind = JSON
			}
			wishes = append(wishes, Wish{Rule: rule([]string{"a", "b"}[i]), Target: target, Current: object, Type: kind, Body: body})
		}
		operations := Build(wishes, Options{}).Operations
		if got := encode(t, object); got != before {
			t.Fatalf("the snapshot was changed from %s to %s", before, got)
		}
		for _, o := range operations {
			after, err := Wish{Type: o.Type, Body: o.Body}.applyTo(object)
			if err != nil {
				t.Fatalf("the operation %s cannot be applied to %s: %v", encode(t, o.Body), before, err)
			}
			if !equal(after, o.Predicted) {
				t.Fatalf("%s on %s: predicted %s, came to %s", encode(t, o.Body), before, encode(t, o.Predicted), encode(t, after))
			}
			object = after
		}
	})
}
