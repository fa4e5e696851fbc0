package value

import (
	"math"
	"strings"
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
		"nil":             {"a document may be null", nil, "null\n"},
		"a text":          {"plain where nobody takes it for anything else", "hello, world", "\"hello, world\"\n"},
		"numbers":         {"integers are exact", []any{int64(math.MaxInt64), 0.5, 2.0, 1e21, 1e-7, -1.5e300}, "- 9223372036854775807\n- 0.5\n- 2\n- 1.0e+21\n- 1.0e-7\n- -1.5e+300\n"},
		"booleans":        {"as they are", []any{true, false}, "- true\n- false\n"},
		"empty ones":      {"on one line", map[string]any{"a": []any{}, "b": map[string]any{}}, "a: []\nb: {}\n"},
		"sorted keys":     {"equal values have equal texts", map[string]any{"b": int64(1), "a": int64(2), "C": nil}, "C: null\na: 2\nb: 1\n"},
		"maps in maps":    {"by two spaces", map[string]any{"a": map[string]any{"b": map[string]any{"c": "d"}}}, "a:\n  b:\n    c: d\n"},
		"lists in maps":   {"kubectl does not indent them", map[string]any{"a": []any{"x", []any{"y", "z"}}}, "a:\n- x\n- - \"y\"\n  - z\n"},
		"maps in lists":   {"start on the line of the dash", []any{map[string]any{"a": "x", "b": []any{"c"}}, map[string]any{}}, "- a: x\n  b:\n  - c\n- {}\n"},
		"words":           {"some readers take them for something else", []any{"yes", "No", "NULL", "y", "", "~", "true", "on"}, "- \"yes\"\n- \"No\"\n- \"NULL\"\n- \"y\"\n- \"\"\n- \"~\"\n- \"true\"\n- \"on\"\n"},
		"looks":           {"some readers take them for something else", []any{"1", "0x1F", "1e3", "2026-01-01", "-", "a: b", "a #b", "#a", "a:", "[a]", ".5"}, "- \"1\"\n- \"0x1F\"\n- \"1e3\"\n- \"2026-01-01\"\n- \"-\"\n- \"a: b\"\n- \"a #b\"\n- \"#a\"\n- \"a:\"\n- \"[a]\"\n- \".5\"\n"},
		"images":          {"no quotes for what is everywhere", []any{"pingcap/tidb:v8.5.0", "http://a.b/c", "a_b-c@d.e"}, "- pingcap/tidb:v8.5.0\n- http://a.b/c\n- a_b-c@d.e\n"},
		"keys":            {"they are texts like others", map[string]any{"yes": int64(1), "a b": int64(2), "1": int64(3)}, "\"1\": 3\na b: 2\n\"yes\": 1\n"},
		"lines":           {"read best as such", map[string]any{"a": "x\n  y\n\nz\n"}, "a: |\n  x\n    y\n\n  z\n"},
		"no last break":   {"it must not get one", []any{"x\ny"}, "- |-\n  x\n  y\n"},
		"more breaks":     {"all are kept", "x\n\n\n", "|+\n  x\n\n\n"},
		"space in front":  {"the first line tells how far all are indented", " x\ny", "\" x\\ny\"\n"},
		"a tab":           {"it would be lost in a block", "x\n\ty", "\"x\\n\\ty\"\n"},
		"what is no text": {"as in JSON", "a\xffb", "\"a\uFFFDb\"\n"},
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
}

func TestYAMLErrors(t *testing.T) {
	deep := any("x")
	for range Depth + 1 {
		deep = []any{deep}
	}
	tests := map[string]struct {
		v    any
		want string
	}{
		"omitted":         {[]any{Omitted{}}, "omit() has no JSON form"},
		"infinity":        {math.Inf(1), "JSON has no number for +Inf"},
		"no value":        {struct{}{}, "an unsupported value has no JSON form"},
		"too deep":        {deep, "the value nests deeper than 256 levels"},
		"a very long key": {map[string]any{strings.Repeat("a", 300): nil}, `the key "` + strings.Repeat("a", 60) + `..." is too long for YAML`},
	}
	for name, tt := range tests {
		if text, err := YAML(tt.v, nil); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %.80s, %v, want %s", name, text, err, tt.want)
		}
	}
}
