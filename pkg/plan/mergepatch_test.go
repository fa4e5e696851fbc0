package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergePatched(t *testing.T) {
	tests := map[string]struct {
		reason               string
		current, patch, want string
	}{
		"Merges":        {"Maps are merged, all else is replaced.", `{a: {b: 1, c: [1, 2]}}`, `{a: {c: [3]}}`, `{a: {b: 1, c: [3]}}`},
		"Removes":       {"A null removes.", `{a: {b: 1, c: 2}}`, `{a: {b: null}}`, `{a: {c: 2}}`},
		"RemovesAll":    {"The map stays.", `{a: {b: 1}}`, `{a: {b: null}}`, `{a: {}}`},
		"RemovesAbsent": {"What is not there need not be made to be emptied.", `{}`, `{a: {b: null, c: {d: null}}}`, `{}`},
		"RemovesBelow":  {"Nor below what is there.", `{a: {x: 1}}`, `{a: {b: {c: null}}}`, `{a: {x: 1}}`},
		"Empty":         {"An empty map is asked for as such.", `{}`, `{a: {}}`, `{a: {}}`},
		"Mixed":         {"One value is reason enough.", `{}`, `{a: {b: null, c: 1}}`, `{a: {c: 1}}`},
		"Same":          {"Nothing is copied for nothing.", `{a: {b: 1, c: [1], d: {}}}`, `{a: {b: 1.0, c: [1], d: {}, e: null}}`, `{a: {b: 1, c: [1], d: {}}}`},
		"Null":          {"It becomes a map.", `{a: null}`, `{a: {b: null}}`, `{a: {}}`},
		"Replaces":      {"A map takes the place of a text.", `{a: text}`, `{a: {b: null}}`, `{a: {}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := decode[map[string]any](t, tc.current)
			got := mergePatched(current, decode[map[string]any](t, tc.patch))
			if diff := cmp.Diff(decode[map[string]any](t, tc.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want == tc.current && !sameMap(current, got) {
				t.Errorf("%s It is a copy", tc.reason)
			}
			if diff := cmp.Diff(decode[map[string]any](t, tc.current), current); diff != "" {
				t.Errorf("the object was changed (-want +got):\n%s", diff)
			}
		})
	}
}
