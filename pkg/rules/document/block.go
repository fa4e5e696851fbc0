package document

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// block maps a literal or a folded block scalar. Its lines are text as they are
// written, less the indentation; in a folded one a single break between two
// lines becomes a space, and of several the first is dropped, unless one of
// the lines begins with white space.
func (m *mapper) block(text string, fold bool) {
	if strings.Trim(text, " \n") == "" {
		return // Where blank lines are text, nothing shows the indentation.
	}
	m.skipLine()
	indent := indentation(m.source[m.pos:], text)
	joins := false // Whether the line before may be joined with the next.
	var breaks []int
	for m.more() {
		spaces := leadingSpaces(m.source[m.pos:], indent)
		m.pos += spaces
		line, _, _ := strings.Cut(m.source[m.pos:], "\n")
		if line == "" {
			breaks = append(breaks, m.pos)
			m.skipLine()
			continue
		}
		if spaces < indent {
			break
		}
		blank := blankAt(line, 0)
		if fold && joins && !blank && len(breaks) > 0 {
			breaks = m.join(breaks)
		}
		m.copyBreaks(breaks)
		m.copy(len(line))
		joins = !blank
		breaks = breaks[:0]
	}
	m.copyBreaks(breaks)
}

// join maps the first break between two folded lines and returns those that
// are text.
func (m *mapper) join(breaks []int) []int {
	if len(breaks) == 1 {
		behind := m.pos
		m.pos = breaks[0]
		m.replace(behind-m.pos, 1)
	}
	return breaks[1:]
}

// copyBreaks maps line breaks that are text, as many as belong to it: those at
// the end may have been cut off.
func (m *mapper) copyBreaks(breaks []int) {
	behind := m.pos
	for _, at := range breaks {
		m.pos = at
		m.copy(1)
	}
	m.pos = behind
}

func (m *mapper) skipLine() {
	line, _, broken := strings.Cut(m.source[m.pos:], "\n")
	m.pos += len(line)
	if broken {
		m.pos++
	}
}

// indentation compares the first line that is not blank in the source with the
// same line in the text: what the source has more is the indentation.
func indentation(source, text string) int {
	before := func(s string) int {
		stretch := s[:len(s)-len(strings.TrimLeft(s, " \n"))]
		return len(stretch) - strings.LastIndexByte(stretch, '\n')
	}
	return max(before(source)-before(text), 0)
}

func leadingSpaces(text string, most int) int {
	n := 0
	for n < most && n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}

// run says that a stretch of a scalar's text comes from a stretch of the
// source. A copied run is the same byte for byte; any other, an escape or a
// folded line break, is only known as a whole.
type run struct {
	text, textLen     int
	source, sourceLen int
	copied            bool
}

// shown returns the node that stands for this one in a message: a value that
// is not written is represented by its key.
func (n *Node) shown() *Node {
	if n.implicit() && n.key != nil {
		return n.key
	}
	return n
}

// implicit tells whether nothing is written: only a plain null can be empty.
func (n *Node) implicit() bool {
	return n.kind == KindNull && n.text == ""
}

// extent returns where the node begins and ends in the source; of a collection
// or a block scalar only the first byte counts.
func (n *Node) extent() (start, end int) {
	start = n.at.offset
	runs := n.runs()
	switch {
	case n.implicit():
		return start, start
	case n.kind == KindList || n.kind == KindMap || n.style == literal || n.style == folded:
		return start, start + 1
	case len(runs) == 0 && n.style == plain: // An alias or a tag.
		return start, start + 1
	case len(runs) == 0:
		return start, start + len(`""`)
	case n.style == plain:
		return start, endOf(runs, len(n.text))
	default:
		return start, endOf(runs, len(n.text)) + len(`"`)
	}
}

// span returns the part of the source that some bytes of the text come from.
func (n *Node) span(offset, length int) (start, end int) {
	runs := n.runs()
	if len(runs) == 0 {
		return n.shown().extent()
	}
	last := len(strings.TrimRight(n.text, " \t\n"))
	if offset >= last {
		end = endOf(runs, last)
		return end, end
	}
	offset = max(offset, 0)
	for offset > 0 && !utf8.RuneStart(n.text[offset]) {
		offset--
	}
	behind := min(offset+max(length, 1), len(n.text))
	for behind < len(n.text) && !utf8.RuneStart(n.text[behind]) {
		behind++
	}
	return startOf(runs, offset), endOf(runs, behind)
}

// startOf returns where the text at the offset begins in the source.
func startOf(runs []run, offset int) int {
	i := sort.Search(len(runs), func(i int) bool { return runs[i].text > offset }) - 1
	r := runs[max(i, 0)]
	if r.copied {
		return r.source + offset - r.text
	}
	return r.source
}

// endOf returns where the text before the offset ends in the source.
func endOf(runs []run, offset int) int {
	i := sort.Search(len(runs), func(i int) bool { return runs[i].text >= offset }) - 1
	r := runs[max(i, 0)]
	if r.copied {
		return r.source + offset - r.text
	}
	return r.source + r.sourceLen
}

// runs maps the text of a scalar to the source by reading the source once more.
// The parser has already decoded it; here only the lengths count.
func (n *Node) runs() []run {
	if n.kind == KindList || n.kind == KindMap || n.text == "" {
		return nil
	}
	m := &mapper{source: n.source.text, pos: n.at.offset, want: len(n.text)}
	switch n.style {
	case literal, folded:
		m.block(n.text, n.style == folded)
	case singleQuoted, doubleQuoted:
		m.pos++
		m.flow(n.style)
	default:
		m.flow(plain)
	}
	return m.runs
}

// mapper walks over a scalar in the source and notes where its text comes from.
type mapper struct {
	source string
	pos    int
	text   int // bytes of text found
	want   int // bytes of text in all
	runs   []run
}

func (m *mapper) more() bool { return m.text < m.want && m.pos < len(m.source) }

// copy notes n bytes that are text as they are written.
func (m *mapper) copy(n int) {
	n = min(n, m.want-m.text)
	if last := len(m.runs) - 1; last >= 0 && m.runs[last].copied &&
		m.runs[last].source+m.runs[last].sourceLen == m.pos {
		m.runs[last].textLen += n
		m.runs[last].sourceLen += n
	} else if n > 0 {
		m.runs = append(m.runs, run{m.text, n, m.pos, n, true})
	}
	m.pos += n
	m.text += n
}

// replace notes that n bytes of the source became some other text.
func (m *mapper) replace(n, textLen int) {
	if textLen > 0 {
		m.runs = append(m.runs, run{m.text, textLen, m.pos, n, false})
	}
	m.pos += n
	m.text += textLen
}

// flow maps a plain or quoted scalar.
func (m *mapper) flow(s style) {
	for m.more() {
		rest := m.source[m.pos:]
		switch {
		case s == singleQuoted && strings.HasPrefix(rest, "''"):
			m.replace(2, 1)
		case s == doubleQuoted && strings.HasPrefix(rest, "\\\n"):
			stretch, breaks := blanks(rest[2:])
			m.replace(2+stretch, breaks)
		case s == doubleQuoted && rest[0] == '\\':
			written, value := escape(rest)
			m.replace(written, len(value))
		case strings.IndexByte(" \t\n", rest[0]) >= 0:
			m.fold(blanks(rest))
		default:
			m.copy(ordinary(rest))
		}
	}
}

// ordinary measures how much of a text, of which the first byte is such, has
// nothing that may stand for something else.
func ordinary(text string) int {
	if i := strings.IndexAny(text[1:], " \t\n'\\"); i >= 0 {
		return 1 + i
	}
	return len(text)
}

// fold maps white space between words: without a line break it is text, one
// break becomes a space, of several all but the first remain.
func (m *mapper) fold(stretch, breaks int) {
	switch breaks {
	case 0:
		m.copy(stretch)
	case 1:
		m.replace(stretch, 1)
	default:
		m.replace(stretch, breaks-1)
	}
}

// blanks measures the white space at the start of the text.
func blanks(text string) (stretch, breaks int) {
	stretch = len(text) - len(strings.TrimLeft(text, " \t\n"))
	return stretch, strings.Count(text[:stretch], "\n")
}

// escapes are the letters that stand for one fixed character after a backslash
// within double quotes.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '\'': "'", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads the escape at the start of the text. It returns how long it is
// and the text it means, which is empty if it is not valid.
func escape(text string) (written int, value string) {
	if len(text) < 2 {
		return len(text), ""
	}
	var digits int
	switch text[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return 2, escapes[text[1]]
	}
	written = min(2+digits, len(text))
	code, err := strconv.ParseUint(text[2:written], 16, 32)
	if err != nil || written < 2+digits || !utf8.ValidRune(rune(code)) {
		return written, ""
	}
	return written, string(rune(code))
}
