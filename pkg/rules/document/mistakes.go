package document

import (
	"fmt"
	"slices"
	"strings"
)

// mistake is an error of the parser in its words and how to explain it.
type mistake struct {
	problem string // part of what the parser says
	// early is set where the parser counts lines from 0, which with the break
	// before the text makes the right number.
	early   bool
	explain func(*diagnosis) *Error
}

const quoteHint = "put the value in quotes"

var mistakes = []mistake{
	{"mapping values are not allowed", false, (*diagnosis).colon},
	{"could not find expected ':'", false, (*diagnosis).noColon},
	{"did not find expected key", true, (*diagnosis).notKey},
	{"did not find expected '-' indicator", true, (*diagnosis).notElement},
	{"did not find expected ',' or ", true, (*diagnosis).brackets},
	{"did not find expected node content", true, (*diagnosis).notValue},
	{"block sequence entries are not allowed", false, (*diagnosis).lateElement},
	{"mapping keys are not allowed", false, (*diagnosis).question},
	{"found character that cannot start any token", false, (*diagnosis).badStart},
	{"found a tab character", false, (*diagnosis).tab},
	{"found unexpected end of stream", false, (*diagnosis).unclosedQuote},
	{"found unexpected document indicator", false, (*diagnosis).unclosedQuote},
	{"found unknown escape character", false, (*diagnosis).badEscape},
	{"did not find expected hexdecimal number", false, (*diagnosis).badEscape},
	{"found invalid Unicode character escape code", false, (*diagnosis).badEscape},
	{"did not find expected comment or line break", false, (*diagnosis).blockHeader},
	{"found an indentation indicator equal to 0", false, (*diagnosis).blockHeader},
	{"did not find expected <document start>", true, (*diagnosis).ended},
	{"exceeded max depth", false, (*diagnosis).tooDeep},
	{"unknown anchor", true, (*diagnosis).unknownAnchor},
	{"did not find expected alphabetic or numeric character", false, (*diagnosis).refused},
	{"found undefined tag handle", true, (*diagnosis).refused},
	{"did not find expected tag URI", false, (*diagnosis).refused},
	{"did not find URI escaped octet", false, (*diagnosis).refused},
	{"UTF-8 octet", false, (*diagnosis).refused},
	{"did not find the expected '>'", false, (*diagnosis).refused},
	{"did not find expected whitespace or line break", false, (*diagnosis).refused},
	{"", false, (*diagnosis).other},
}

// mistakeFor returns the first entry that fits; the last fits all.
func mistakeFor(problem string) mistake {
	i := slices.IndexFunc(mistakes, func(m mistake) bool { return strings.Contains(problem, m.problem) })
	return mistakes[i]
}

// colon explains a ": " that begins a value where none may be: within plain
// text, or behind a key that stands too far to the right or below a line
// without a colon.
func (d *diagnosis) colon() *Error {
	if err := d.noBreakSpace(); err != nil {
		return err
	}
	at := d.indicator(":")
	key, value, _ := strings.Cut(d.source.line(d.line), ": ")
	if at > d.source.lines[d.line]+len(key) {
		return d.error(at, quoteHint+": "+quote(strings.TrimSpace(value)), `": " within a value`)
	}
	if above := max(d.line-1, 1); above < d.line && d.indent(above) == d.indent(d.line) {
		d.line = above
		return d.noColon()
	}
	return d.error(d.word(d.line), "indent it like its neighbours", "a key cannot start here")
}

// noColon explains a line that should be a key.
func (d *diagnosis) noColon() *Error {
	if err := d.noBreakSpace(); err != nil {
		return err
	}
	text := strings.TrimSpace(d.source.line(d.line))
	hint := "add the colon, or indent the line further if it continues the one above"
	if match := unspaced.FindStringSubmatch(text); match != nil {
		hint = fmt.Sprintf("put a space after the colon: %s: %s", match[1], shorten(match[2]))
	}
	return d.error(d.word(d.line), hint, `want "key: value", have %s`, quote(text))
}

// cut explains a line that would continue the value above, had a comment not
// ended that. It returns nil if that is not what happened.
func (d *diagnosis) cut(err *Error) *Error {
	above := err.Line - 1
	if above < 1 || err.offset != d.word(err.Line) || d.indent(err.Line) <= d.indent(above) {
		return nil
	}
	comment := strings.Index(d.source.line(above), " #")
	if comment < d.indent(above) {
		return nil
	}
	value := strings.TrimRight(d.source.line(above)[:comment], " \t")
	if strings.ContainsAny(value[len(value)-1:], `:-|>"'[]{},`) { // No plain value.
		return nil
	}
	return d.error(d.source.lines[above]+comment+1, cutHint, cutMessage)
}

// noBreakSpace explains what a web page can do to an example.
func (d *diagnosis) noBreakSpace() *Error {
	const colon = ":\u00a0"
	for line := max(d.line-1, 1); line <= d.line; line++ {
		if i := strings.Index(d.source.line(line), colon); i >= 0 {
			return d.error(d.source.lines[line]+i+1, "write a plain space",
				"a no-break space does not separate a key from its value")
		}
	}
	return nil
}

// notKey explains something among the keys of a map that is none.
func (d *diagnosis) notKey() *Error {
	at := d.unexpected()
	before, text := strings.TrimRight(d.source.text[:at], " \t"), d.source.text[at:]
	first := firstRunes(text, 1)
	switch last := before[len(before)-1:]; {
	case last == `"`:
		return d.error(at, `write \" for a quote within the text, or put all of the value in single quotes`, "text after the closing quote")
	case last == "'":
		return d.error(at, "write '' for a quote within the text, or put all of the value in double quotes", "text after the closing quote")
	case first == ":":
		return d.error(at, keylessHint, keylessMessage)
	case first == "-" && blankAt(text, 1):
		return d.error(at, "indent it like the list it belongs to", "a list element where a key should be")
	case first == "]" || first == "}":
		return d.error(at, "remove it, or put the value in quotes", "%q closes nothing", first)
	case last == "\n":
		return d.error(at, "indent it like the lines it belongs to", "the indentation fits no line above")
	default:
		return d.error(at, "remove it, or put the value in quotes", "%q cannot stand here", first)
	}
}

func (d *diagnosis) notElement() *Error {
	return d.error(d.unexpected(), `write "- " before it, or indent it like the lines it belongs to`,
		"want the next element of the list")
}

// notValue explains what stands where a value should be. If that is nothing at
// all, a bracket is open.
func (d *diagnosis) notValue() *Error {
	at := d.unexpected()
	text := d.source.text[d.word(d.lineOf(at)):]
	if text == "" || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
		return d.unclosed(len(d.source.text) - len(text))
	}
	switch rest := strings.TrimLeft(d.source.text[at:], "{[, \t\n"); {
	case rest == "":
		return d.unclosed(len(d.source.text))
	case rest[0] == ':':
		return d.error(len(d.source.text)-len(rest), keylessHint, keylessMessage)
	}
	return d.error(at, "remove it, or put the value in quotes", "a value cannot start with %q",
		firstRunes(d.source.text[at:], 1))
}

func (d *diagnosis) lateElement() *Error {
	return d.error(d.indicator("-"), "start the list on the next line, or put the value in quotes",
		"a list element cannot start here")
}

func (d *diagnosis) question() *Error {
	return d.error(d.indicator("?"), quoteHint, `a value cannot start with "? "`)
}

func (d *diagnosis) badStart() *Error {
	at := d.unexpected()
	first := firstRunes(d.source.text[at:], 1)
	if first == "\t" {
		return d.error(at, "indent with spaces", "a tab cannot indent a line")
	}
	return d.error(at, quoteHint, "a value cannot start with %q", first)
}

// tab explains a tab in the indentation, below where the value began.
func (d *diagnosis) tab() *Error {
	for line := d.line; line < len(d.source.lines); line++ {
		text := d.source.line(line)
		stretch, _ := blanks(text)
		if i := strings.IndexByte(text[:stretch], '\t'); i >= 0 {
			return d.error(d.source.lines[line]+i, "indent with spaces", "a tab cannot indent a line")
		}
	}
	return d.error(d.word(d.line), "indent with spaces", "a tab cannot indent a line")
}

// unclosedQuote explains a quote without an end: on its line the first that
// finds none in the rest of the file.
func (d *diagnosis) unclosedQuote() *Error {
	text, end := d.source.text, d.source.lines[d.line]+len(d.source.line(d.line))
	at := d.word(d.line)
	for i := at; i < end; i++ {
		if text[i] != '"' && text[i] != '\'' || !startsValue(text, i) {
			continue
		}
		length := quotedLen(text[i:])
		if length == 0 {
			at = i
			break
		}
		i += length - 1
	}
	return d.error(at, "close it", "the quote that starts here is not closed")
}

func (d *diagnosis) badEscape() *Error {
	text := d.source.text
	for i := d.source.lines[d.line]; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		written, value := escape(text[i:])
		if value == "" && !strings.HasPrefix(text[i:], "\\\n") && d.fails(min(i+written+1, len(text))) {
			return d.error(i, `write \\ for a backslash, or put the text in single quotes`,
				"%s is not an escape", firstLine(text[i:i+written]))
		}
		i += written - 1
	}
	return d.error(d.word(d.line), `write \\ for a backslash`, "%s", d.problem)
}

// unknownAnchor finds an alias that the parser names without its line.
func (d *diagnosis) unknownAnchor() *Error {
	_, name, _ := strings.Cut(d.problem, "'")
	name, _, _ = strings.Cut(name, "'")
	text, alias := d.source.text, "*"+name
	for i := 1; i < len(text); i++ {
		rest, ok := strings.CutPrefix(text[i:], alias)
		if ok && startsValue(text, i) && (blankAt(rest, 0) || strings.IndexByte("]},:", rest[0]) >= 0) {
			return d.notSupported(i)
		}
	}
	return d.notSupported(d.word(d.line))
}

// refused explains an anchor, alias or tag that is not even well-formed.
func (d *diagnosis) refused() *Error {
	return d.notSupported(d.leading("&*!"))
}

func (d *diagnosis) notSupported(at int) *Error {
	return d.error(at, refusedHint(d.source.text[at:]), "anchors, aliases and tags are not supported")
}

func (d *diagnosis) blockHeader() *Error {
	return d.error(d.leading("|>"), "start the text on the next line, or put the value in quotes",
		"text cannot follow | or > on the same line")
}

func (d *diagnosis) ended() *Error {
	return d.error(d.unexpected(), `write "---" on a line of its own between documents`,
		"the document has already ended")
}

func (d *diagnosis) tooDeep() *Error {
	return d.error(d.word(d.line), "write it flatter", "maps and lists are nested deeper than %d", maxDepth)
}

func (d *diagnosis) other() *Error {
	return d.error(d.word(d.line), "write this line or the one above in a simpler way", "%s", d.problem)
}
