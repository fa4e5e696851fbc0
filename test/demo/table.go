package main

import (
	"strings"
	"unicode/utf8"
)

// gap is between the cells of a row.
const gap = "  "

// table lays out rows under a header. Where the last cell of a row would stand out too far, it is put on a line of its
// own, below the cell before it.
func table(header []string, rows [][]string) string {
	all := append([][]string{header}, rows...)
	last := len(header) - 1
	widths := make([]int, last)
	for _, row := range all {
		for i := range last {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var out strings.Builder
	for _, row := range all {
		var line string
		for i := range last {
			line += row[i] + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(row[i])) + gap
		}
		if utf8.RuneCountInString(line+row[last]) > tableWidth {
			below := strings.Repeat(" ", max(0, utf8.RuneCountInString(line)-widths[last-1]-len(gap)))
			line = strings.TrimRight(line, " ") + "\n" + below
		}
		out.WriteString(strings.TrimRight(line+row[last], " ") + "\n")
	}
	return out.String()
}
