package golden_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
)

type encodeCase struct {
	reason string
	value  any
	want   string
}

func (test encodeCase) run(t *testing.T) {
	t.Helper()
	got, err := golden.Encode(test.value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(test.want, string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", test.reason, diff)
	}
}

func TestEncodeStructure(t *testing.T) {
	type write struct {
		Object string `json:"object"`
		Body   any    `json:"body"`
		Empty  []int  `json:"empty"`
	}
	tests := map[string]encodeCase{
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

func TestEncodeText(t *testing.T) {
	tests := map[string]encodeCase{
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

func TestWhatJSONCannotSayIsAnError(t *testing.T) {
	if data, err := golden.Encode(math.NaN()); err == nil {
		t.Errorf("encoded NaN as %q", data)
	}
	if tree, err := golden.Tree(math.Inf(1)); err == nil {
		t.Errorf("made %v of infinity", tree)
	}
}

func TestParse(t *testing.T) {
	tests := map[string]struct {
		reason  string
		data    string
		want    any
		wantErr string
	}{
		"comments": {
			reason: "comments do not matter",
			data:   "# written by hand\na: [1, 2]\n",
			want:   map[string]any{"a": []any{int64(1), int64(2)}},
		},
		"empty": {reason: "a golden that expects nothing is a mistake", data: "# nothing\n", wantErr: "g.yaml: the golden is empty"},
		"two": {
			reason:  "a second document would never be compared",
			data:    "a: 1\n---\nb: 2\n",
			wantErr: "g.yaml:3:1: a golden is one document, this is another; remove it",
		},
		"malformed": {reason: "mistakes are located", data: "a: no\n", wantErr: "g.yaml:1:4: a: unquoted no is a boolean in YAML 1.1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, errs := golden.Parse(document.File{Name: "g.yaml", Data: []byte(test.data)})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if (test.wantErr == "") != (len(errs) == 0) || !strings.Contains(errs.Error(), test.wantErr) {
				t.Errorf("%s: want %q, have %q", test.reason, test.wantErr, errs.Error())
			}
		})
	}
}

// FuzzRoundTrip says that what is written is read as the same, and that no
// text can break out of its place.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5,null,true,"no","","a\nb","a\n\n"," a\nb"]}`, `"=x"`, `{"":{"":[]}}`, `[[[]],{}]`, `"\u202e"`, `"a\n b\n  c"`,
		`{"` + strings.Repeat("a very long key ", 10) + `":1}`, `"#"`, `"- a"`, `"a: b"`, `"\u0085"`, `1e400`, `1.0000000000001e18`, `-0`, `1E5`,
		`{"? a":"| b"}`, `"---"`, `"..."`, `"a\n---\nb"`, `"a\n...\n"`, `12345678901234567890`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		deep := strings.Count(string(data), "[")+strings.Count(string(data), "{") > 50
		if json.Unmarshal(data, &value) != nil || len(data) > 10_000 || deep {
			t.Skip()
		}
		want, err := golden.Tree(value)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := golden.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, errs := golden.Parse(document.File{Name: "golden.yaml", Data: encoded})
		if len(errs) > 0 {
			t.Fatalf("%s\n%s", errs.Render(), encoded)
		}
		if lines := compare.Diff(want, got); len(lines) > 0 {
			t.Fatalf("%q\n%s", lines, encoded)
		}
	})
}
