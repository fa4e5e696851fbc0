package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"fits":      {"What fits stays on one line.", "one two", []string{"one two"}},
		"exactly":   {"The width itself is allowed.", "1234 6789 1", []string{"1234 6789", "1"}},
		"long word": {"A path is not broken.", "a /much/longer/than/that b", []string{"a", "/much/longer/than/that", "b"}},
		"spaces":    {"Line breaks of the source are spaces.", " a\n  b ", []string{"a b"}},
		"nothing":   {"An empty paragraph is an empty line.", "", []string{""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, wrap(tc.text, 9)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestScreen(t *testing.T) {
	tests := map[string]struct {
		reason string
		colour bool
		show   func(*screen)
		want   string
	}{
		"title":    {"A title stands out to the left.", false, func(s *screen) { s.title("Act 1") }, "\nAct 1\n"},
		"coloured": {"On a terminal it is bold.", true, func(s *screen) { s.title("Act 1") }, "\n\x1b[1mAct 1\x1b[0m\n"},
		"paragraph": {
			"A paragraph has a margin.", false, func(s *screen) { s.say(strings.Repeat("word ", 20)) },
			"\n  " + strings.TrimSpace(strings.Repeat("word ", 17)) + "\n  word word word\n",
		},
		"commands": {
			"Every command has a prompt, its further lines have none.", false,
			func(s *screen) { s.command("a \\\nb\nc") }, "\n  $ a \\\n      b\n  $ c\n",
		},
		"coloured command": {
			"The margin is not coloured.", true, func(s *screen) { s.command("a") }, "\n  \x1b[36m$ a\x1b[0m\n",
		},
		"output": {
			"Empty lines within stay, those at the end go, and no line ends with spaces.", false,
			func(s *screen) { s.output("a  \n\nb\n\n") }, "  a\n\n  b\n",
		},
		"no output": {"A command that says nothing leaves no line.", false, func(s *screen) { s.output("") }, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			tc.show(&screen{out: &out, colour: tc.colour})
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	long := strings.Repeat("x", tableWidth)
	tests := map[string]struct {
		reason string
		rows   [][]string
		want   []string
	}{
		"aligned": {
			"A column is as wide as its widest cell, in characters.",
			[][]string{{"a", "größer", "1"}, {"longer", "b", "2"}},
			[]string{"RULE    FIELD   VALUE", "a       größer  1", "longer  b       2"},
		},
		"no rows":    {"The header stands alone.", nil, []string{"RULE  FIELD  VALUE"}},
		"empty cell": {"No line ends with spaces.", [][]string{{"a", "", ""}}, []string{"RULE  FIELD  VALUE", "a"}},
		"too wide": {
			"What does not fit is put below the cell before, not cut.",
			[][]string{{"a", "b", long}, {"c", "d", "e"}},
			[]string{"RULE  FIELD  VALUE", "a     b", "      " + long, "c     d      e"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Split(strings.TrimSuffix(table([]string{"RULE", "FIELD", "VALUE"}, tc.rows), "\n"), "\n")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if slices.ContainsFunc(got, func(line string) bool { return strings.HasSuffix(line, " ") }) {
				t.Errorf("a line ends with a space: %q", got)
			}
		})
	}
}
