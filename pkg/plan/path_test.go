package plan

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPath(t *testing.T) {
	tests := map[string]struct {
		path            Path
		text, reference string
	}{
		"Plain":  {Path{"spec", "pd", "replicas"}, "spec.pd.replicas", "/spec/pd/replicas"},
		"Index":  {Path{"spec", "containers", "0", "image"}, "spec.containers[0].image", "/spec/containers/0/image"},
		"Quoted": {Path{"metadata", "labels", "app.kubernetes.io/name"}, `metadata.labels["app.kubernetes.io/name"]`, "/metadata/labels/app.kubernetes.io~1name"},
		"Tilde":  {Path{"a~1b"}, `["a~1b"]`, "/a~01b"},
		"Empty":  {nil, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.path.String(); got != tc.text {
				t.Errorf("String: got %s, want %s", got, tc.text)
			}
			if got := tc.path.Pointer(); got != tc.reference {
				t.Errorf("Pointer: got %s, want %s", got, tc.reference)
			}
			back, ok := ParsePointer(tc.reference)
			if diff := cmp.Diff(tc.path, back); !ok || diff != "" {
				t.Errorf("the pointer does not lead back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	tests := map[string]struct {
		a, b any
		want bool
	}{
		"IntKinds":      {int64(1), 1, true},
		"IntFloat":      {int64(1), 1.0, true},
		"IntFraction":   {int64(1), 1.5, false},
		"LargeRounded":  {int64(1<<53 + 1), float64(1 << 53), false},
		"MaxRounded":    {int64(math.MaxInt64), float64(math.MaxInt64), false},
		"MinExact":      {int64(math.MinInt64), float64(math.MinInt64), true},
		"NumberString":  {int64(1), "1", false},
		"NilAbsent":     {map[string]any{"a": nil}, map[string]any{}, false},
		"NilOtherKey":   {map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		"Deep":          {map[string]any{"a": []any{int64(1)}}, map[string]any{"a": []any{1.0}}, true},
		"ListOrder":     {[]any{"a", "b"}, []any{"b", "a"}, false},
		"ListLength":    {[]any{"a"}, []any{"a", "b"}, false},
		"EmptyAndNil":   {[]any{}, nil, false},
		"MapAndList":    {map[string]any{}, []any{}, false},
		"NilAndNil":     {nil, nil, true},
		"BoolAndString": {true, "true", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Equal(tc.a, tc.b); got != tc.want {
				t.Errorf("Equal(%v, %v) = %v", tc.a, tc.b, got)
			}
			if got := Equal(tc.b, tc.a); got != tc.want {
				t.Errorf("Equal(%v, %v) = %v", tc.b, tc.a, got)
			}
		})
	}
}
