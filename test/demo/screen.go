package main

import (
	"fmt"
	"io"
	"strings"
)

const (
	// width is where sentences are wrapped, in characters.
	width = 88
	// tableWidth is how far a table may stand out.
	tableWidth = 96
	// margin is in front of everything but titles.
	margin = "  "
)

// screen lays out what is shown. That the reader may have gone is no error: the signal for it ends the demo.
type screen struct {
	out    io.Writer
	colour bool
}

func (s *screen) title(text string) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint("1", text))
}

// say shows a paragraph.
func (s *screen) say(text string) {
	fmt.Fprintln(s.out)
	for _, line := range wrap(text, width) {
		fmt.Fprintln(s.out, margin+line)
	}
}

// command shows what is about to be run; a line that ends with a backslash goes on.
func (s *screen) command(text string) {
	fmt.Fprintln(s.out)
	prompt := "$ "
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintln(s.out, margin+s.paint("36", prompt+line))
		prompt = "$ "
		if strings.HasSuffix(line, `\`) {
			prompt = "    "
		}
	}
}

// output shows lines as they are, but for empty ones at the end.
func (s *screen) output(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintln(s.out, strings.TrimRight(margin+line, "\n "))
	}
}

// paint takes the number of an ANSI colour.
func (s *screen) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wrap breaks at spaces; a longer word has a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
