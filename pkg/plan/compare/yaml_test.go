package compare_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

type yamlCase struct {
	reason string
	value  any
	want   string
}

func (test yamlCase) run(t *testing.T) {
	t.Helper()
	got, err := compare.YAML(test.value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(test.want, string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", test.reason, diff)
	}
}

func TestYAMLStructure(t *testing.T) {
	type write struct {
		Object string `json:"object"`
		Body   any    `json:"body"`
		Empty  []int  `json:"empty"`
	}
	tests := map[string]yamlCase{
		"order": {
			reason: "fields keep the order of the struct, keys of maps are sorted",
			value:  write{Object: "pods a/b", Body: map[string]any{"b": true, "a": nil}, Empty: []int{}},
			want:   "object: pods a/b\nbody:\n  a: null\n  b: true\nempty: []\n",
		},
		"lists": {
			reason: "elements are not indented, as kubectl writes them",
			value:  map[string]any{"rules": []any{map[string]any{"a": int64(1), "b": "x"}, "y is text"}},
			want:   "rules:\n- a: 1\n  b: x\n- y is text\n",
		},
		"numbers": {
			reason: "integers are exact and exponents have a point",
			value:  []any{int64(math.MaxInt64), 0.5, 1e20, 1e21, 1e-7, 3.0},
			want:   "- 9223372036854775807\n- 0.5\n- 100000000000000000000.0\n- 1.0e+21\n- 1.0e-7\n- 3\n",
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func TestYAMLText(t *testing.T) {
	tests := map[string]yamlCase{
		"words": {
			reason: "what is not text for every reader is quoted",
			value:  []any{"no", "On", "~", "null", "012", "1e3", "12:30", "2026-01-01", "=", "<<", ""},
			want: `- "no"
- "On"
- "~"
- "null"
- "012"
- "1e3"
- "12:30"
- "2026-01-01"
- "="
- "<<"
- ""
`,
		},
		"grammar": {
			reason: "the encoder quotes what has a meaning in YAML",
			value:  []any{"a: b", "a # b", "/spec/a", "a[0] && b"},
			want:   "- 'a: b'\n- 'a # b'\n- /spec/a\n- a[0] && b\n",
		},
		"lines": {
			reason: "several lines are a block, unless white space would be lost",
			value:  []any{"a\nb\n", "a \nb", "\na"},
			want:   "- |\n  a\n  b\n- \"a \\nb\"\n- \"\\na\"\n",
		},
		"invisible": {
			reason: "nothing hides in a terminal",
			value:  []any{"a\u202eb", "\x7f", "a\tb", "\U000e0001", "ü 漢"},
			want: `- "a\u202Eb"
- "\x7F"
- "a\tb"
- "\U000E0001"
- "ü 漢"
`,
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func TestYAMLOfWhatJSONCannotSay(t *testing.T) {
	if data, err := compare.YAML(math.NaN()); err == nil {
		t.Errorf("encoded NaN as %q", data)
	}
}
