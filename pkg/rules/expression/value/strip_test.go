package value

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStrip changes nothing, and copies nothing that can stay.
func TestStrip(t *testing.T) {
	stays := map[string]any{"a": "b", "since": Stamp{}}
	inner := []any{int64(1), time.Hour, "x"}
	v := []any{nil, stays, map[string]any{"a": inner, "b": noon, "c": version(t, "v1")}, amount(t, "1024Mi")}
	got, err := Strip(v, NewBudget(0))
	if err != nil {
		t.Fatal(err)
	}
	stays["mark"] = "seen"
	want := []any{
		nil,
		map[string]any{"a": "b", "since": Stamp{}, "mark": "seen"},
		map[string]any{"a": []any{int64(1), "1h0m0s", "x"}, "b": noonText, "c": "1.0.0"},
		"1Gi",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if inner[1] != any(time.Hour) || v[3] == any("1Gi") {
		t.Errorf("the argument has changed: %v", v)
	}
	if got, err := Strip(Omitted{}, nil); err != nil || got != any(Omitted{}) {
		t.Errorf("omit() itself became %v, %v", got, err)
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
