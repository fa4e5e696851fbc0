package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlay(t *testing.T) {
	const ms = time.Millisecond
	tests := map[string]struct {
		reason string
		shots  []shot
		lines  []string
		moves  []move
		end    time.Duration
	}{
		"nothing": {"A prompt waits.", nil, []string{"$ "}, nil, 0},
		"command": {
			"It is typed key by key, then it prints, then there is time to read.",
			[]shot{{"ls", "a\r\n\r\nb\r\n", time.Second}},
			[]string{"$ ls", "a", "", "b", "$ "},
			[]move{
				{at: 0, row: 0, column: 2, keystrokes: 2},
				{at: 70 * ms, row: 0, column: 4},
				{at: 320 * ms, row: 4, column: 2},
			},
			1320 * ms,
		},
		"long": {
			"Nobody wants to see a long line typed, and a terminal wraps what it prints.",
			[]shot{{strings.Repeat("x", 80), strings.Repeat("y", columns+1), 0}},
			[]string{"$ " + strings.Repeat("x", 80), strings.Repeat("y", columns), "y", "$ "},
			[]move{
				{at: 0, row: 0, column: 2, keystrokes: 80},
				{at: 1200 * ms, row: 0, column: 82},
				{at: 1450 * ms, row: 3, column: 2},
			},
			1450 * ms,
		},
		"clear": {
			"The next prompt is at the top of the screen.",
			[]shot{{"clear", "", 0}, {"a", "", 0}},
			[]string{"$ clear", "$ a", "$ "},
			[]move{
				{at: 0, row: 0, column: 2, keystrokes: 5},
				{at: 175 * ms, row: 0, column: 7},
				{at: 425 * ms, row: 1, column: 2, top: 1},
				{at: 425 * ms, row: 1, column: 2, keystrokes: 1, top: 1},
				{at: 460 * ms, row: 1, column: 3, top: 1},
				{at: 710 * ms, row: 2, column: 2, top: 1},
			},
			710 * ms,
		},
		"full": {
			"A full screen scrolls.",
			[]shot{{"a", strings.Repeat("b\r\n", rows), 0}},
			append(append([]string{"$ a"}, strings.Split(strings.Repeat("b", rows), "")...), "$ "),
			[]move{
				{at: 0, row: 0, column: 2, keystrokes: 1},
				{at: 35 * ms, row: 0, column: 3},
				{at: 285 * ms, row: rows + 1, column: 2, top: 2},
			},
			285 * ms,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lines, moves, end := play(tc.shots)
			got := make([]string, len(lines))
			for i, line := range lines {
				for _, c := range line {
					got[i] += string(c.char)
				}
			}
			if diff := cmp.Diff(tc.lines, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.moves, moves, cmp.AllowUnexported(move{})); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if end != tc.end {
				t.Errorf("%s\nit ends after %s, want %s", tc.reason, end, tc.end)
			}
		})
	}
}

func TestMarkup(t *testing.T) {
	tests := map[string]struct {
		reason string
		line   string
		want   string
	}{
		"plain":   {"What has no colour has no element.", "  a  b", "  a  b"},
		"escaped": {"Whatever is printed is text.", `<a href="b">&</a>`, "&lt;a href=&#34;b&#34;&gt;&amp;&lt;/a&gt;"},
		"coloured": {
			"Colours are those of the tool.", "a \x1b[31m-b\x1b[0m c",
			`a <tspan class="red">-b</tspan> c`,
		},
		"changed": {"A colour ends where another begins.", "\x1b[1ma\x1b[36mb", `<tspan class="bold">a</tspan><tspan class="cyan">b</tspan>`},
		"tab":     {"A tab goes on to the next of eight columns.", "\x1b[1mabc\td", `<tspan class="bold">abc     d</tspan>`},
		"tabs":    {"At such a column, it goes on to the next.", "\t\ta", strings.Repeat(" ", 16) + "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, markup(cells(tc.line, ""))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// texts are the lines in an SVG, which must be one that an img may show.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var out []string
	in := ""
	for decoder := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("this is not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if name := token.Name.Local; name != "tspan" {
				in = name
			}
			if in == "text" && token.Name.Local == "text" {
				out = append(out, "")
			}
			if in == "script" {
				t.Errorf("an img runs no script:\n%s", svg)
			}
		case xml.CharData:
			if in == "text" && len(out) > 0 {
				out[len(out)-1] += string(token)
			}
		case xml.EndElement:
			if token.Name.Local == "text" {
				in = ""
			}
		}
	}
}

func TestDraw(t *testing.T) {
	svg := draw("a & b", "c < d", []shot{{"echo '<&>'", "<&>\r\n", time.Second}, {"clear", "", 0}, {"true", "", time.Second}})
	want := []string{"$ echo '<&>'", "<&>", "$ clear", "$ true", "$ "}
	if diff := cmp.Diff(want, texts(t, svg)); diff != "" {
		t.Error(diff)
	}
	for reason, part := range map[string]string{
		"who cannot see it is told":         `<title id="title">a &amp; b</title>` + "\n" + `<desc id="desc">c &lt; d</desc>`,
		"in the end there is a last screen": "step-end 3; transform: translateY(-51px); }",
		"with the cursor":                   "step-end 3; transform: translate(2ch, 68px); }",
		"keys are typed one by one":         "0.00% { transform: translate(2ch, 0px); animation-timing-function: steps(10) }",
		"motion can be turned off":          "@media (prefers-reduced-motion: reduce) { .scroll, .cursor { animation: none; } }",
	} {
		if !strings.Contains(string(svg), part) {
			t.Errorf("%s: there is no %s in\n%s", reason, part, svg)
		}
	}
}
