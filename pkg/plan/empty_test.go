package plan

import "testing"

// TestRemovingFromNothing holds that to remove a label or an annotation of an object
// that has none is no write: the API server stores no empty maps there, so that it
// would be sent again after every restart.
func TestRemovingFromNothing(t *testing.T) {
	tests := map[string]struct {
		reason, current, body string
		want                  int
	}{
		"Annotation": {"There are none.", `{metadata: {name: x}}`, `{metadata: {annotations: {a: null}}}`, 0},
		"AllOmitted": {"A map of which all was omitted asks for nothing.", `{metadata: {name: x}}`, `{metadata: {labels: {}}}`, 0},
		"OneOfTwo":   {"What else is asked for is written.", `{metadata: {}}`, `{metadata: {labels: {a: null}, annotations: {b: c}}}`, 1},
		"LastOne":    {"The last one goes.", `{metadata: {labels: {a: b}}}`, `{metadata: {labels: {a: null}}}`, 1},
		"InSpec":     {"Elsewhere an empty map is a value, such as emptyDir.", `{spec: {}}`, `{spec: {emptyDir: {}}}`, 1},
		"EmptyThere": {"An empty map that is there already is no difference.", `{metadata: {labels: {}}}`, `{metadata: {labels: {a: null}}}`, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := decode[map[string]any](t, tc.current)
			p := Build([]Wish{{Rule: Rule{Set: "s", Name: "r"}, Type: Merge, Current: current, Body: decode[map[string]any](t, tc.body)}}, Options{})
			if len(p.Operations) != tc.want {
				t.Errorf("%s got %+v", tc.reason, p.Operations)
			}
		})
	}
}
