package simulate

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// mostDifferences is how many fields a brief report shows for each case.
const mostDifferences = 20

// WriteText writes the report for people: a line for each case, below it what
// is wrong with it, and a summary. The verbose form adds skipped cases, all
// differences and unified diffs.
func (r Report) WriteText(w io.Writer, verbose bool) error {
	var out strings.Builder
	for _, result := range r.Results {
		if result.Status != Skip || verbose {
			result.writeText(&out, verbose)
		}
	}
	if r.Count(Fail) > 0 {
		out.WriteString("\nwant is what the golden says, have is what the rules do now; --update makes it the golden\n")
	}
	if r.Coverage != nil {
		out.WriteString("\n" + r.Coverage.Text())
	}
	out.WriteString("\n" + r.Summary() + "\n")
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
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
		out = append(out, counted(r.EvaluationsFailed, "evaluation")+" failed")
	}
	if r.Status == Pass && r.WritesRefused > 0 {
		out = append(out, counted(r.WritesRefused, "write")+" refused")
	}
	return out
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (r Result) explain(out *strings.Builder, verbose bool) {
	if r.Status == Fail {
		out.WriteString("  " + r.Golden + "\n")
		r.writeDifferences(out, verbose)
	}
	indent(out, "  ", r.Errors.Render())
	section(out, "it goes round in a circle:", r.Cycle)
	section(out, "with the queue reversed, it ends differently:", r.Order)
}

func (r Result) writeDifferences(out *strings.Builder, verbose bool) {
	shown := r.Differences
	if !verbose {
		shown = shown[:min(len(shown), mostDifferences)]
	}
	indent(out, "    ", strings.Join(shown, "\n"))
	if more := len(r.Differences) - len(shown); more > 0 {
		fmt.Fprintf(out, "    and %d more\n", more)
	}
	if verbose {
		indent(out, "    ", r.Diff)
	}
	for _, e := range r.Explanations {
		at := "at"
		if e.Earlier {
			at = "not evaluated since"
		}
		fmt.Fprintf(out, "\n    why %s, %s %s:\n", e.Of, at, e.Trace.Now.UTC().Format(time.RFC3339))
		indent(out, "      ", e.Trace.Tree())
	}
	if r.Unexplained > 0 {
		fmt.Fprintf(out, "\n    and %d more, not explained\n", r.Unexplained)
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
