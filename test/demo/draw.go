package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// shot is a line that a user types at a terminal, and what appears below it.
type shot struct {
	typed string
	text  string        // as the terminal gets it, with its colours
	read  time.Duration // until something else is typed
}

// clearing is what a user types who wants an empty screen.
const clearing = "clear"

// The screen, in characters and in pixels.
const (
	columns, rows = 100, 29
	charWidth     = 8
	lineHeight    = 17
	baseline      = 13 // of a line
	edge          = 16
	upperEdge     = 36
	prompt        = "$ "
	tab           = 8 // of a terminal
)

// The times of the animation that are not those of shots.
const (
	keystroke = 35 * time.Millisecond
	command   = 1200 * time.Millisecond // A long one is typed faster.
	answer    = 250 * time.Millisecond
	rounds    = 3 // It stays on the last screen then.
)

// cell is a character of the screen.
type cell struct {
	char  rune
	class string // for its colour, in CSS
}

// move says where the cursor goes. What is behind and below it is hidden.
type move struct {
	at          time.Duration
	row, column int
	keystrokes  int // until the next move, which goes on from here; 0 to stay
	top         int // the row at the top of the screen
}

// draw makes an SVG that moves by CSS alone, so that it moves in an img too. Who wants no motion sees the last screen.
func draw(title, description string, shots []shot) []byte {
	lines, moves, end := play(shots)
	last := moves[len(moves)-1]
	width, height := columns*charWidth+2*edge, rows*lineHeight+upperEdge+edge
	var out bytes.Buffer
	fmt.Fprintf(&out, head, width, height, html.EscapeString(title), html.EscapeString(description))
	fmt.Fprintf(&out, style, rounds, end.Seconds(), last.scroll(), last.position())
	out.WriteString("@keyframes scroll {\n")
	for i, m := range moves {
		if i == 0 || m.top != moves[i-1].top {
			fmt.Fprintf(&out, "%.2f%% { %s }\n", m.percent(end), m.scroll())
		}
	}
	out.WriteString("}\n@keyframes type {\n")
	for _, m := range moves {
		fmt.Fprintf(&out, "%.2f%% { %s }\n", m.percent(end), m.position())
	}
	fmt.Fprintf(&out, window, width-1, height-1, edge, upperEdge, columns*charWidth, rows*lineHeight)
	for i, line := range lines {
		fmt.Fprintf(&out, "<text y=\"%d\">%s</text>\n", i*lineHeight+baseline, markup(line))
	}
	fmt.Fprintf(&out, cover, width, len(lines)*lineHeight, lineHeight, charWidth)
	return out.Bytes()
}

// play puts all shots below each other, and says what is seen of that when.
func play(shots []shot) (lines [][]cell, moves []move, end time.Duration) {
	lines = append(lines, cells(prompt, "prompt"))
	top := 0
	to := func(column, keystrokes int) {
		row := len(lines) - 1
		top = max(top, row+1-rows)
		moves = append(moves, move{end, row, column, keystrokes, top})
	}
	for _, s := range shots {
		row, length, class := len(lines)-1, utf8.RuneCountInString(s.typed), "typed"
		if strings.HasPrefix(s.typed, "#") {
			class = "comment"
		}
		lines[row] = append(lines[row], cells(s.typed, class)...)
		to(len(prompt), length)
		end += min(time.Duration(length)*keystroke, command)
		to(len(prompt)+length, 0)
		end += answer
		for line := range strings.Lines(s.text) {
			lines = append(lines, wrapped(cells(strings.TrimRight(line, "\r\n"), ""))...)
		}
		if s.typed == clearing {
			top = len(lines)
		}
		lines = append(lines, cells(prompt, "prompt"))
		to(len(prompt), 0)
		end += s.read
	}
	return lines, moves, end
}

// wrapped are the lines that a line takes on the screen.
func wrapped(line []cell) [][]cell {
	if len(line) == 0 {
		return [][]cell{nil}
	}
	return slices.Collect(slices.Chunk(line, columns))
}

func (m move) percent(end time.Duration) float64 { return 100 * m.at.Seconds() / end.Seconds() }

func (m move) scroll() string { return fmt.Sprintf("transform: translateY(%dpx)", -m.top*lineHeight) }

func (m move) position() string {
	out := fmt.Sprintf("transform: translate(%dch, %dpx)", m.column, m.row*lineHeight)
	if m.keystrokes > 0 {
		out += fmt.Sprintf("; animation-timing-function: steps(%d)", m.keystrokes)
	}
	return out
}

var escape = regexp.MustCompile(`^\x1b\[(\d*)m`)

// cells are the characters of a line. Its escapes change their colour.
func cells(line, class string) []cell {
	var out []cell
	for line != "" {
		if code := escape.FindStringSubmatch(line); code != nil {
			class = map[string]string{"1": "bold", "31": "red", "32": "green", "36": "cyan"}[code[1]]
			line = line[len(code[0]):]
			continue
		}
		char, size := utf8.DecodeRuneInString(line)
		line = line[size:]
		if char != '\t' {
			out = append(out, cell{char, class})
			continue
		}
		out = append(out, slices.Repeat([]cell{{' ', class}}, tab-len(out)%tab)...)
	}
	return out
}

// markup is a line in XML.
func markup(line []cell) string {
	var out strings.Builder
	class := ""
	for _, c := range append(slices.Clip(line), cell{}) {
		if c.class != class && class != "" {
			out.WriteString("</tspan>")
		}
		if c.class != class && c.class != "" {
			fmt.Fprintf(&out, `<tspan class="%s">`, c.class)
		}
		class = c.class
		if c.char != 0 {
			out.WriteString(html.EscapeString(string(c.char)))
		}
	}
	return out.String()
}

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title desc">
<title id="title">%[3]s</title>
<desc id="desc">%[4]s</desc>
`

const style = `<style>
svg { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; }
text { fill: #c9d1d9; white-space: pre; }
.prompt { fill: #8b949e; }
.typed { fill: #ffffff; font-weight: bold; }
.comment { fill: #e3b341; }
.bold { fill: #f0f6fc; font-weight: bold; }
.red { fill: #ff7b72; }
.green { fill: #7ee787; }
.cyan { fill: #79c0ff; }
.hides { fill: #161b22; }
.scroll { animation: scroll %.2[2]fs step-end %[1]d; %[3]s; }
.cursor { animation: type %.2[2]fs step-end %[1]d; %[4]s; }
@media (prefers-reduced-motion: reduce) { .scroll, .cursor { animation: none; } }
`

const window = `}
</style>
<rect class="hides" x=".5" y=".5" width="%d" height="%d" rx="8" stroke="#484f58"/>
<g fill="#484f58"><circle cx="20" cy="18" r="5"/><circle cx="38" cy="18" r="5"/><circle cx="56" cy="18" r="5"/></g>
<svg x="%d" y="%d" width="%d" height="%d">
<g class="scroll">
`

// cover hides the rest of the line with the cursor, and all lines below.
const cover = `<g class="cursor">
<path class="hides" d="M0 0H%[1]dV%[2]dH-%[1]dV%[3]dH0Z"/>
<rect width="%[4]d" height="%[3]d" fill="#8b949e"/>
</g>
</g>
</svg>
</svg>
`
