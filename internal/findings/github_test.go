package findings

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestGitHub(t *testing.T) {
	cases := map[string]struct {
		reason string
		found  document.Error
		want   string
	}{
		"everything": {
			"The last column is that of the last character.",
			document.Error{File: "a.yaml", Line: 3, Column: 5, Length: 5, Message: "m", Hint: "h", Code: document.CodeUnknownField},
			"::error file=a.yaml,line=3,col=5,endColumn=9,title=unknown-field::m; h",
		},
		"warning":       {"Severities have their commands.", document.Error{Message: "m", Severity: document.Warning}, "::warning title=invalid::m"},
		"note":          {"A note is a notice.", document.Error{Message: "m", Severity: document.Note}, "::notice title=invalid::m"},
		"no length":     {"A column by itself ends where it starts.", document.Error{File: "a", Line: 1, Column: 2, Message: "m"}, "::error file=a,line=1,col=2,endColumn=2,title=invalid::m"},
		"file only":     {"The file is known, the line is not.", document.Error{File: "a", Message: "m"}, "::error file=a,title=invalid::m"},
		"input":         {"Standard input has no file to show it in.", document.Error{File: "-", Line: 1, Column: 2, Message: "m"}, "::error title=invalid::m"},
		"flag":          {"What has no file says what it is about.", document.Error{File: "--param a.b", Message: "m"}, "::error title=invalid::--param a.b: m"},
		"escapes":       {"Per cent signs and line breaks would end or change the message.", document.Error{Message: "50%25\r\n::error::x, y: z"}, `::error title=invalid::50%2525\u000d\n::error::x, y: z`},
		"escapes, file": {"In a property, colons and commas would, too.", document.Error{File: "a,b:c%\n.yaml", Message: "m"}, "::error file=a%2Cb%3Ac%25%0A.yaml,title=invalid::m"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			report := Report{Found: document.Errors{&tc.found}}
			if got, _, _ := strings.Cut(report.github(), "\n"); got != tc.want {
				t.Errorf("%s\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
}

// FuzzGitHub holds that whatever a finding says, it stays one command.
func FuzzGitHub(f *testing.F) {
	f.Add("a.yaml", "message", "hint", "path")
	f.Add("::error::", "a\n::set-output name=x::y", "\r", ",:%0A")
	f.Fuzz(func(t *testing.T, file, message, hint, path string) {
		report := Report{Found: document.Errors{{File: file, Line: 1, Column: 1, Message: message, Hint: hint, Path: path}}}
		lines := strings.Split(strings.ReplaceAll(report.github(), "\r", "\n"), "\n")
		if len(lines) != 3 || lines[1] != "1 mistake" || lines[2] != "" {
			t.Fatalf("%q", lines)
		}
		properties, text, found := strings.Cut(strings.TrimPrefix(lines[0], "::error "), "::")
		if !found || unescape(text) != report.sentence(report.Found[0]) {
			t.Errorf("the message of %q is not %q", lines[0], message)
		}
		if want := report.file(report.Found[0]); want != "" {
			name, _, _ := strings.Cut(strings.TrimPrefix(properties, "file="), ",")
			if unescape(name) != want {
				t.Errorf("the file of %q is not %q", lines[0], file)
			}
		}
	})
}

// unescape does what GitHub does.
func unescape(text string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(text)
}
