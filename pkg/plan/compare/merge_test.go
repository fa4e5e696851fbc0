package compare_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// TestMerge holds what two writes to an object come to that the API server has judged each by itself.
func TestMerge(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason                     string
		before, ours, theirs, want any
	}{
		"Maps": {
			reason: "Fields of both are there.",
			before: map[string]any{"a": 1.0, "gone": 1.0}, ours: map[string]any{"a": 1.0, "b": 2.0}, theirs: map[string]any{"a": 3.0, "gone": 1.0},
			want: map[string]any{"a": 3.0, "b": 2.0},
		},
		"Lists": {
			reason: "So are elements, and what one took off is gone.",
			before: []any{"x", "y"}, ours: []any{"x", "y", "ours"}, theirs: []any{"y", "theirs"}, want: []any{"y", "ours", "theirs"},
		},
		"Elements": {
			reason: "Elements of the same name are one.",
			before: []any{map[string]any{"name": "app", "image": "v1", "tty": true}},
			ours:   []any{map[string]any{"name": "app", "image": "v2", "tty": true}},
			theirs: []any{map[string]any{"name": "app", "image": "v1"}},
			want:   []any{map[string]any{"name": "app", "image": "v2"}},
		},
		"Mounts": {
			reason: "Elements of the same name are told apart by what is surer.",
			before: []any{map[string]any{"name": "v", "mountPath": "/a"}},
			ours:   []any{map[string]any{"name": "v", "mountPath": "/a"}, map[string]any{"name": "v", "mountPath": "/b"}},
			theirs: []any{map[string]any{"name": "v", "mountPath": "/a"}, map[string]any{"name": "v", "mountPath": "/c"}},
			want: []any{
				map[string]any{"name": "v", "mountPath": "/a"}, map[string]any{"name": "v", "mountPath": "/b"}, map[string]any{"name": "v", "mountPath": "/c"},
			},
		},
		"Nulls": {
			reason: "A null is a value.",
			before: map[string]any{"a": nil, "b": 1.0}, ours: map[string]any{"a": nil, "b": 2.0}, theirs: map[string]any{"a": nil, "b": 1.0, "c": 1.0},
			want: map[string]any{"a": nil, "b": 2.0, "c": 1.0},
		},
		"Same":    {reason: "Both want the same.", before: "a", ours: "b", theirs: "b", want: "b"},
		"Ours":    {reason: "The other left it alone.", before: "a", ours: "b", theirs: "a", want: "b"},
		"Rivals":  {reason: "The later one wins, as it does when both are stored.", before: "a", ours: "b", theirs: "c", want: "c"},
		"Created": {reason: "There was none.", ours: nil, theirs: map[string]any{"a": 1.0}, want: map[string]any{"a": 1.0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, compare.Merge(tc.before, tc.ours, tc.theirs)); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKept holds that a clean-up takes nothing away that an apply has set, and that nothing is put back that the API server did not store.
func TestKept(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	got := compare.Kept(
		fields{"data": fields{"other": "1"}, "env": []any{fields{"name": "a"}}},
		fields{"data": fields{"mine": "1"}, "paused": false, "env": []any{fields{"name": "b", "value": "1"}}},
		fields{"data": fields{"mine": "1", "other": "1"}, "env": []any{fields{"name": "a"}, fields{"name": "b", "value": "1"}}},
	)
	want := fields{"data": fields{"mine": "1", "other": "1"}, "env": []any{fields{"name": "a"}, fields{"name": "b", "value": "1"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason                   string
		before, after, old, want any
	}{
		"Twice": {"An element that is there twice goes once.", []any{"a", "a", "c"}, []any{"a", "d"}, []any{"a", "c"}, []any{"d"}},
		"Fields": {
			"What the other one has as well, and more, is left out.",
			map[string]any{"a": map[string]any{"x": 1.0}, "gone": 1.0},
			map[string]any{"a": map[string]any{"x": 1.0, "y": 2.0}},
			map[string]any{"gone": 1.0},
			map[string]any{"a": map[string]any{"y": 2.0}},
		},
		"Order":   {"Another order is all that differs.", []any{"a", "b"}, []any{"b", "a"}, []any{"a", "b"}, []any{"b", "a"}},
		"Element": {"An element keeps its name.", []any{map[string]any{"name": "x", "v": 1.0, "w": 1.0}}, []any{map[string]any{"name": "x", "v": 2.0, "w": 1.0}}, []any{map[string]any{"name": "x", "v": 1.0}}, []any{map[string]any{"name": "x", "v": 2.0}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := compare.Only(tc.before, tc.after)
			if diff := cmp.Diff([]any{tc.old, tc.want}, []any{old, now}); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// BenchmarkOnly says that the work grows with the lists, not with their product: a list of an object may have tens of thousands of elements.
func BenchmarkOnly(b *testing.B) {
	list := func(value float64) (out []any) {
		for i := range 4000 {
			out = append(out, map[string]any{"name": strconv.Itoa(i), "v": value})
		}
		return out
	}
	before, after := list(1), list(2)
	for b.Loop() {
		compare.Only(before, after)
	}
}

// TestTellApart holds that of what is masked alike it is said that it differs.
func TestTellApart(t *testing.T) {
	const masked = "(masked)"
	before, after := parsed(t, `{a: x, same: x, l: [x, y], more: [x], k: x}`), parsed(t, `{a: y, same: x, l: [x, z], more: [x, y], k: {b: x}}`)
	shown := func(text string) any { return parsed(t, text) }
	a, b := compare.TellApart(before, after, shown(`{a: (masked), same: (masked), l: [(masked), (masked)], more: [(masked)], k: (masked)}`),
		shown(`{a: (masked), same: (masked), l: [(masked), (masked)], more: [(masked), (masked)], k: {b: (masked)}}`))
	want := [2]any{
		map[string]any{"a": masked + " before", "same": masked, "l": []any{masked, masked + " before"}, "more": []any{masked}, "k": masked},
		map[string]any{"a": masked + " after", "same": masked, "l": []any{masked, masked + " after"}, "more": []any{masked, masked}, "k": map[string]any{"b": masked}},
	}
	if diff := cmp.Diff(want, [2]any{a, b}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
