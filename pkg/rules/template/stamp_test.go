package template_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

const (
	old      = "2025-06-01T00:00:00Z"
	nowText  = "2026-01-01T11:30:00Z"
	inSydney = "2026-01-01T22:30:00.75+11:00"
)

func now(t testing.TB) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, inSydney)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

type m = map[string]any

func l(elements ...any) []any { return elements }

var at = value.Stamp{}

func TestStamped(t *testing.T) {
	tests := map[string]struct {
		reason  string
		writing schema.Writing
		body    any
		current any
		want    any
	}{
		"created":              {reason: "Of what is created, nothing is there.", body: m{"phase": "New", "at": at}, want: m{"phase": "New", "at": nowText}},
		"unchanged":            {reason: "Nothing else changes.", body: m{"phase": "Up", "at": at}, current: m{"phase": "Up", "at": old}, want: m{"phase": "Up", "at": old}},
		"changed":              {reason: "Something else does.", body: m{"phase": "Down", "at": at}, current: m{"phase": "Up", "at": old}, want: m{"phase": "Down", "at": nowText}},
		"not mentioned":        {reason: "What others write beside it is none of its business.", body: m{"at": at}, current: m{"at": old, "phase": "Up"}, want: m{"at": old}},
		"alone":                {reason: "Once set, it stays.", body: at, current: old, want: old},
		"alone, absent":        {reason: "Where nothing is there, it is a change by itself.", body: at, want: nowText},
		"alone, null":          {reason: "A null is nothing.", body: m{"at": at}, current: m{"at": nil}, want: m{"at": nowText}},
		"no time":              {reason: "Whatever is there stays.", body: m{"at": at}, current: m{"at": int64(5)}, want: m{"at": int64(5)}},
		"added":                {reason: "A key that comes is a change.", body: m{"a": int64(1), "at": at}, current: m{"at": old}, want: m{"a": int64(1), "at": nowText}},
		"deleted":              {reason: "A key that goes is a change.", body: m{"a": nil, "at": at}, current: m{"a": int64(1), "at": old}, want: m{"a": nil, "at": nowText}},
		"deleted before":       {reason: "A key that is gone is none.", body: m{"a": nil, "at": at}, current: m{"at": old}, want: m{"a": nil, "at": old}},
		"number":               {reason: "Equal numbers are the same in JSON.", body: m{"a": 3.0, "at": at}, current: m{"a": int64(3), "at": old}, want: m{"a": 3.0, "at": old}},
		"empty map":            {reason: "An empty map is as good as none.", body: m{"a": m{}, "at": at}, current: m{"at": old}, want: m{"a": m{}, "at": old}},
		"empty list":           {reason: "So is an empty list.", body: m{"a": l(), "at": at}, current: m{"at": old}, want: m{"a": l(), "at": old}},
		"another kind":         {reason: "A map in place of a text is a change.", body: m{"a": m{}, "at": at}, current: m{"a": "x", "at": old}, want: m{"a": m{}, "at": nowText}},
		"another kind, a list": {reason: "So is a list.", body: m{"a": l(), "at": at}, current: m{"a": m{}, "at": old}, want: m{"a": l(), "at": nowText}},
		"two": {
			reason: "A stamp that comes is a change of the map, and so moves the other.",
			body:   m{"first": at, "last": at}, current: m{"last": old}, want: m{"first": nowText, "last": nowText},
		},
		"below a change": {
			reason: "What changes beside the map around a stamp does not move it.",
			body:   m{"phase": "Down", "sub": m{"at": at}}, current: m{"phase": "Up", "sub": m{"at": old}},
			want: m{"phase": "Down", "sub": m{"at": old}},
		},
		"above a change": {
			reason: "What changes below a map changes the map.",
			body:   m{"sub": m{"n": int64(2), "at": at}, "at": at}, current: m{"sub": m{"n": int64(1), "at": old}, "at": old},
			want: m{"sub": m{"n": int64(2), "at": nowText}, "at": nowText},
		},
		"above what is not mentioned": {
			reason: "A nested map is compared by what the body says of it, too.",
			body:   m{"sub": m{"n": int64(1)}, "at": at}, current: m{"sub": m{"n": int64(1), "x": "y"}, "at": old},
			want: m{"sub": m{"n": int64(1)}, "at": old},
		},
		"by type": {
			reason:  "Elements are known by their type wherever they are.",
			body:    m{"conditions": l(m{"type": "B", "v": int64(1), "at": at}, m{"type": "A", "v": int64(2), "at": at})},
			current: m{"conditions": l(m{"type": "A", "v": int64(1), "at": old}, m{"type": "B", "v": int64(1), "at": old})},
			want:    m{"conditions": l(m{"type": "B", "v": int64(1), "at": old}, m{"type": "A", "v": int64(2), "at": nowText})},
		},
		"by name": {
			reason: "Or by their name; one that is new has no stamp to keep.",
			body:   l(m{"name": "b", "at": at}, m{"name": "a", "at": at}), current: l(m{"name": "a", "at": old}),
			want: l(m{"name": "b", "at": nowText}, m{"name": "a", "at": old}),
		},
		"by both": {
			reason: "Of several of a type, the name tells which.",
			body:   l(m{"type": "DB", "name": "b", "at": at}), current: l(m{"type": "DB", "name": "a", "at": "x"}, m{"type": "DB", "name": "b", "at": old}),
			want: l(m{"type": "DB", "name": "b", "at": old}),
		},
		"by the one that is mentioned": {
			reason: "The server may have added the other.",
			body:   l(m{"name": "a", "at": at}), current: l(m{"type": "DB", "name": "a", "at": old}), want: l(m{"name": "a", "at": old}),
		},
		"of the same type": {
			reason:  "Each is compared with another one.",
			body:    l(m{"type": "A", "v": int64(1), "at": at}, m{"type": "A", "v": int64(2), "at": at}),
			current: l(m{"type": "A", "v": int64(1), "at": old}, m{"type": "A", "v": int64(2), "at": old}),
			want:    l(m{"type": "A", "v": int64(1), "at": old}, m{"type": "A", "v": int64(2), "at": old}),
		},
		"by position": {
			reason: "What has neither is known by its place.",
			body:   l(m{"v": int64(1), "at": at}, m{"v": int64(3), "at": at}, at, at), current: l(m{"v": int64(1), "at": old}, m{"v": int64(2), "at": old}, old),
			want: l(m{"v": int64(1), "at": old}, m{"v": int64(3), "at": nowText}, old, nowText),
		},
		"a list beside it": {
			reason: "A list that is replaced is compared in order.",
			body:   m{"l": l("b", "a"), "at": at}, current: m{"l": l("a", "b"), "at": old}, want: m{"l": l("b", "a"), "at": nowText},
		},
		"a shorter list beside it": {
			reason: "What a merge patch takes from a list is a change.",
			body:   m{"l": l(m{"name": "a"}), "at": at}, current: m{"l": l(m{"name": "a"}, m{"name": "b"}), "at": old},
			want: m{"l": l(m{"name": "a"}), "at": nowText},
		},
		"an applied list beside it": {
			reason: "To apply leaves other owners' elements alone, or the stamp would move for ever.", writing: schema.Applied,
			body: m{"l": l(m{"name": "b"}), "at": at}, current: m{"l": l(m{"name": "a"}, m{"name": "b", "x": "y"}), "at": old},
			want: m{"l": l(m{"name": "b"}), "at": old},
		},
		"an applied set beside it": {
			reason: "So it does in a set.", writing: schema.Applied,
			body: m{"l": l("b", 2.0), "at": at}, current: m{"l": l("a", int64(2), "b"), "at": old}, want: m{"l": l("b", 2.0), "at": old},
		},
		"an applied set, with more": {
			reason: "An element that comes is a change; a number is not its text.", writing: schema.Applied,
			body: m{"l": l("2"), "at": at}, current: m{"l": l(int64(2)), "at": old}, want: m{"l": l("2"), "at": nowText},
		},
		"an applied null": {
			reason: "To apply, a null is as good as nothing.", writing: schema.Applied,
			body: m{"a": nil, "at": at}, current: m{"a": int64(1), "at": old}, want: m{"a": nil, "at": old},
		},
		"no stamp": {reason: "There is nothing to do.", body: m{"a": l(m{"b": "c"}, nil)}, current: m{"x": "y"}, want: m{"a": l(m{"b": "c"}, nil)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := template.Stamped(tc.body, tc.current, now(t), tc.writing)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStampedOfExpressions takes the ways that a stamp may go into a body.
func TestStampedOfExpressions(t *testing.T) {
	compiled, errs := compile(t, `{a: "${stamp()}", b: "${object.none ?? stamp()}", c: "${object.had ?? stamp()}", d: "${let x = stamp(); {'e': [x]}}", f: "${omit()}"}`)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	result, err := compiled.Eval(&expression.Evaluation{Names: values{"had": old}})
	if err != nil {
		t.Fatal(err)
	}
	want := m{"a": nowText, "b": nowText, "c": old, "d": m{"e": l(nowText)}}
	if diff := cmp.Diff(want, template.Stamped(result, nil, now(t), schema.Merged)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStampedCopies makes sure that neither value is changed.
func TestStampedCopies(t *testing.T) {
	written, current := m{"a": m{"at": at}, "l": l(m{"at": at})}, m{"a": m{"at": old}, "l": l(m{"at": old})}
	if diff := cmp.Diff(current, template.Stamped(written, current, now(t), schema.Merged)); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m{"a": m{"at": at}, "l": l(m{"at": at})}, written); diff != "" {
		t.Errorf("the body (-want +got):\n%s", diff)
	}
}

// TestStampedSettles makes sure that a body that has been written, and nothing
// has changed since, is the same body an hour later. A stamp that moved by itself
// would be written for ever.
func TestStampedSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		written := bodies(t, 3)
		writing := rapid.SampledFrom([]schema.Writing{schema.Merged, schema.Applied}).Draw(t, "writing")
		first := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
		there := template.Stamped(written, bodies(t, 3), first, writing)
		if again := template.Stamped(written, there, first.Add(time.Hour), writing); !cmp.Equal(there, again) {
			t.Fatalf("%v was written as %v and then as %v", written, there, again)
		}
	})
}

// bodies draws values that are alike, with stamps among them.
func bodies(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind = kind % 4
	}
	switch kind {
	case 0:
		return value.Stamp{}
	case 1:
		return rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "text")
	case 2:
		return rapid.Int64Range(0, 2).Draw(t, "number")
	case 3:
		return nil
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, bodies(t, depth-1))
		}
		return list
	default:
		out := m{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"type", "name", "a", "at"}), 0, 4, rapid.ID).Draw(t, "keys") {
			out[key] = bodies(t, depth-1)
		}
		return out
	}
}
