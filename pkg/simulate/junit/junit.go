// Package junit writes the report of tests as JUnit XML, which CI systems read.
package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

// suites, suite and the rest are in the order of elements and attributes that the
// schema of Jenkins has.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suites   []*suite `xml:"testsuite"`
}

type suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	// Time is always 0: the same tests give the same report.
	Time  int        `xml:"time,attr"`
	Cases []testcase `xml:"testcase"`
	Out   *text      `xml:"system-out"`
}

type testcase struct {
	Name      string   `xml:"name,attr"`
	Classname string   `xml:"classname,attr"`
	Time      int      `xml:"time,attr"`
	Skipped   *outcome `xml:"skipped"`
	Error     *outcome `xml:"error"`
	Failure   *outcome `xml:"failure"`
	Out       *text    `xml:"system-out"`
}

type outcome struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

type text struct {
	Text string `xml:",cdata"`
}

// Write writes the report: one testsuite for each file, and one for the coverage if
// there is any, in which each rule is a testcase. A difference is a failure, what
// could not be judged an error, and what was not to be run is skipped.
func Write(w io.Writer, report simulate.Report) error {
	all := &suites{Name: "dyncontroller"}
	byFile := map[string]*suite{}
	for _, result := range report.Results {
		name := clean(result.File)
		if byFile[name] == nil {
			byFile[name] = &suite{Name: name}
			all.Suites = append(all.Suites, byFile[name])
		}
		byFile[name].add(caseOf(result))
	}
	if report.Coverage != nil {
		all.Suites = append(all.Suites, covered(report.Coverage))
	}
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(data)+"\n")
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (s *suite) add(c testcase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// caseOf names what is wrong with a whole file after the file.
func caseOf(r simulate.Result) testcase {
	test, name, isCase := strings.Cut(clean(r.Name), "/")
	if !isCase {
		test, name = clean(r.File), clean(cmp.Or(r.Name, r.File))
	}
	out := testcase{Name: name, Classname: test}
	switch r.Status {
	case simulate.Fail:
		out.Failure = &outcome{Message: first(r.Differences), Type: "difference", Text: clean(r.Explanation())}
	case simulate.Error:
		out.Error = &outcome{Message: firstOf(r.Errors), Type: "error", Text: clean(r.Explanation())}
	case simulate.Skip:
		out.Skipped = &outcome{Message: "the case was not to be run"}
	case simulate.Pass:
	}
	if remarks := r.Remarks(); len(remarks) > 0 {
		out.Out = &text{clean(strings.Join(remarks, ", "))}
	}
	return out
}

// covered has an error for each rule that no case exercises.
func covered(report *coverage.Report) *suite {
	out := &suite{Name: "coverage"}
	for _, rule := range report.Rules {
		c := testcase{Name: clean(rule.Rule), Classname: clean(rule.File)}
		if !rule.Exercised() {
			errs := coverage.Report{Rules: []coverage.Rule{rule}}.Errors()
			c.Error = &outcome{Message: firstOf(errs), Type: "coverage", Text: clean(errs.Render())}
		}
		out.add(c)
	}
	out.Out = &text{clean(report.Text())}
	return out
}

func firstOf(errs document.Errors) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return first(lines)
}

// first says how many more there are.
func first(lines []string) string {
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return clean(lines[0])
	default:
		return fmt.Sprintf("%s (and %d more)", clean(lines[0]), len(lines)-1)
	}
}

// clean replaces what XML cannot hold, even escaped.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000 && r <= 0x10ffff:
			return r
		default:
			return '\ufffd'
		}
	}, text)
}
