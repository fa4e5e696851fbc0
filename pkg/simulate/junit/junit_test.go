package junit_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/junit"
)

// element is what the schema that Jenkins publishes for JUnit reports allows of an
// element, as far as we have it.
type element struct {
	required, optional []string // attributes
	below              []string // in any order
	text               bool
}

func schema() map[string]element {
	outcome := element{optional: []string{"message", "type"}, text: true}
	return map[string]element{
		"testsuites": {
			optional: []string{"name", "time", "tests", "failures", "disabled", "errors"}, below: []string{"testsuite"},
		},
		"testsuite": {
			required: []string{"name"},
			optional: []string{"tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
			below:    []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
		},
		"testcase": {
			required: []string{"name"},
			optional: []string{"assertions", "time", "timestamp", "classname", "status", "class", "file", "line", "log", "group", "url"},
			below:    []string{"skipped", "error", "failure", "system-out", "system-err", "properties"},
		},
		"skipped": outcome, "error": outcome, "failure": outcome, "system-out": {text: true},
	}
}

// check walks through a report and says where it leaves the schema.
func check(data string) error {
	decoder := xml.NewDecoder(strings.NewReader(data))
	open := []string{""}
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := checkStart(open[len(open)-1], token); err != nil {
				return err
			}
			open = append(open, token.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if name := open[len(open)-1]; strings.TrimSpace(string(token)) != "" && !schema()[name].text {
				return fmt.Errorf("%s has the text %q", name, token)
			}
		}
	}
}

func checkStart(parent string, token xml.StartElement) error {
	name := token.Name.Local
	rule, known := schema()[name]
	if !known || parent == "" && name != "testsuites" || parent != "" && !slices.Contains(schema()[parent].below, name) {
		return fmt.Errorf("%q has the element %q", parent, name)
	}
	have := map[string]string{}
	for _, attribute := range token.Attr {
		have[attribute.Name.Local] = attribute.Value
		if !slices.Contains(slices.Concat(rule.required, rule.optional), attribute.Name.Local) {
			return fmt.Errorf("%s has the attribute %s", name, attribute.Name.Local)
		}
	}
	for _, attribute := range rule.required {
		if have[attribute] == "" {
			return fmt.Errorf("%s has no %s", name, attribute)
		}
	}
	for _, attribute := range []string{"tests", "failures", "errors", "skipped", "time"} {
		if _, err := strconv.Atoi(have[attribute]); have[attribute] != "" && err != nil {
			return fmt.Errorf("%s of %s is no number: %w", attribute, name, err)
		}
	}
	return nil
}

// read is how a reader of reports sees them, without a word of ours.
type read struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Out      string `xml:"system-out"`
		Cases    []struct {
			Name      string    `xml:"name,attr"`
			Classname string    `xml:"classname,attr"`
			Failure   []message `xml:"failure"`
			Error     []message `xml:"error"`
			Skipped   []message `xml:"skipped"`
			Out       string    `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type message struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func write(t interface {
	Helper()
	Fatal(args ...any)
}, report simulate.Report,
) (string, read) {
	t.Helper()
	var out strings.Builder
	if err := junit.Write(&out, report); err != nil {
		t.Fatal(err)
	}
	if err := check(out.String()); err != nil {
		t.Fatal(err, out.String())
	}
	var got read
	if err := xml.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	return out.String(), got
}

func example() simulate.Report {
	return simulate.Report{
		Results: []simulate.Result{
			{File: "a.yaml", Name: "pods/passes <&>", Status: simulate.Pass},
			{File: "a.yaml", Name: "pods/new/one", Status: simulate.Pass, Golden: "golden/new.yaml", Updated: true},
			{
				File: "a.yaml", Name: "pods/fails", Status: simulate.Fail, Golden: "golden/fails.yaml",
				Differences: []string{"a: want 1, have 2", "b: want ]]>, have \x1b[31m"}, Diff: "-1\n+2\n", Order: []string{"a: 1, then 2"},
			},
			{
				File: "b.yaml", Name: "pods/circles", Status: simulate.Error,
				Errors: document.Errors{{File: "b.yaml", Line: 3, Column: 5, Message: "the rules do not settle", Hint: "look"}},
				Cycle:  []string{"rule one", "  writes", "rule two"},
			},
			{File: "a.yaml", Name: "pods/skipped", Status: simulate.Skip},
			{File: "golden/old.yaml", Status: simulate.Error, Errors: document.Errors{{Message: "one"}, {Message: "two"}}},
		},
		Coverage: &coverage.Report{Rules: []coverage.Rule{
			{Rule: "set/one", File: "rules.yaml", Line: 8, Matched: 1}, {Rule: "set/two", File: "rules.yaml", Line: 12},
		}},
	}
}

const exampleXML = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="dyncontroller" tests="8" failures="1" errors="3">
  <testsuite name="a.yaml" tests="4" failures="1" errors="0" skipped="1" time="0">
    <testcase name="passes &lt;&amp;&gt;" classname="pods" time="0"></testcase>
    <testcase name="new/one" classname="pods" time="0">
      <system-out><![CDATA[wrote golden/new.yaml]]></system-out>
    </testcase>
    <testcase name="fails" classname="pods" time="0">
      <failure message="a: want 1, have 2 (and 1 more)" type="difference"><![CDATA[  golden/fails.yaml
    a: want 1, have 2
    b: want ]]]]><![CDATA[>, have \u001b[31m
    -1
    +2
  with the queue reversed, it ends differently:
    a: 1, then 2
]]></failure>
    </testcase>
    <testcase name="skipped" classname="pods" time="0">
      <skipped message="the case was not to be run"></skipped>
    </testcase>
  </testsuite>
  <testsuite name="b.yaml" tests="1" failures="0" errors="1" skipped="0" time="0">
    <testcase name="circles" classname="pods" time="0">
      <error message="b.yaml:3:5: the rules do not settle; look" type="error"><![CDATA[  b.yaml:3:5: the rules do not settle
    hint: look
  it goes round in a circle:
    rule one
      writes
    rule two
]]></error>
    </testcase>
  </testsuite>
  <testsuite name="golden/old.yaml" tests="1" failures="0" errors="1" skipped="0" time="0">
    <testcase name="golden/old.yaml" classname="golden/old.yaml" time="0">
      <error message="one (and 1 more)" type="error"><![CDATA[  one

  two
]]></error>
    </testcase>
  </testsuite>
  <testsuite name="coverage" tests="2" failures="0" errors="1" skipped="0" time="0">
    <testcase name="set/one" classname="rules.yaml" time="0"></testcase>
    <testcase name="set/two" classname="rules.yaml" time="0">
      <error message="rules.yaml:12:1: no case exercises the rule set/two; add a case in which it matches" type="coverage"><![CDATA[rules.yaml:12:1: no case exercises the rule set/two
  hint: add a case in which it matches
]]></error>
    </testcase>
    <system-out><![CDATA[RULE     MATCHED     UNMATCHED
set/one  1 case      never
set/two  never       never

rules.yaml:12:1: no case exercises the rule set/two
  hint: add a case in which it matches

coverage: 1 of 2 rules exercised, 0 of 0 conditions seen both true and false
]]></system-out>
  </testsuite>
</testsuites>
`

func TestWrite(t *testing.T) {
	first, _ := write(t, example())
	if diff := cmp.Diff(exampleXML, first); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
	if second, _ := write(t, example()); first != second {
		t.Error("the same report is written differently")
	}
}

func TestNothingIsAReportToo(t *testing.T) {
	if _, got := write(t, simulate.Report{}); got.Tests != 0 || len(got.Suites) != 0 {
		t.Errorf("have %+v", got)
	}
}

// TestAnyReportCanBeRead says that whatever names and messages hold, the report keeps
// to the schema, and its numbers are those of the results.
func TestAnyReportCanBeRead(t *testing.T) {
	anything := rapid.String()
	statuses := rapid.SampledFrom([]simulate.Status{simulate.Pass, simulate.Fail, simulate.Error, simulate.Skip})
	rapid.Check(t, func(t *rapid.T) {
		var report simulate.Report
		for range rapid.IntRange(0, 8).Draw(t, "results") {
			result := simulate.Result{
				File: rapid.SampledFrom([]string{"a", "b\x00", "c\xff"}).Draw(t, "file"), Name: "t/n" + anything.Draw(t, "name"), Status: statuses.Draw(t, "status"),
			}
			switch result.Status {
			case simulate.Fail:
				result.Differences = []string{anything.Draw(t, "difference") + "]]>" + anything.Draw(t, "more")}
			case simulate.Error:
				result.Errors = document.Errors{{Message: anything.Draw(t, "message")}}
				result.Cycle = []string{anything.Draw(t, "cycle")}
			case simulate.Pass, simulate.Skip:
			}
			report.Results = append(report.Results, result)
		}
		text, got := write(t, report)
		want := []int{len(report.Results), report.Count(simulate.Fail), report.Count(simulate.Error), report.Count(simulate.Skip)}
		have, sums := []int{got.Tests, got.Failures, got.Errors, 0}, make([]int, 4)
		for _, suite := range got.Suites {
			counted := []int{len(suite.Cases), 0, 0, 0}
			for _, c := range suite.Cases {
				counted[1] += len(c.Failure)
				counted[2] += len(c.Error)
				counted[3] += len(c.Skipped)
			}
			if diff := cmp.Diff(counted, []int{suite.Tests, suite.Failures, suite.Errors, suite.Skipped}); diff != "" {
				t.Errorf("the suite %s counts wrongly: %s", suite.Name, diff)
			}
			for i := range sums {
				sums[i] += counted[i]
			}
			have[3] += suite.Skipped
		}
		if !slices.Equal(want, have) || !slices.Equal(want, sums) || !utf8.ValidString(text) {
			t.Errorf("want %v, the head says %v and the cases are %v", want, have, sums)
		}
	})
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, fs.ErrClosed }

func TestWriteReportsAFailedWrite(t *testing.T) {
	if err := junit.Write(failingWriter{}, simulate.Report{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("have %v", err)
	}
}

// TestRemarks says that what a case hides by passing is in the report.
func TestRemarks(t *testing.T) {
	report := simulate.Report{Results: []simulate.Result{
		{File: "a.yaml", Name: "a/b", Status: simulate.Pass, Updated: true, Golden: "c.yaml", EvaluationsFailed: 1, WritesRefused: 2},
	}}
	var out strings.Builder
	if err := junit.Write(&out, report); err != nil {
		t.Fatal(err)
	}
	if want := "<![CDATA[wrote c.yaml, 1 evaluation failed, 2 writes refused]]>"; !strings.Contains(out.String(), want) {
		t.Errorf("want %s, have %s", want, out.String())
	}
}
