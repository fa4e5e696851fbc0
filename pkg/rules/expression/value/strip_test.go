package value

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStrip(t *testing.T) {
	gone := Omitted{}
	tests := map[string]struct {
		v, want any
	}{
		"a scalar":             {int64(1), int64(1)},
		"nil":                  {nil, nil},
		"omitted itself stays": {gone, gone},
		"an element":           {[]any{int64(1), gone, nil}, []any{int64(1), nil}},
		"all elements":         {[]any{gone, gone}, []any{}},
		"an entry":             {map[string]any{"a": gone, "b": nil}, map[string]any{"b": nil}},
		"a stamp stays":        {[]any{Stamp{}, gone}, []any{Stamp{}}},
		"a computed value":     {amount(t, "1024Mi"), "1Gi"},
		"a computed element":   {[]any{gone, int64(1), time.Hour, "x"}, []any{int64(1), "1h0m0s", "x"}},
		"a computed entry":     {map[string]any{"a": noon, "b": version(t, "v1"), "c": gone, "d": "x"}, map[string]any{"a": noonText, "b": "1.0.0", "d": "x"}},
		"deep": {
			map[string]any{"a": []any{map[string]any{"b": gone, "c": []any{gone}}}},
			map[string]any{"a": []any{map[string]any{"c": []any{}}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Strip(tt.v, NewBudget(0))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// TestStripCopies changes nothing, and copies nothing that can stay.
func TestStripCopies(t *testing.T) {
	clean := map[string]any{"a": []any{int64(1)}}
	got, err := Strip(clean, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := got.(map[string]any); ok {
		m["mark"] = "seen"
	}
	if clean["mark"] != "seen" {
		t.Error("a value without omissions was copied")
	}
	stays := map[string]any{"a": "b", "since": Stamp{}}
	half, err := Strip([]any{stays, Omitted{}, map[string]any{"a": []any{time.Hour}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stays["mark"] = "seen"
	want := []any{map[string]any{"a": "b", "since": Stamp{}, "mark": "seen"}, map[string]any{"a": []any{"1h0m0s"}}}
	if diff := cmp.Diff(want, half); diff != "" {
		t.Errorf("what need not change was copied: (-want +got)\n%s", diff)
	}
	inner := []any{Omitted{}, int64(1)}
	dirty := map[string]any{"a": inner, "b": Omitted{}}
	if _, err := Strip(dirty, nil); err != nil {
		t.Fatal(err)
	}
	if len(dirty) != 2 || inner[0] != any(Omitted{}) || inner[1] != any(int64(1)) {
		t.Errorf("the argument has changed: %v", dirty)
	}
}

func TestStripErrors(t *testing.T) {
	shared := any(int64(1))
	for range 64 {
		shared = map[string]any{"a": shared, "b": shared}
	}
	if _, err := Strip(shared, NewBudget(0)); !errors.Is(err, ErrBudget) {
		t.Errorf("an exploding map: %v, want one that wraps ErrBudget", err)
	}
	for name, v := range map[string]any{
		"a deep list":    deepList(Depth + 1),
		"a deep map":     deepMap(Depth + 1),
		"an unsupported": []any{[]string{"a"}},
	} {
		var fault *Fault
		if _, err := Strip(v, nil); !errors.As(err, &fault) {
			t.Errorf("%s: %v, want a Fault", name, err)
		}
	}
	if _, err := Strip(deepMap(Depth), nil); err != nil {
		t.Errorf("a map as deep as allowed: %v", err)
	}
}
