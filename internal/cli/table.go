//go:build !operator

package cli

import (
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
)

// formatTable is a table of what there is to show.
const formatTable = "table"

// The width of a table.
const (
	tableWidth = 100
	tableSpace = 3  // between columns
	leastLast  = 30 // is left of the last column, whatever the others take
	mostLines  = 6  // of one cell
)

// table lays out rows in columns under a header, as kubectl does. What is too long in the last column goes on in the
// next lines, up to six of them.
func table(header []string, rows [][]string) string {
	for _, row := range rows {
		for column := range row {
			row[column] = printable.Line(row[column])
		}
	}
	last, left := len(header)-1, tableWidth
	for column, name := range header[:last] {
		widest := len(name)
		for _, row := range rows {
			widest = max(widest, len([]rune(row[column])))
		}
		left -= widest + tableSpace
	}
	left = max(left, leastLast)
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, tableSpace, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		lines := folded(row[last], left, " /,")
		if len(lines) > mostLines {
			cut := []rune(lines[mostLines-1])
			lines = append(lines[:mostLines-1], string(cut[:min(len(cut), left-len("..."))])+"...")
		}
		for i, line := range lines {
			cells := make([]string, last) // After the first line, the others are empty.
			if i == 0 {
				cells = row[:last]
			}
			_, _ = w.Write([]byte(strings.Join(append(cells[:last:last], line), "\t") + "\n")) // It writes to memory, as Flush does.
		}
	}
	_ = w.Flush()
	return out.String()
}

// position is that of an error in the rules.
var position = regexp.MustCompile(`^.*?:\d+:\d+: (spec[.\[])`)

// withoutPosition leaves out where a rule is written that failed: its name is told beside.
func withoutPosition(text string) string { return position.ReplaceAllString(text, "$1") }
