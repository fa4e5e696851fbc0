package document

import (
	"regexp"
	"strings"
	"testing"
)

func TestCodes(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[Code]bool{}
	for _, row := range Codes() {
		if !name.MatchString(string(row.Code)) || seen[row.Code] {
			t.Errorf("%q is no code, or is there twice", row.Code)
		}
		seen[row.Code] = true
		for _, text := range []string{row.Text, row.Advice} {
			if len(text) > 100 || !strings.HasSuffix(text, ".") || strings.ContainsAny(text, "|\n`") {
				t.Errorf("%s: want a short sentence, have %q", row.Code, text)
			}
		}
		if got := Describe(row.Code); got != row {
			t.Errorf("%s is described as %s", row.Code, got.Code)
		}
	}
	for _, unknown := range []Code{"", "no-such-code"} {
		if got := Describe(unknown).Code; got != CodeInvalid {
			t.Errorf("%q is described as %s", unknown, got)
		}
	}
}

// TestCodesOfParser holds that what is wrong with a file as such is told from what
// is wrong with what it says.
func TestCodesOfParser(t *testing.T) {
	for text, want := range map[string]Code{
		"a: [":      CodeYAML,
		"a: on":     CodeYAML,
		"\xff\xfea": CodeYAML,
		"a: &x b":   CodeYAML,
	} {
		_, errs := Parse(File{Name: "f", Data: []byte(text)})
		if len(errs) == 0 || errs[0].Code != want {
			t.Errorf("%q: want %s, got %v", text, want, errs)
		}
	}
}
