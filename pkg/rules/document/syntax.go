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
	at := s.find(&cursor{}, said.Mark.Line, said.Mark.Column)
	began := s.find(&cursor{}, said.ContextMark.Line, said.ContextMark.Column)
	if cut := s.cut(at); cut != nil {
		return cut
	}
	problem, char := said.Message, firstRunes(s.text[at:], 1)
	switch {
	case strings.Contains(problem, "mapping values are not allowed"):
		return s.strayColon(at)
	case strings.Contains(problem, "could not find expected ':'"):
		return s.noColon(s.position(began).Line)
	case strings.Contains(problem, "expected key"):
		return s.noKey(at, char)
	case strings.Contains(problem, "expected ',' or "):
		return s.brackets(at, began, char)
	case strings.Contains(problem, "expected node content") && s.ended(at) && s.opened(at) != at:
		return s.unclosed(s.opened(at))
	case strings.Contains(said.ContextMsg, "tag"):
		return s.errorAt(began, tagHint(s.text[began:]), refusedText)
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
		return s.errorAt(at, m.hint, "%s", cmp.Or(strings.ReplaceAll(m.message, "%s", char), problem))
	}
	return nil
}

// strayColon explains a ": " where a value ends or none may be: within plain text, or
// behind a key that stands too far to the right or below a line without a colon.
func (s *source) strayColon(at int) *Error {
	number := s.position(at).Line
	line := s.line(number)
	key, value, _ := strings.Cut(line, ": ")
	switch {
	case at > s.lines[number-1]+len(key):
		return s.errorAt(at, quoteHint+": "+quote(strings.TrimSpace(value)), `": " within a value`)
	case number > 1 && indent(s.line(number-1)) == indent(line):
		return s.noColon(number - 1)
	default:
		return s.errorAt(s.word(number), "indent it like its neighbours", "a key cannot start here")
	}
}

// noColon explains a line that should be a key.
func (s *source) noColon(line int) *Error {
	text := strings.TrimSpace(s.line(line))
	hint := cmp.Or(spaced(text), "add the colon, or indent the line further if it continues the one above")
	return s.errorAt(s.word(line), hint, `want "key: value", have %s`, quote(text))
}

// noKey explains something among the keys of a map that is none.
func (s *source) noKey(at int, char string) *Error {
	before := strings.TrimRight(s.text[:at], " \t")
	switch {
	case strings.HasSuffix(before, `"`):
		return s.errorAt(at, `write \" for a quote within the text, or put all of the value in single quotes`, "text after the closing quote")
	case strings.HasSuffix(before, "'"):
		return s.errorAt(at, "write '' for a quote within the text, or put all of the value in double quotes", "text after the closing quote")
	case char == "-":
		return s.errorAt(at, "indent it like the list it belongs to", "a list element where a key should be")
	case char == "]" || char == "}":
		return s.errorAt(at, bracketHint, "%q closes nothing", char)
	case strings.HasSuffix(before, "\n"):
		return s.errorAt(at, "indent it like the lines it belongs to", "the indentation fits no line above")
	default:
		return s.errorAt(at, bracketHint, "%q cannot stand here", char)
	}
}

// brackets explains what is wrong within [ ] or { }.
func (s *source) brackets(at, opened int, char string) *Error {
	here, line := s.position(at).Line, s.position(opened).Line
	bracket := s.text[opened : opened+1]
	switch {
	case s.ended(at) || here > line && indent(s.line(here)) <= indent(s.line(line)) && !strings.Contains("]}", char):
		return s.unclosed(opened)
	case char == "]" || char == "}":
		return s.errorAt(at, fmt.Sprintf("close the %q of line %d first", bracket, line), "%q closes nothing", char)
	case strings.Contains("[{", char):
		return s.errorAt(at, quoteHint, bracketText, char)
	default:
		return s.errorAt(at, fmt.Sprintf("put it before this, or close the %q of line %d", bracket, line), `"," is missing`)
	}
}

func (s *source) unclosed(bracket int) *Error {
	return s.errorAt(bracket, "add the closing bracket", "%q is not closed", s.text[bracket:bracket+1])
}

// ended reports whether the document ends before or at the place.
func (s *source) ended(at int) bool {
	rest := strings.TrimLeft(s.text[at:], " \t\n")
	return rest == "" || strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")
}

// opened returns the bracket around a place. It takes those within quotes for brackets too.
func (s *source) opened(at int) int {
	closed := 0
	for i := at - 1; i >= 0; i-- {
		switch s.text[i] {
		case ']', '}':
			closed++
		case '[', '{':
			if closed--; closed < 0 {
				return i
			}
		}
	}
	return at
}

// cut explains a line that would continue the value above, had a comment not
// ended that. It returns nil if that is not what happened.
func (s *source) cut(at int) *Error {
	place := s.position(at)
	if margin := indent(s.line(place.Line)); place.Line == 1 || place.Column > margin+2 || margin <= indent(s.line(place.Line-1)) {
		return nil
	}
	above := s.line(place.Line - 1)
	value, _, commented := strings.Cut(above, " #")
	if text := strings.TrimSpace(value); !commented || text == "" || strings.ContainsAny(text[len(text)-1:], `:-|>"'[]{},`) {
		return nil
	}
	return s.errorAt(s.lines[place.Line-2]+len(value)+1, cutHint, cutText)
}

// word returns the place of the first thing on a line that is not white space.
func (s *source) word(line int) int { return s.lines[line-1] + indent(s.line(line)) }

// indent counts the white space that a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
