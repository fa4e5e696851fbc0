package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

// Status is what became of a case.
type Status string

// The statuses. A case that could not be judged is an error, never a pass.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Error Status = "error"
	Skip  Status = "skip"
)

// Result is what became of a case, or, without a name, of a whole file.
type Result struct {
	File   string `json:"file"`
	Name   string `json:"name,omitempty"` // test/case
	Status Status `json:"status"`
	Golden string `json:"golden,omitempty"`
	// Updated says that the golden was written.
	Updated bool `json:"updated,omitempty"`
	// EvaluationsFailed and WritesRefused are how many of each there were, in the golden
	// too: a case may want them.
	EvaluationsFailed int `json:"evaluationsFailed,omitempty"`
	WritesRefused     int `json:"writesRefused,omitempty"`
	// Differences are those of a failed case, a line for each field.
	Differences []string `json:"differences,omitempty"`
	// Diff shows the same as a unified diff of the golden.
	Diff string `json:"diff,omitempty"`
	// Explanations say how rules came to what differs: the first ones, in order.
	Explanations []Explanation `json:"explanations,omitempty"`
	// Cycle is the path of a case that does not settle, in lines to be shown as they
	// are: rule, write, rule, write.
	Cycle []string `json:"cycle,omitempty"`
	// Order is what comes out differently with the queue reversed, a line for each
	// difference.
	Order []string `json:"order,omitempty"`
	// Errors are what is wrong with it. In JSON, each is as `validate -o json` has it.
	Errors document.Errors `json:"-"`

	brief    []string // Differences for people, without what follows from the others
	suspects []suspect
}

// MarshalJSON implements [json.Marshaler].
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // Whoever encodes the report decides.
	err := encoder.Encode(struct {
		plain
		Errors []document.Finding `json:"errors,omitempty"`
	}{plain(r), r.Errors.Findings()})
	return data.Bytes(), err
}

// Report is the outcome of all that was run, in the order of the files and of
// the cases in them.
type Report struct {
	Results []Result `json:"results"`
	// Warnings are about the rules, whatever becomes of the cases.
	Warnings document.Errors `json:"-"`
	// Coverage says which rules the cases exercise, nil where nobody asked.
	Coverage *coverage.Report `json:"coverage,omitempty"`
}

// Count says how many results have the status.
func (r Report) Count(status Status) int {
	n := 0
	for _, result := range r.Results {
		if result.Status == status {
			n++
		}
	}
	return n
}

// Passed reports whether every case that was to be run has passed and, where that was
// asked for, every rule is exercised.
func (r Report) Passed() bool {
	return r.Count(Fail)+r.Count(Error) == 0 && (r.Coverage == nil || len(r.Coverage.Errors()) == 0)
}

// Summary counts the results in one line.
func (r Report) Summary() string {
	out := fmt.Sprintf("%d passed, %d failed, %d in error", r.Count(Pass), r.Count(Fail), r.Count(Error))
	if skipped := r.Count(Skip); skipped > 0 {
		out += fmt.Sprintf(", %d skipped", skipped)
	}
	return out
}

// mostDifferences is how many fields a brief report shows for each case.
const mostDifferences = 20

// Text is the report for people: a line for each case, below it what is wrong with it, and a
// summary. The verbose form adds skipped cases, all differences and unified diffs.
func (r Report) Text(verbose bool) string {
	var out strings.Builder
	for _, result := range r.Results {
		if result.Status != Skip || verbose {
			result.writeText(&out, verbose)
		}
	}
	if r.Count(Fail) > 0 {
		out.WriteString("\nwant is what the golden or the test says, have is what the rules do now")
		if slices.ContainsFunc(r.Results, func(r Result) bool { return r.Status == Fail && r.Golden != "" }) {
			out.WriteString("; --update writes goldens")
		}
		out.WriteString("\n")
	}
	if r.Coverage != nil {
		out.WriteString("\n" + r.Coverage.Text())
	}
	out.WriteString("\n" + r.Summary() + "\n")
	return out.String()
}

func (r Result) writeText(out *strings.Builder, verbose bool) {
	name := r.Name
	if name == "" {
		name = r.File
	}
	out.WriteString(printable.Sprintf("%-5s %s", strings.ToUpper(string(r.Status)), name))
	if remarks := r.Remarks(); len(remarks) > 0 {
		out.WriteString(" (" + printable.Line(strings.Join(remarks, ", ")) + ")")
	}
	out.WriteString("\n")
	r.explain(out, verbose)
}

// Remarks are what is to be known of a case although it passed: that its golden is new,
// that evaluations failed, that writes were refused.
func (r Result) Remarks() []string {
	var out []string
	if r.Updated {
		out = append(out, "wrote "+r.Golden)
	}
	if r.Status == Pass && r.EvaluationsFailed > 0 {
		out = append(out, document.Count(r.EvaluationsFailed, "evaluation")+" failed")
	}
	if r.Status == Pass && r.WritesRefused > 0 {
		out = append(out, document.Count(r.WritesRefused, "write")+" refused")
	}
	return out
}

func (r Result) explain(out *strings.Builder, verbose bool) {
	if r.Status == Fail {
		out.WriteString("  " + printable.Line(cmp.Or(r.Golden, r.File)) + "\n")
		r.writeDifferences(out, verbose)
	}
	indent(out, "  ", r.Errors.Render())
	section(out, "it goes round in a circle:", r.Cycle)
	section(out, "with the queue reversed, it ends differently:", r.Order)
}

func (r Result) writeDifferences(out *strings.Builder, verbose bool) {
	shown := r.Differences
	if !verbose {
		if len(r.brief) > 0 {
			shown = r.brief
		}
		shown = document.Few(shown, mostDifferences)
	}
	indent(out, "    ", strings.Join(printable.Lines(shown), "\n"))
	if verbose {
		indent(out, "    ", r.Diff)
	}
	for _, e := range r.Explanations {
		at := "at"
		if e.Earlier {
			at = "not evaluated since"
		}
		at += " " + e.Trace.Now.UTC().Format(time.RFC3339)
		if e.Step != "" {
			at = fmt.Sprintf("after %q, %s", e.Step, at)
		}
		if verbose {
			out.WriteString(printable.Sprintf("\n    why %s, %s:\n", e.Of, at))
			indent(out, "      ", e.Trace.Tree())
			continue
		}
		out.WriteString(printable.Sprintf("\n    why, %s:\n", at))
		indent(out, "      ", e.Trace.Brief())
	}
}

// Explanation is what the verbose report says below the line of the case, empty for
// one that passed.
func (r Result) Explanation() string {
	var out strings.Builder
	r.explain(&out, true)
	return out.String()
}

func section(out *strings.Builder, title string, lines []string) {
	if len(lines) > 0 {
		indent(out, "  ", title)
		indent(out, "    ", strings.Join(printable.Lines(lines), "\n"))
	}
}

// indent leaves empty lines empty.
func indent(out *strings.Builder, margin, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" {
			line = margin + line
		}
		out.WriteString(line + "\n")
	}
}
