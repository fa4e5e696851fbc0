package document

import "strings"

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
