package findings

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// rules is what the findings of the tests are about.
const rules = `spec:
  resources: {ticks: {version: v1, resource: ticks}}
  rules:
  - name: one
    wen: "größer 日本 ${ 50%"
    actions: [{delete: {}}]
  - name: two
    wen: x
  - name: three
    wen: x
`

// at returns a finding about a value of the rules in a file of that name.
func at(t *testing.T, file string, place func(rule *document.Node) *document.Node, hint, message string) *document.Error {
	t.Helper()
	documents, errs := document.Parse(document.File{Name: file, Data: []byte(rules)})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return place(documents[0].Get("spec").Get("rules").Elements()[0]).Errorf(hint, "%s", message)
}

func key(name string) func(*document.Node) *document.Node {
	return func(rule *document.Node) *document.Node { return rule.Key(name) }
}

func value(name string) func(*document.Node) *document.Node {
	return func(rule *document.Node) *document.Node { return rule.Get(name) }
}

// everything has a finding of each severity, at each kind of place.
func everything(t *testing.T) *Report {
	t.Helper()
	return &Report{Version: "v1.2.3", Directory: "/home/me", Found: document.Errors{
		at(t, "rules/a b.yaml", value("actions"), "give the rule limits", "the rule deletes without limits").Coded(document.CodeUnlimitedDelete).Warn(),
		at(t, "/home/me/rules/c.yaml", value("name"), "give its CRD with --crds", "no schema is known for ticks").Coded(document.CodeUntyped).Note(),
		at(t, "rules/a b.yaml", key("wen"), `did you mean "when"?`, `unknown field "wen"`).Coded(document.CodeUnknownField),
		at(t, "-", value("wen"), "", "the ${ that starts here is not closed: 100%"),
		{File: "/elsewhere/d.yaml", Message: "the file is UTF-16", Hint: "save it as UTF-8", Code: document.CodeYAML},
		{File: "--param one.least", Message: "no set has this parameter", Code: document.CodeParameter},
	}}
}

func TestFormats(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			if err := everything(t).Write(&out, format); err != nil {
				t.Fatal(err)
			}
			// The codes would make it long, and are in the documents.
			golden(t, "everything."+format, sarifRules.ReplaceAll(out.Bytes(), []byte(`"rules": []`)))
		})
	}
}

var sarifRules = regexp.MustCompile(`(?s)"rules": \[\n {12}.*?\n {10}\]`)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if os.Getenv("CI") == "true" {
			t.Fatal("-update is not for CI")
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSummary(t *testing.T) {
	mistake, other := &document.Error{Message: "m"}, &document.Error{Message: "o"}
	warning := &document.Error{Message: "w", Severity: document.Warning}
	note := &document.Error{Message: "n", Severity: document.Note}
	cases := map[string]struct {
		reason string
		report Report
		want   string
		valid  bool
	}{
		"clean":             {"One rule is no rules.", Report{Loaded: true, Rules: []string{"a/b"}}, "valid: 1 rule\n", true},
		"none":              {"A set may have none.", Report{Loaded: true}, "valid: 0 rules\n", true},
		"nothing":           {"Where no path could be read, others say why.", Report{}, "", false},
		"mistakes":          {"They are counted, each once.", Report{Found: document.Errors{mistake, other, mistake}}, "2 mistakes\n", false},
		"warning":           {"It does not make rules invalid.", Report{Loaded: true, Found: document.Errors{warning}}, "valid: 0 rules, 1 warning\n", true},
		"strict":            {"It does where it was asked to.", Report{Loaded: true, Strict: true, Found: document.Errors{warning}}, "1 warning; --strict takes no warnings\n", false},
		"strict, with note": {"A note never counts.", Report{Loaded: true, Strict: true, Found: document.Errors{note}}, "valid: 0 rules, 1 note\n", true},
		"all": {
			"The worst comes first, and a mistake needs no word on warnings.",
			Report{Strict: true, Found: document.Errors{note, warning, mistake}},
			"1 mistake, 1 warning, 1 note\n", false,
		},
		"a test":            {"Who keeps tests beside the rules may think that they were checked.", Report{Loaded: true, Tests: 1}, "valid: 0 rules; 1 test not looked at, which dyncontroller test runs\n", true},
		"tests":             {"Whatever else there is to say.", Report{Found: document.Errors{mistake}, Tests: 2}, "1 mistake; 2 tests not looked at, which dyncontroller test runs\n", false},
		"no rule":           {"There is nothing to say where others say why.", Report{Tests: 2}, "", false},
		"mistake in loaded": {"It counts however it came about.", Report{Loaded: true, Found: document.Errors{mistake}}, "1 mistake\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.report.summary(); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
			if got := tc.report.Valid(); got != tc.valid {
				t.Errorf("%s\nwant valid %t, got %t", tc.reason, tc.valid, got)
			}
		})
	}
}

// TestSameInEveryFormat holds that no format leaves a finding out, whatever is in
// it, and that each can be read again by what it was made for.
func TestSameInEveryFormat(t *testing.T) {
	report := everything(t)
	for _, format := range Formats() {
		var out bytes.Buffer
		if err := report.Write(&out, format); err != nil {
			t.Fatal(err)
		}
		for _, found := range report.Found {
			message, err := json.Marshal(found.Message)
			if err != nil {
				t.Fatal(err)
			}
			escaped := strings.Trim(string(message), `"`)
			if text := out.String(); !strings.Contains(text, found.Message) && !strings.Contains(text, escaped) &&
				!strings.Contains(text, githubMessage.Replace(found.Message)) {
				t.Errorf("%s leaves out %q:\n%s", format, found.Message, text)
			}
		}
	}
}

type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	for _, format := range Formats() {
		if err := everything(t).Write(full{}, format); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", format, err)
		}
	}
}

func TestFile(t *testing.T) {
	cases := map[string]struct{ reason, directory, file, want string }{
		"relative":         {"It is so already.", "/home/me", "rules/a.yaml", "rules/a.yaml"},
		"above":            {"What is above stays above.", "/home/me", "../a.yaml", "../a.yaml"},
		"absolute, below":  {"A tool looks for it in the repository.", "/home/me", "/home/me/rules/a.yaml", "rules/a.yaml"},
		"absolute, beside": {"It is not in the repository.", "/home/me", "/workshop/a.yaml", "/workshop/a.yaml"},
		"no directory":     {"Nothing to be relative to.", "", "/home/me/a.yaml", "/home/me/a.yaml"},
		"standard input":   {"It is no file.", "/home/me", "-", ""},
		"command line":     {"Nor is this.", "/home/me", "--param a.b", ""},
		"nowhere":          {"Nor is nothing.", "/home/me", "", ""},
	}
	for name, tc := range cases {
		report := Report{Directory: tc.directory}
		if got := report.file(&document.Error{File: tc.file}); got != tc.want {
			t.Errorf("%s: %s\nwant %q, got %q", name, tc.reason, tc.want, got)
		}
	}
}
