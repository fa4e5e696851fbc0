package simulate

import (
	"fmt"
	"io"
	"strings"
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
	if r.Updated {
		out.WriteString(" (wrote " + r.Golden + ")")
	}
	out.WriteString("\n")
	if r.Status == Fail {
		out.WriteString("  " + r.Golden + "\n")
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
	}
	indent(out, "  ", r.Errors.Render())
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
