package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// finalizing is an operation of a rule that makes one list of finalizers of another, and
// changes something else besides.
func finalizing(kind Type, before, after []any) Operation {
	o := Operation{
		Type: kind, Rules: []Rule{rule("a")}, Changes: []Change{{Rule: rule("a"), Path: finalizersPath, Before: before, After: after}},
		Predicted: map[string]any{"metadata": map[string]any{"name": "x", "finalizers": after}, "spec": map[string]any{"size": 1}},
		Body:      map[string]any{"metadata": map[string]any{"finalizers": after}, "spec": map[string]any{"size": 1}},
	}
	if kind == JSON {
		o.Body = []any{
			map[string]any{"op": "add", "path": "/metadata/finalizers/-", "value": "b"},
			map[string]any{"op": "add", "path": "/spec/size", "value": 1},
		}
	}
	return o
}

// TestWithout holds that of an operation that was not carried out nothing is sent with
// the next.
func TestWithout(t *testing.T) {
	other := Operation{Changes: []Change{{Rule: rule("b"), Path: Path{"spec", "x"}, After: 1}}, Predicted: map[string]any{}}
	tests := map[string]struct {
		reason       string
		undone, then Operation
		want         any // finalizers
	}{
		"Added": {
			"What was to be added is not.", finalizing(Merge, nil, []any{"a"}), finalizing(Merge, []any{"a"}, []any{"a", "b"}), []any{"b"},
		},
		"Removed": {
			"What was to be taken away stays.", finalizing(Merge, []any{"a", "b"}, []any{"b"}), finalizing(Merge, []any{"b"}, nil), []any{"a"},
		},
		"AddedAndRemoved": {
			"Nothing is left of either.", finalizing(Merge, []any{"b"}, []any{"b", "a"}), finalizing(Merge, []any{"b", "a"}, []any{"a"}), nil,
		},
		"Theirs": {
			"What others have stays.",
			finalizing(Merge, []any{"theirs"}, []any{"theirs", "a"}), finalizing(Merge, []any{"theirs", "a"}, []any{"theirs", "a", "b"}),
			[]any{"theirs", "b"},
		},
		"NotFinalizers": {"What changes none is as it was.", other, finalizing(Merge, []any{"a"}, []any{"a", "b"}), []any{"a", "b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.then.Without(tc.undone)
			sent, _ := Lookup(got.Body, finalizersPath)
			left, _ := Lookup(got.Predicted, finalizersPath)
			if diff := cmp.Diff([]any{tc.want, tc.want}, []any{sent, left}); diff != "" {
				t.Errorf("%s\nsent and predicted (-want +got):\n%s", tc.reason, diff)
			}
			if size, _ := Lookup(got.Body, Path{"spec", "size"}); size != 1 {
				t.Errorf("%s\nthe rest of it is %v", tc.reason, got.Body)
			}
		})
	}
	if got := other.Without(finalizing(Merge, nil, []any{"a"})); !cmp.Equal(other.Predicted, got.Predicted) || got.Body != nil {
		t.Errorf("what changes no finalizers is not touched: %+v", got)
	}
}

func TestWithoutInAJSONPatch(t *testing.T) {
	then := finalizing(JSON, []any{"a"}, []any{"a", "b"})
	got := then.Without(finalizing(Merge, nil, []any{"a"}))
	want := []any{
		map[string]any{"op": "add", "path": "/spec/size", "value": 1},
		map[string]any{"op": "add", "path": "/metadata/finalizers", "value": []any{"b"}},
	}
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Errorf("the list is sent as a whole (-want +got):\n%s", diff)
	}
}
