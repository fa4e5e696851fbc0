package plan

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// FuzzBuild holds that any bodies on any object give the same plan twice, change nothing that they were made from, lead
// where the plan predicts, and leave nothing to do from there. A JSON patch may always find something to do, such as to
// add to a list.
func FuzzBuild(f *testing.F) {
	f.Add(`{spec: {a: 1}}`, `{spec: {a: 2, b: null}}`, `{spec: {c: [1]}}`, `{spec: {d: {}}}`)
	f.Add(`{spec: {a: {b: 1}}}`, `[{op: add, path: /spec/a/c, value: {x: 1}}]`, `{spec: {a: null}}`, `{}`)
	f.Add(`{}`, `[{op: add, path: /-, value: 1}, {op: move, from: /-, path: /0}]`, `{a: {b: {c: {}}}}`, `{a: 1}`)
	f.Add(`{l: [1, 2]}`, `[{op: copy, from: /l/0, path: /l/-}]`, `{l: [3]}`, `[{op: test, path: /l/0, value: 2}]`)
	f.Add(`{l: [1, 2]}`, `[{op: add, path: /l/1, value: null}, {op: replace, path: /l, value: [2.0]}]`, `{l: [2]}`, `{"": {"~/": 1}}`)
	f.Add(`{m: {a: null, b: 9007199254740993}}`, `{m: {a: null}}`, `[{op: remove, path: /m/a}]`, `{m: {b: 9007199254740993.0}}`)
	f.Fuzz(func(t *testing.T, current, first, second, third string) {
		var object map[string]any
		bodies := make([]any, 3)
		for i, text := range []string{first, second, third} {
			if unmarshal([]byte(text), &bodies[i]) != nil {
				t.Skip()
			}
		}
		if unmarshal([]byte(current), &object) != nil {
			t.Skip()
		}
		before := encode(t, object)
		wishes := wishesOf(object, bodies)
		built := Build(wishes, Options{})
		once, again := fmt.Sprintf("%+v", built), fmt.Sprintf("%+v", Build(wishes, Options{}))
		if once != again {
			t.Fatalf("not the same again:\n%s\n%s", once, again)
		}
		if got := encode(t, object); got != before {
			t.Fatalf("the snapshot was changed from %s to %s", before, got)
		}
		object = carriedOut(t, object, built.Operations, Options{})
		if again := Build(lasting(wishes, object), Options{}).Operations; len(again) > 0 && !hasJSON(wishes) {
			t.Fatalf("on %s it settles only after %+v", encode(t, object), again)
		}
	})
}

func wishesOf(object map[string]any, bodies []any) []Wish {
	var wishes []Wish
	for i, body := range bodies {
		kind := Merge
		if _, list := body.([]any); list {
			kind = JSON
		}
		wishes = append(wishes, Wish{Rule: rule(string(rune('a' + i))), Target: target, Current: object, Type: kind, Body: body})
	}
	return wishes
}

// carriedOut is the object after the operations, which must come out as predicted.
func carriedOut(t rapid.TB, object map[string]any, operations []Operation, options Options) map[string]any {
	t.Helper()
	for _, o := range operations {
		after, err := Wish{Type: o.Type, Body: o.Body}.applyTo(object)
		if err != nil {
			t.Fatalf("the operation %s cannot be applied to %s: %v", encode(t, o.Body), encode(t, object), err)
		}
		if !Equal(options.Stored(target, after), o.Predicted) {
			t.Fatalf("%s on %s: predicted %s, came to %s", encode(t, o.Body), encode(t, object), encode(t, o.Predicted), encode(t, after))
		}
		object = after
	}
	return object
}

// lasting are the same wishes of the object as it is now.
func lasting(wishes []Wish, object map[string]any) []Wish {
	var out []Wish
	for _, wish := range wishes {
		wish.Current = object
		out = append(out, wish)
	}
	return out
}

func hasJSON(wishes []Wish) bool {
	for _, wish := range wishes {
		if wish.Type == JSON {
			return true
		}
	}
	return false
}
