package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// official is the schema that OASIS publishes.
func official(t testing.TB) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(sarifSchema, content); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func check(t testing.TB, schema *jsonschema.Schema, report *Report) {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, SARIF); err != nil {
		t.Fatal(err)
	}
	content, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(content); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestSARIFSchema(t *testing.T) {
	schema := official(t)
	for name, report := range map[string]*Report{
		"everything": everything(t),
		"nothing":    {Loaded: true, Version: "v1.2.3"},
		"no version": {},
		"strange names": {Directory: "/home/me", Found: document.Errors{
			{File: "a b/%20?#[]\\:.yaml", Line: 1, Column: 1, Message: "m"},
			{File: "c:d.yaml", Message: "m"},
			{File: "//host/share.yaml", Message: "m"},
			{File: "/not below/é.yaml", Line: 2, Column: 3, Length: 4, Message: "m", Path: "spec"},
			{Message: "m"},
		}},
	} {
		t.Run(name, func(t *testing.T) { check(t, schema, report) })
	}
}

// TestSARIFSchemaRefuses holds that the schema is one: it finds what is wrong.
func TestSARIFSchemaRefuses(t *testing.T) {
	schema := official(t)
	for name, text := range map[string]string{
		"no runs":    `{"version": "2.1.0"}`,
		"no message": `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a"}}, "results": [{"ruleId": "a"}]}]}`,
		"columns":    `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a"}}, "columnKind": "bytes"}]}`,
		"no uri":     `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a", "informationUri": "a b"}}}]}`,
	} {
		content, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(content) == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func FuzzSARIF(f *testing.F) {
	schema := official(f)
	f.Add("a.yaml", "message", "path", 1, 2, 3)
	f.Add("../\x00\xff", "\u2028{0}[a](1)", "", 0, 0, 0)
	f.Add("file://x:y@z/%zz", "", "a", 1<<40, 1, 1)
	f.Fuzz(func(t *testing.T, file, message, path string, line, column, length int) {
		if message == "" || line < 0 || column < 1 || length < 0 || line > 1<<30 || column > 1<<30 || length > 1<<30 {
			t.Skip("no finding is like that")
		}
		check(t, schema, &Report{Found: document.Errors{
			{File: file, Line: line, Column: column, Length: length, Path: path, Message: message},
		}})
	})
}

// decoded is what a tool reads of SARIF, written down by itself.
type decoded struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID string
				}
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           struct{ StartLine, StartColumn, EndColumn int }
				}
			}
			PartialFingerprints map[string]string
		}
	}
}

func decode(t *testing.T, report *Report) decoded {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, SARIF); err != nil {
		t.Fatal(err)
	}
	var log decoded
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestSARIFMeaning holds that what a tool reads is what was found.
func TestSARIFMeaning(t *testing.T) {
	report := everything(t)
	run := decode(t, report).Runs[0]
	var got []string
	for _, result := range run.Results {
		if rule := run.Tool.Driver.Rules[result.RuleIndex].ID; rule != result.RuleID {
			t.Errorf("the rule of %s is %s", result.RuleID, rule)
		}
		place := "nowhere"
		if len(result.Locations) > 0 {
			at := result.Locations[0].PhysicalLocation
			place = fmt.Sprint(at.ArtifactLocation, at.Region)
		}
		got = append(got, fmt.Sprintln(result.Level, result.RuleID, place))
	}
	want := []string{
		"error invalid { } {5 10 28}\n",
		"error parameter nowhere\n",
		"error yaml {file:///elsewhere/d.yaml } {0 0 0}\n",
		"error unknown-field {rules/a%20b.yaml %SRCROOT%} {5 5 8}\n",
		"warning unlimited-delete {rules/a%20b.yaml %SRCROOT%} {6 14 15}\n",
		"note untyped {rules/c.yaml %SRCROOT%} {4 11 14}\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFingerprints(t *testing.T) {
	fingerprints := func(text string) []string {
		documents, errs := document.Parse(document.File{Name: "a.yaml", Data: []byte(text)})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		report := &Report{}
		for _, rule := range documents[0].Elements() {
			report.Found = append(report.Found, rule.Errorf("", "m"))
		}
		var out []string
		for _, result := range decode(t, report).Runs[0].Results {
			out = append(out, result.PartialFingerprints["rulesAndLine/v1"])
		}
		return out
	}
	before := fingerprints("- a\n- b\n- a\n")
	if before[0] == before[1] || before[0] == before[2] {
		t.Errorf("what is another finding has another fingerprint: %q", before)
	}
	if after := fingerprints("# A comment.\n\n-   c\n- a\n-     b\n- a\n"); after[1] != before[0] || after[3] != before[2] || slices.Contains(before, after[0]) {
		t.Errorf("lines above, and comments, change nothing: %q, %q", before, after)
	}
}

// TestCodesAreDocumented holds that the guide has the table of codes.
func TestCodesAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/validating.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, code := range document.Codes() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", code.Code, code.Severity, code.Text, code.Advice)
	}
	if !strings.Contains(string(guide), table.String()) {
		t.Errorf("docs/guide/validating.md wants these rows:\n%s", &table)
	}
}
