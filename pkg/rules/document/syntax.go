package document

import (
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// diagnosis finds out where a syntax error is and what to write instead. The
// parser says which line it thinks of, often that of the construct around the
// mistake, and nothing of columns. What it says is found again in shorter and
// shorter text, which is cheap as long as files are small.
type diagnosis struct {
	source  *source
	problem string
	line    int // what the parser says, 0 if nothing
	reached int // the last line the parser has read
	budget  int // bytes that may be parsed again
}

// complaint is how the parser words an error.
var complaint = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

func complaintOf(err error) (line int, problem string) {
	match := complaint.FindStringSubmatch(err.Error())
	if match == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(match[1]) // Nothing where there is no line.
	return line, match[2]
}

// syntaxError explains an error of the parser, which had read that much of the
// source, up to the end of a line or of its buffer.
func (s *source) syntaxError(err error, read int) *Error {
	d := &diagnosis{source: s, budget: maxSize + maxSize/2 - len(s.text)}
	d.line, d.problem = complaintOf(err)
	m := mistakeFor(d.problem)
	if !m.early {
		d.line-- // For the break before the text.
	}
	d.line = min(max(d.line, 1), len(s.lines)-1)
	d.reached = max(d.lineOf(read-1), d.line)
	explained := m.explain(d)
	if cut := d.cut(explained); cut != nil {
		return cut
	}
	return explained
}

// fails tells whether the text before an offset is wrong in the same way. With
// the budget used up it says yes, so that the first guess stands.
func (d *diagnosis) fails(before int) bool {
	if d.budget -= before; d.budget < 0 {
		return true
	}
	decoder := yaml.NewDecoder(strings.NewReader(d.source.text[:before]))
	for {
		var document yaml.Node
		err := decode(decoder, &document)
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			_, problem := complaintOf(err)
			return problem == d.problem
		}
	}
}

// error returns an error about the source at the offset.
func (d *diagnosis) error(at int, hint, format string, args ...any) *Error {
	s := d.source
	return s.errorAt(s.advance(s.start(), at), 1, hint, format, args...)
}

func (d *diagnosis) lineOf(offset int) int {
	return d.source.advance(d.source.start(), offset).Line
}

// word returns the offset of the first thing on a line that is not white space.
func (d *diagnosis) word(line int) int {
	return d.source.lines[line] + d.indent(line)
}

func (d *diagnosis) indent(line int) int {
	stretch, _ := blanks(d.source.line(line))
	return stretch
}

// indicator returns the offset of the indicator, followed by white space, that
// the parser stumbles over, or that of the line's first word.
func (d *diagnosis) indicator(indicators string) int {
	start, line := d.source.lines[d.line], d.source.line(d.line)
	for i := range len(line) {
		if strings.IndexByte(indicators, line[i]) >= 0 && blankAt(line, i+1) &&
			d.fails(start+min(i+2, len(line))) {
			return start + i
		}
	}
	return d.word(d.line)
}

// leading returns the offset of the first value on the line that begins with
// one of the characters, or that of the line's first word.
func (d *diagnosis) leading(characters string) int {
	start := d.source.lines[d.line]
	for i := range len(d.source.line(d.line)) {
		if strings.IndexByte(characters, d.source.text[start+i]) >= 0 && startsValue(d.source.text, start+i) {
			return start + i
		}
	}
	return d.word(d.line)
}

// startsValue tells whether what stands before the offset allows a value to
// begin there.
func startsValue(text string, offset int) bool {
	return strings.IndexByte(" \t\n[{,:", text[offset-1]) >= 0
}

// unexpected returns the offset of what the parser did not expect, looking back
// from where it had read to: first the line, then the place on it.
func (d *diagnosis) unexpected() int {
	line := d.wordsBefore(d.reached + 1)
	for line > d.line && d.fails(d.source.lines[line]) && d.budget >= 0 {
		line = d.wordsBefore(line)
	}
	start, text := d.source.lines[line], d.source.line(line)
	var runes []int // Where each of them ends.
	for i, r := range text {
		runes = append(runes, start+i+utf8.RuneLen(r))
	}
	n := sort.Search(len(runes), func(i int) bool { return d.fails(runes[i]) })
	if n == len(runes) || d.budget < 0 || d.source.text[runes[n]-1] == ':' { // A key needs its colon.
		return d.word(line)
	}
	_, size := utf8.DecodeLastRuneInString(d.source.text[:runes[n]])
	return runes[n] - size
}

// wordsBefore returns the last line before this one that is neither empty nor a
// comment, but none before that of the construct.
func (d *diagnosis) wordsBefore(line int) int {
	for line--; line > d.line; line-- {
		if text := strings.TrimSpace(d.source.line(line)); text != "" && text[0] != '#' {
			break
		}
	}
	return line
}
