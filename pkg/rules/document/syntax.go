package document

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

const (
	quoteHint   = "put the value in quotes"
	cutHint     = `put the value in quotes if "#" belongs to it, or else the comment on a line of its own`
	cutText     = `the value ends before " #", which starts a comment`
	noKeyHint   = `write one, or put ":" in quotes if it belongs to the text`
	noKeyText   = `there is no key before ":"`
	refusedText = "anchors, aliases and tags are not supported"
	escapeHint  = `write \\ for a backslash, or put the text in single quotes`
	blockText   = "text cannot follow | or > on the same line"
	blockHint   = "start the text on the next line, or put the value in quotes"
	bracketHint = "remove it, or put the value in quotes"
	bracketText = "a plain value within brackets ends at %s"
)

// mistakes are errors of the parser that need no look at the text. The first that fits
// counts, and the last fits all.
var mistakes = []struct {
	problem       string // part of what the parser says
	message, hint string // %s is the character there
	context       bool   // the place is where the construct begins
}{
	{"expected '-' indicator", "want the next element of the list", `write "- " before it, or indent it like the lines it belongs to`, false},
	{"expected node content", `a value cannot start with "%s"`, bracketHint, false},
	{"sequence entries are not allowed", "a list element cannot start here", "start the list on the next line, or put the value in quotes", false},
	{"keys are not allowed", `a value cannot start with "? "`, quoteHint, false},
	{"a tab character", "a tab cannot indent a line", "indent with spaces", false},
	{"cannot start any token", `a value cannot start with "%s"`, quoteHint, false},
	{"found unexpected", "the quote that starts here is not closed", "close it", true},
	{"escape c", "this is not an escape", escapeHint, false},
	{"hexdecimal number", "this is not an escape", escapeHint, false},
	{"comment or line break", blockText, blockHint, true},
	{"indicator equal to 0", blockText, blockHint, true},
	{"<document start>", "the document has already ended", `write "---" on a line of its own between documents`, false},
	{deepText, "", "write it flatter", false},
	{"unknown anchor", refusedText, refusedHint, false},
	{"tag handle", refusedText, refusedHint, true},
	{"alphabetic or numeric character", refusedText, refusedHint, true},
	{"", "", "write this line or the one above in a simpler way", false},
}

// syntaxError explains an error of the parser.
func (s *source) syntaxError(err error) *Error {
	said := &yaml.LoadError{Message: err.Error()}
	errors.As(err, &said)
	at := s.find(s.start(), said.Mark.Line, said.Mark.Column)
	began := s.find(s.start(), said.ContextMark.Line, said.ContextMark.Column)
	if cut := s.cut(at); cut != nil {
		return cut
	}
	problem, char := said.Message, firstRunes(s.text[at.offset:], 1)
	switch {
	case strings.Contains(problem, "mapping values are not allowed"):
		return s.strayColon(at)
	case strings.Contains(problem, "could not find expected ':'"):
		return s.noColon(began.Line)
	case strings.Contains(problem, "expected key"):
		return s.noKey(at, char)
	case strings.Contains(problem, "expected ',' or "):
		return s.brackets(at, began, char)
	case strings.Contains(problem, "expected node content") && s.ended(at) && s.opened(at) != at:
		return s.unclosed(s.opened(at))
	case strings.Contains(said.ContextMsg, "tag"):
		return s.errorAt(began, 1, tagHint(s.text[began.offset:]), refusedText)
	case char == "\t":
		problem = "a tab character"
	}
	for _, m := range mistakes {
		if !strings.Contains(problem, m.problem) {
			continue
		}
		if m.context {
			at = began
		}
		return s.errorAt(at, 1, m.hint, "%s", cmp.Or(strings.ReplaceAll(m.message, "%s", char), problem))
	}
	return nil
}

// strayColon explains a ": " where a value ends or none may be: within plain text, or
// behind a key that stands too far to the right or below a line without a colon.
func (s *source) strayColon(at mark) *Error {
	line := s.line(at.Line)
	if key, value, _ := strings.Cut(line, ": "); at.offset > s.lines[at.Line-1]+len(key) {
		return s.errorAt(at, 1, quoteHint+": "+quote(strings.TrimSpace(value)), `": " within a value`)
	}
	if at.Line > 1 && indent(s.line(at.Line-1)) == indent(line) {
		return s.noColon(at.Line - 1)
	}
	return s.errorAt(s.word(at.Line), 1, "indent it like its neighbours", "a key cannot start here")
}

// noColon explains a line that should be a key.
func (s *source) noColon(line int) *Error {
	text := strings.TrimSpace(s.line(line))
	hint := cmp.Or(spaced(text), "add the colon, or indent the line further if it continues the one above")
	return s.errorAt(s.word(line), 1, hint, `want "key: value", have %s`, quote(text))
}

// noKey explains something among the keys of a map that is none.
func (s *source) noKey(at mark, char string) *Error {
	before := strings.TrimRight(s.text[:at.offset], " \t")
	switch {
	case strings.HasSuffix(before, `"`):
		return s.errorAt(at, 1, `write \" for a quote within the text, or put all of the value in single quotes`, "text after the closing quote")
	case strings.HasSuffix(before, "'"):
		return s.errorAt(at, 1, "write '' for a quote within the text, or put all of the value in double quotes", "text after the closing quote")
	case char == "-":
		return s.errorAt(at, 1, "indent it like the list it belongs to", "a list element where a key should be")
	case char == "]" || char == "}":
		return s.errorAt(at, 1, bracketHint, "%q closes nothing", char)
	case strings.HasSuffix(before, "\n"):
		return s.errorAt(at, 1, "indent it like the lines it belongs to", "the indentation fits no line above")
	default:
		return s.errorAt(at, 1, bracketHint, "%q cannot stand here", char)
	}
}

// brackets explains what is wrong within [ ] or { }.
func (s *source) brackets(at, opened mark, char string) *Error {
	bracket := s.text[opened.offset : opened.offset+1]
	switch {
	case s.ended(at) || at.Line > opened.Line && indent(s.line(at.Line)) <= indent(s.line(opened.Line)) && !strings.Contains("]}", char):
		return s.unclosed(opened)
	case char == "]" || char == "}":
		return s.errorAt(at, 1, fmt.Sprintf("close the %q of line %d first", bracket, opened.Line), "%q closes nothing", char)
	case strings.Contains("[{", char):
		return s.errorAt(at, 1, quoteHint, bracketText, char)
	default:
		return s.errorAt(at, 1, fmt.Sprintf("put it before this, or close the %q of line %d", bracket, opened.Line), `"," is missing`)
	}
}

func (s *source) unclosed(bracket mark) *Error {
	return s.errorAt(bracket, 1, "add the closing bracket", "%q is not closed", s.text[bracket.offset:bracket.offset+1])
}

// ended reports whether the document ends before or at the place.
func (s *source) ended(at mark) bool {
	rest := strings.TrimLeft(s.text[at.offset:], " \t\n")
	return rest == "" || strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")
}

// opened returns the bracket around a place. It takes those within quotes for brackets too.
func (s *source) opened(at mark) mark {
	closed := 0
	for i := at.offset - 1; i >= 0; i-- {
		switch s.text[i] {
		case ']', '}':
			closed++
		case '[', '{':
			if closed--; closed < 0 {
				return s.advance(s.start(), i)
			}
		}
	}
	return at
}

// cut explains a line that would continue the value above, had a comment not
// ended that. It returns nil if that is not what happened.
func (s *source) cut(at mark) *Error {
	if at.Line == 1 || at.Column > indent(s.line(at.Line))+2 || indent(s.line(at.Line)) <= indent(s.line(at.Line-1)) {
		return nil
	}
	value, _, commented := strings.Cut(s.line(at.Line-1), " #")
	if value = strings.TrimSpace(value); !commented || value == "" || strings.ContainsAny(value[len(value)-1:], `:-|>"'[]{},`) {
		return nil
	}
	return s.errorAt(s.advance(s.word(at.Line-1), s.lines[at.Line-2]+strings.Index(s.line(at.Line-1), " #")+1), 1, cutHint, cutText)
}

// word returns the place of the first thing on a line that is not white space.
func (s *source) word(line int) mark {
	return s.find(s.start(), line, indent(s.line(line))+1)
}

// indent counts the white space that a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
