package document

import (
	"fmt"
	"strings"
)

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
