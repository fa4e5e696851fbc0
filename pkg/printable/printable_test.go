package printable_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ text, want string }{
		"plain":                 {"a: [b] é 漢 \u00a0 👩\u200d💻 \ufffd", "a: [b] é 漢 \u00a0 👩\u200d💻 \ufffd"},
		"line breaks":           {"a\nb\r\nc\u2028d\u2029e\u0085f\vg\f", `a\nb\u000d\nc\u2028d\u2029e\u0085f\u000bg\u000c`},
		"tabs":                  {"a\tb", `a\tb`},
		"escapes":               {"\x1b[31mred\x1b]8;;x\x07\u009b31m\x7f\x00", `\u001b[31mred\u001b]8;;x\u0007\u009b31m\u007f\u0000`},
		"another direction":     {"\u202ea\u2066b\u200fc\u061cd", `\u202ea\u2066b\u200fc\u061cd`},
		"invisible":             {"a\u200bb\ufeffc\u00add\U000e0041", `a\u200bb\ufeffc\u00add\udb40\udc41`},
		"no UTF-8":              {"a\xffb\xc2", "a\ufffdb\ufffd"},
		"as if it were escaped": {`a\nb`, `a\nb`},
	} {
		if got := printable.Line(tc.text); got != tc.want {
			t.Errorf("%s: want %q, have %q", reason, tc.want, got)
		}
	}
	const want = "a\\nb c\\nd 7 /e\\nf\n"
	if got := printable.Sprintf("%s %v %d %s\n", "a\nb", errors.New("c\nd"), 7, stringer{}); got != want {
		t.Errorf("want %q, have %q", want, got)
	}
}

type stringer struct{}

func (stringer) String() string { return "/e\nf" }

func TestWriter(t *testing.T) {
	t.Parallel()
	const style = "\x1b[31m"
	for reason, tc := range map[string]struct {
		writes []string
		want   string
	}{
		"lines stay":            {[]string{"a\n", "\n\tb\n"}, "a\n\n\tb\n"},
		"a style of ours":       {[]string{style + "a\x1b[32m"}, style + `a\u001b[32m`},
		"a command":             {[]string{"::error::a\n  ::add-mask::b\n\u00a0::c"}, ":\\u003aerror::a\n  :\\u003aadd-mask::b\n\u00a0:\\u003ac"},
		"in several writes":     {[]string{"a\n ", ":", ":error::a"}, "a\n :\\u003aerror::a"},
		"no command":            {[]string{"a ::b\n- ::1\n12 | ::error::"}, "a ::b\n- ::1\n12 | ::error::"},
		"older, anywhere":       {[]string{"a ##[error]b ##vso[c]d ###", "[e]"}, `a ##\u005berror]b ##vso\u005bc]d ###\u005be]`},
		"hashes":                {[]string{"## a [b] #[c] ## [d]"}, "## a [b] #[c] ## [d]"},
		"what Line has escaped": {[]string{printable.Line("a\n\x1b\xff")}, printable.Line("a\n\x1b\xff")},
	} {
		var out bytes.Buffer
		w := printable.NewWriter(&out, style)
		for _, text := range tc.writes {
			if n, err := fmt.Fprint(w, text); n != len(text) || err != nil {
				t.Errorf("%s: wrote %d, %v", reason, n, err)
			}
		}
		if got := out.String(); got != tc.want {
			t.Errorf("%s: want %q, have %q", reason, tc.want, got)
		}
	}
	var out bytes.Buffer
	_, _ = fmt.Fprint(printable.NewWriter(&out).Commands(), "::error::a\x1b ##[b")
	if want := `::error::a\u001b ##\u005bb`; out.String() != want {
		t.Errorf("want %q, have %q", want, out.String())
	}
}

// TestJSON holds that what is escaped in JSON is the same JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"\u202e ##[": strings.ToValidUTF8(rapid.String().Draw(t, "text"), "")}
		var out bytes.Buffer
		if err := json.NewEncoder(printable.NewWriter(&out)).Encode(value); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || !reflect.DeepEqual(got, value) {
			t.Fatalf("%q is %v, %v", out.String(), got, err)
		}
		for _, r := range out.String() {
			if r != '\n' && printable.Line(string(r)) != string(r) || !utf8.Valid(out.Bytes()) {
				t.Fatalf("%q has %q", out.String(), r)
			}
		}
	})
}
