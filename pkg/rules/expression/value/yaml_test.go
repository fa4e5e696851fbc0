package value

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestYAML(t *testing.T) {
	tests := map[string]struct {
		reason string
		v      any
		want   string
	}{
		"numbers":         {"integers are exact", []any{int64(math.MaxInt64), 0.5, 2.0, 1e21, 1e-7, -1.5e300}, "- 9223372036854775807\n- 0.5\n- 2\n- 1.0e+21\n- 1.0e-7\n- -1.5e+300\n"},
		"sorted keys":     {"equal values have equal texts", map[string]any{"b": int64(1), "a": int64(2), "C": nil}, "C: null\na: 2\nb: 1\n"},
		"keys":            {"they are texts like others", map[string]any{"yes": int64(1), "a b": int64(2), "1": int64(3)}, "\"1\": 3\na b: 2\n\"yes\": 1\n"},
		"layout":          {"that of kubectl", []any{map[string]any{"a": "x\n  y\n", "b": []any{"c", []any{}}}}, "- a: |\n    x\n      y\n  b:\n  - c\n  - []\n"},
		"what is no text": {"as in JSON", "a\xffb", "a\uFFFDb\n"},
		"computed values": {
			"as a body holds them",
			[]any{amount(t, "1024Mi"), version(t, "v1.2"), time.Hour, noon},
			"- \"1Gi\"\n- \"1.2.0\"\n- \"1h0m0s\"\n- \"2026-01-31T12:00:00Z\"\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := YAML(tt.v, NewBudget(0))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v: %s (-want +got)\n%s", err, tt.reason, diff)
			}
		})
	}
	if text, err := YAML([]any{Omitted{}}, nil); err == nil {
		t.Errorf("omit() is %q", text)
	}
}
