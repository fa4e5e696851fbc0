package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

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
	fmt.Fprintf(out, "%-5s %s", strings.ToUpper(string(r.Status)), name)
	if remarks := r.Remarks(); len(remarks) > 0 {
		out.WriteString(" (" + strings.Join(remarks, ", ") + ")")
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
		out.WriteString("  " + cmp.Or(r.Golden, r.File) + "\n")
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
	indent(out, "    ", strings.Join(shown, "\n"))
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
			fmt.Fprintf(out, "\n    why %s, %s:\n", e.Of, at)
			indent(out, "      ", e.Trace.Tree())
			continue
		}
		fmt.Fprintf(out, "\n    why, %s:\n", at)
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
		indent(out, "    ", strings.Join(lines, "\n"))
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
