package document

import (
	"errors"
	"fmt"
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

// brackets explains what is wrong within [ ] or { }.
func (d *diagnosis) brackets() *Error {
	start := d.source.lines[d.line]
	end := start + len(d.source.line(d.line))
	for i := start; i < end; i++ {
		if strings.IndexByte("[{", d.source.text[i]) < 0 {
			continue
		}
		scan := flowScan{text: d.source.text, pos: i}
		if scan.broken() {
			return d.broken(&scan)
		}
		i = scan.pos - 1
	}
	return d.error(d.word(d.line), quoteHint, "%s", d.problem)
}

func (d *diagnosis) broken(scan *flowScan) *Error {
	text, at, bracket := scan.text, scan.pos, scan.innermost()
	open := text[bracket : bracket+1]
	if at == len(text) {
		return d.error(bracket, "add the closing bracket", "%q is not closed", open)
	}
	opened := fmt.Sprintf("the %q of line %d", open, d.lineOf(bracket))
	first := firstRunes(text[at:], 1)
	switch word := d.word(d.lineOf(at)); {
	case first == "{" && text[at-1] == '$':
		return d.error(at-1, `put the template in quotes: "${...}"`, "a plain value within brackets ends at {")
	case first == "]" || first == "}":
		return d.error(at, "close "+opened+" first", "%q closes nothing", first)
	case strings.Contains("[{?", first):
		return d.error(at, quoteHint, "a plain value within brackets ends at %s", first)
	case first == ":" && word <= scan.last:
		return d.error(at, quoteHint, `": " within a value`)
	case first == ":": // Of a key on a line of its own, taken for the end of the value above.
		at = word
	}
	return d.error(at, "put it before this, or close "+opened, `"," is missing`)
}

// unclosed explains brackets that are open where a document ends.
func (d *diagnosis) unclosed(end int) *Error {
	for i := end - 1; i > 0; i-- {
		if strings.IndexByte("[{", d.source.text[i]) < 0 {
			continue
		}
		scan := flowScan{text: d.source.text[:end], pos: i}
		if scan.broken() {
			return d.broken(&scan)
		}
	}
	return d.error(end, "add the closing bracket", "a bracket is not closed")
}

// flowScan looks for the mistake in a list or map within brackets, of which the
// parser says only where it begins. It stops at the first thing that cannot
// follow what came before, or at the end of the text.
type flowScan struct {
	text  string
	pos   int
	open  []int // offsets of the brackets not yet closed
	value bool  // a value, or a key, was just read
	keyed bool  // the entry of a map has its key
	last  int   // offset of the last scalar
}

// broken scans from a bracket until it is closed, and tells whether something
// is wrong before. That is then at f.pos, or at the end of the text if a
// bracket is never closed.
func (f *flowScan) broken() bool {
	for f.pos < len(f.text) {
		if !f.next() {
			return true
		}
		if len(f.open) == 0 {
			return false
		}
	}
	return true
}

// innermost returns the offset of the bracket around the current place.
func (f *flowScan) innermost() int {
	return f.open[len(f.open)-1]
}

// next reads one token and tells whether it may stand there. If not, it stays.
func (f *flowScan) next() bool {
	rest := f.text[f.pos:]
	length := 1
	ok := true
	switch c := rest[0]; c {
	case ' ', '\t', '\n':
		length, _ = blanks(rest)
	case '#':
		length = len(firstLine(rest))
	case ',':
		ok = f.separator()
	case ':':
		ok = f.colon()
	case '[', '{':
		ok = f.enter()
	case ']', '}':
		ok = f.leave(c)
	case '"', '\'':
		length = quotedLen(rest)
		ok = length > 0 && f.scalar()
	case '?':
		ok = false
	default:
		length = max(plainLen(rest), 1)
		ok = f.scalar()
	}
	if ok {
		f.pos += length
	}
	return ok
}

func (f *flowScan) inMap() bool {
	return f.text[f.innermost()] == '{'
}

func (f *flowScan) separator() bool {
	ok := f.value || f.keyed
	f.value, f.keyed = false, false
	return ok
}

func (f *flowScan) colon() bool {
	ok := !f.keyed || !f.inMap()
	f.value, f.keyed = false, true
	return ok
}

func (f *flowScan) enter() bool {
	if f.value {
		return false
	}
	f.open = append(f.open, f.pos)
	f.value, f.keyed = false, false
	return true
}

// leave closes a bracket. Whether the entry around it had a key is forgotten,
// which only means that a second one goes unnoticed.
func (f *flowScan) leave(c byte) bool {
	if f.inMap() != (c == '}') {
		return false
	}
	f.open = f.open[:len(f.open)-1]
	f.value, f.keyed = true, false
	return true
}

func (f *flowScan) scalar() bool {
	if f.value {
		return false
	}
	f.value, f.last = true, f.pos
	return true
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// quotedLen measures the quoted scalar at the start of the text; it is 0 if the
// quote is not closed.
func quotedLen(text string) int {
	mark := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && mark == '"':
			i++
		case text[i] == mark && mark == '\'' && strings.HasPrefix(text[i+1:], "'"):
			i++
		case text[i] == mark:
			return i + 1
		}
	}
	return 0
}

// plainLen measures the plain scalar at the start of a text within brackets.
func plainLen(text string) int {
	for i := range len(text) {
		switch {
		case strings.IndexByte(",?[]{}", text[i]) >= 0,
			text[i] == ':' && blankAt(text, i+1),
			text[i] == '#' && i > 0 && blankAt(text, i-1):
			return i
		}
	}
	return len(text)
}
