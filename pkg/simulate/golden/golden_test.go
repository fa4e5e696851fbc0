package golden_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

type diffCase struct {
	reason     string
	want, have any
	lines      []string
}

func (test diffCase) run(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(test.lines, golden.Diff(test.want, test.have)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", test.reason, diff)
	}
}

func TestDiffScalars(t *testing.T) {
	const long = "a text of which the first half and more is the same in both, so that a reader must be shown the place: "
	tests := map[string]diffCase{
		"number": {reason: "1 and 1.0 are the same number", want: []any{1.0, int64(2)}, have: []any{int64(1), 2.0}},
		"exact": {
			reason: "large integers are not rounded",
			want:   int64(9007199254740993), have: 9007199254740992.0,
			lines: []string{"(the whole): want 9007199254740993, have 9007199254740992"},
		},
		"largest": {
			reason: "a float beyond int64 is not wrapped around",
			want:   int64(math.MaxInt64), have: math.MaxFloat64,
			lines: []string{"(the whole): want 9223372036854775807, have 1.7976931348623157e+308"},
		},
		"text": {
			reason: "text is not a number",
			want:   "4", have: int64(4), lines: []string{`(the whole): want "4", have 4`},
		},
		"long": {
			reason: "long values are cut to where they differ",
			want:   long + "a", have: long + "b",
			lines: []string{`(the whole): want ...` + long[len(long)-20:] + `a", have ...` + long[len(long)-20:] + `b"`},
		},
		"longer": {
			reason: "what is only in one of them is cut too",
			want:   nil, have: strings.Repeat("x", 200),
			lines: []string{`(the whole): want null, have "` + strings.Repeat("x", 99) + "..."},
		},
		"terminal": {
			reason: "values cannot move the cursor",
			want:   "a\x1b[2J", have: map[string]any{"\u009b": "b"},
			lines: []string{`(the whole): want "a\x1b[2J", have {"\u009B":"b"}`},
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func TestDiffStructure(t *testing.T) {
	write := func(name string, replicas int64) any {
		return map[string]any{"writes": []any{map[string]any{"body": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app.kubernetes.io/name": name}},
			"spec":     map[string]any{"pd": map[string]any{"replicas": replicas}},
		}}}}
	}
	one, two := []any{int64(1)}, []any{int64(1), int64(2)}
	tests := map[string]diffCase{
		"same": {reason: "what is equal is not shown", want: write("a", 4), have: write("a", 4)},
		"nested": {
			reason: "each field is named by its path, in order",
			want:   write("a", 4), have: write("b", 6),
			lines: []string{
				`writes[0].body.metadata.labels["app.kubernetes.io/name"]: want "a", have "b"`,
				"writes[0].body.spec.pd.replicas: want 4, have 6",
			},
		},
		"null": {
			reason: "an absent key is not a null",
			want:   map[string]any{"a": nil}, have: map[string]any{}, lines: []string{"a: want null, have nothing"},
		},
		"additional": {
			reason: "what was not expected is shown",
			want:   map[string]any{}, have: map[string]any{"a": map[string]any{"b<": "c"}},
			lines: []string{`a: want nothing, have {"b<":"c"}`},
		},
		"longer list":  {reason: "an element too many", want: one, have: two, lines: []string{"[1]: want nothing, have 2"}},
		"shorter list": {reason: "an element too few", want: two, have: one, lines: []string{"[1]: want 2, have nothing"}},
		"kinds": {
			reason: "a map is not a list, nor a scalar",
			want:   map[string]any{"a": "x", "b": []any{}, "c": map[string]any{}},
			have:   map[string]any{"a": map[string]any{}, "b": true, "c": []any{}},
			lines:  []string{`a: want "x", have {}`, "b: want [], have true", "c: want {}, have []"},
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
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
		if lines := golden.Diff(want, got); len(lines) > 0 {
			t.Fatalf("%q\n%s", lines, encoded)
		}
	})
}
