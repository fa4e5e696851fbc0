package simulate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestWhatJSONCannotSayIsAnError(t *testing.T) {
	if tree, err := treeOf(math.Inf(1)); err == nil {
		t.Errorf("made %v of infinity", tree)
	}
}

func TestParseGolden(t *testing.T) {
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
		"malformed": {reason: "mistakes are located", data: "a: no\n", wantErr: "g.yaml:1:4: a: unquoted no is not the same"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, errs := parseGolden(document.File{Name: "g.yaml", Data: []byte(test.data)})
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
		want, err := treeOf(value)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := compare.YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		got, errs := parseGolden(document.File{Name: "golden.yaml", Data: encoded})
		if len(errs) > 0 {
			t.Fatalf("%s\n%s", errs.Render(), encoded)
		}
		if lines := compare.Diff(want, got); len(lines) > 0 {
			t.Fatalf("%q\n%s", lines, encoded)
		}
	})
}
