package document

import (
	"strings"
	"unicode/utf8"
)

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
	start = n.at
	switch {
	case n.implicit():
		return start, start
	case n.kind == KindList || n.kind == KindMap || n.style == block || n.text == "" && n.style == plain:
		return start, start + 1
	}
	quote, end := n.place(len(n.text))
	if n.style != plain {
		end = quote + 1
	}
	return start, end
}

// span returns the part of the source that some bytes of the text come from. What is behind
// the last character, white space aside, is the place after that.
func (n *Node) span(offset, length int) (start, end int) {
	if strings.Trim(n.text, " \t\n") == "" || n.kind == KindList || n.kind == KindMap {
		return n.shown().extent()
	}
	offset = min(max(offset, 0), len(n.text))
	if offset >= len(strings.TrimRight(n.text, " \t\n")) {
		_, end := n.place(len(n.text))
		return end, end
	}
	for !utf8.RuneStart(n.text[offset]) {
		offset--
	}
	start, _ = n.place(offset)
	_, end = n.place(min(offset+max(length, 1), len(n.text)))
	return start, max(start, end)
}

// place returns where in the source the first character at or behind an offset of the text
// begins, and where the last one before it ends. White space aside, every character of the
// text is one of the source, or one escape.
func (n *Node) place(offset int) (start, end int) {
	before := 0 // the characters before the offset
	for i, r := range n.text {
		if i < offset && !isBlank(r) {
			before++
		}
	}
	text, at := n.source.text, n.at
	switch n.style {
	case plain:
	case block:
		at += len(firstLine(text[at:])) + 1
	default:
		at++
	}
	end = at
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case n.style == singleQuoted && strings.HasPrefix(text[at:], "''"):
			size = 2
		case n.style == doubleQuoted && r == '\\':
			r, size = escape(text[at:])
		}
		switch {
		case isBlank(r):
		case before == 0:
			return at, end
		default:
			before--
			end = at + size
		}
		at += size
	}
	return at, end
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// escape returns the length of the escape at the start of the text, and a blank if it stands for
// white space.
func escape(text string) (r rune, length int) {
	switch c := text[1]; c {
	case 'n', 't', ' ', '\t', '\n':
		return ' ', 2
	case 'x':
		return rune(c), len(`\x00`)
	case 'u':
		return rune(c), len(`\u0000`)
	case 'U':
		return rune(c), len(`\U00000000`)
	default:
		return rune(c), 2
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
