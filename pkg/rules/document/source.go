package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Limits of one file. They keep hostile input cheap and are far above what
// anybody writes.
const (
	maxSize      = 256 << 10 // bytes
	maxDepth     = 64        // levels of indentation, and of brackets
	maxNodes     = 40_000    // keys and values
	maxOnLine    = 15_000    // keys and values on a line with brackets, all of which the parser keeps until its end
	maxDocuments = 1_000     // empty ones too
)

// source is the text of a file with LF line ends.
type source struct {
	name  string
	text  string
	lines []int // where each line starts
	json  bool  // the text is read as JSON, not as YAML
	// parsed are the lines as the parser counts them, which takes U+2028 and U+2029 for line breaks.
	parsed []int
	// parts are where the texts start that the parser reads one after the other, and base is where the last one does.
	parts []int
	base  Position
	// unseen is that of the [File].
	unseen bool
}

// Position is a place in a file as editors show it.
type Position struct {
	Line   int // from 1
	Column int // from 1, in runes
}

func newSource(f File, r reading) (*source, *Error) {
	if len(f.Data) > r.size {
		return nil, tooLarge(f, "the file has %d bytes, at most %d are read", len(f.Data), r.size)
	}
	text := string(f.Data)
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return nil, &Error{File: f.Name, Message: "the file is UTF-16", Hint: "save it as UTF-8"}
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	s := &source{name: f.Name, unseen: f.Unseen, text: text, lines: make([]int, 0, 1+strings.Count(text, "\n"))}
	offset, nodes := 0, 0
	for line := range strings.Lines(text) {
		on := density(line)
		if on > r.onLine && strings.ContainsAny(line, "[{") {
			return nil, &Error{
				File: f.Name, Line: len(s.lines) + 1, Column: 1, Hint: "split the line",
				Message: fmt.Sprintf("the line may hold %d keys and values, at most %d are read", on, r.onLine),
			}
		}
		s.lines, offset, nodes = append(s.lines, offset), offset+len(line), nodes+on
	}
	if text == "" || text[len(text)-1] == '\n' {
		s.lines = append(s.lines, offset)
	}
	if nodes > r.nodes {
		return nil, tooLarge(f, "the file may hold %d keys and values, at most %d are read", nodes, r.nodes)
	}
	s.parsed, s.parts = s.lines, []int{0}
	refused := []*unicode.RangeTable{unreadable, separators, directions}
	if r.manifests {
		refused = refused[:1]
		if starts := jsonStarts(text); starts != nil {
			s.json, s.parts = true, starts
		} else if strings.ContainsAny(text, "\u2028\u2029") {
			s.parsed = []int{0}
			for i, r := range text {
				if r == '\n' || unicode.Is(separators, r) {
					s.parsed = append(s.parsed, i+utf8.RuneLen(r))
				}
			}
		}
	}
	return s, s.check(refused)
}

// jsonStarts returns where the documents of a JSON text start, nil if it is none. Several follow each other as kubectl reads them: the
// first one is an object.
func jsonStarts(text string) (starts []int) {
	if json.Valid([]byte(text)) {
		return []int{0}
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		at := int(decoder.InputOffset())
		var document json.RawMessage
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return starts
		case err != nil || document[0] != '{':
			return nil
		}
		starts = append(starts, at)
	}
}

func tooLarge(f File, format string, args ...any) *Error {
	return &Error{File: f.Name, Message: fmt.Sprintf(format, args...), Hint: "split it into several files"}
}

// check refuses what YAML refuses, the line breaks only YAML 1.1 knows, the marks that make a terminal show other text than is
// there, and directives: %YAML would change what the text means. The parser takes a line
// that begins with "%" as one unless it is within quotes, where it can be indented as well.
func (s *source) check(refused []*unicode.RangeTable) *Error {
	for i, r := range s.text {
		var message, hint string
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s.text[i:], string(utf8.RuneError)):
			message, hint = fmt.Sprintf("byte 0x%02X is not UTF-8", s.text[i]), "save the file as UTF-8"
		case s.json:
			continue
		case r == '\r':
			message, hint = "carriage return without a line feed", "save the file with LF or CRLF line ends"
		case unicode.In(r, refused...):
			message, hint = fmt.Sprintf("invisible character U+%04X", r), fmt.Sprintf(`remove it, or write \u%04X within double quotes`, r)
		case r == '%' && (i == 0 || s.text[i-1] == '\n'):
			message, hint = "directives are not supported", "remove the line, or indent it if it is text"
		default:
			continue
		}
		return s.errorAt(i, hint, "%s", message)
	}
	return nil
}

// unreadable are the characters that YAML refuses, separators the line breaks that only YAML 1.1 knows, and directions those that it
// should refuse too.
var (
	unreadable = &unicode.RangeTable{
		R16: []unicode.Range16{
			{Lo: 0x00, Hi: 0x08, Stride: 1}, // All control characters but tab and line feed.
			{Lo: 0x0b, Hi: 0x1f, Stride: 1},
			{Lo: 0x7f, Hi: 0x9f, Stride: 1},
			{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // Byte order mark.
			{Lo: 0xfffe, Hi: 0xffff, Stride: 1},
		},
		LatinOffset: 3,
	}
	separators = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x2028, Hi: 0x2029, Stride: 1}}}
	directions = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}
)

// notYAML are parts of strings that JSON may have and YAML may not, with the escapes that are not to be mistaken for them.
var notYAML = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.|[\x{7f}-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}]`)

// yaml is a part of the text for the parser. Where it is JSON, the parser gets other characters for those that it refuses, as many, so that
// each value stays in its place; [source.unquote] reads the value.
func (s *source) yaml(part int) string {
	text := s.text[s.parts[part]:]
	if part+1 < len(s.parts) {
		text = text[:s.parts[part+1]-s.parts[part]]
	}
	if !s.json {
		return text
	}
	return notYAML.ReplaceAllStringFunc(strings.ReplaceAll(text, "\t", " "), func(part string) string {
		switch {
		case part[0] != '\\':
			return string(utf8.RuneError)
		case len(part) > len(`\n`):
			return `\uFFFD`
		default:
			return part
		}
	})
}

// unquote reads the string of a JSON text at an offset.
func (s *source) unquote(offset int) (text string) {
	_ = json.NewDecoder(strings.NewReader(s.text[offset:])).Decode(&text) // All of the text is valid.
	return text
}

// density is at least the number of nodes the text can hold. The parser needs
// some 200 bytes for each and a node may take one byte of text, so this is
// judged before it sees the text.
func density(text string) int {
	total := 0
	for i := range len(text) {
		switch text[i] {
		case ',', '[', '{':
			total += 2
		case ':', '\n':
			total++
		case '?':
			total++
			if blankAt(text, i+1) {
				total += 2 // The map around the key, and its value.
			}
		case '-':
			if blankAt(text, i+1) {
				total++
			}
		}
	}
	return total
}

// blankAt tells whether white space or the end of the text is at the offset.
func blankAt(text string, offset int) bool {
	return offset >= len(text) || strings.IndexByte(" \t\n", text[offset]) >= 0
}

// position returns the place of an offset.
func (s *source) position(offset int) Position {
	line, starts := slices.BinarySearch(s.lines, offset)
	if starts {
		line++
	}
	return Position{line, 1 + utf8.RuneCountInString(s.text[s.lines[line-1]:offset])}
}

// cursor is the place that was found last.
type cursor struct {
	offset int
	Position
}

// find returns the offset of a place that the parser tells. It takes time only for the text between it and the cursor, if that is before it on its line.
func (s *source) find(c *cursor, line, column int) int {
	line = max(line, 1)
	if line == 1 {
		column += s.base.Column - 1
	}
	line += s.base.Line - 1
	if line > len(s.parsed) {
		return len(s.text)
	}
	if c.Line != line || c.Column > column {
		*c = cursor{s.parsed[line-1], Position{line, 1}}
	}
	for c.Column < column && c.offset < len(s.text) && s.text[c.offset] != '\n' {
		_, size := utf8.DecodeRuneInString(s.text[c.offset:])
		c.offset += size
		c.Column++
	}
	return c.offset
}

// line returns the text of a line without its break.
func (s *source) line(number int) string {
	text, _, _ := strings.Cut(s.text[s.lines[number-1]:], "\n")
	return text
}

// errorAt returns an error about the first character at a place.
func (s *source) errorAt(offset int, hint, format string, args ...any) *Error {
	return s.errorBetween(offset, offset+1, hint, format, args...)
}

// errorBetween returns an error about a part of the text, of which the first line is shown.
func (s *source) errorBetween(start, end int, hint, format string, args ...any) *Error {
	at := s.position(start)
	marked, _, _ := strings.Cut(s.text[start:max(start, min(end, len(s.text)))], "\n")
	if s.unseen {
		at, marked = Position{}, ""
	}
	return &Error{
		File:    s.name,
		Line:    at.Line,
		Column:  at.Column,
		Length:  max(utf8.RuneCountInString(marked), 1),
		Message: sentence(fmt.Sprintf(format, args...)),
		Hint:    sentence(hint),
		source:  s,
		offset:  start,
		fixed:   len(args) == 0,
	}
}

// Of a long line this many runes are shown, and before the mistake at most so
// many.
const (
	longest    = 100
	mostBefore = 60
)

// excerpt returns the source line and the carets below it.
func (e *Error) excerpt() string {
	before := e.source.text[e.source.lines[e.Line-1]:e.offset]
	after, _, _ := strings.Cut(e.source.text[e.offset:], "\n")
	marked := firstRunes(after, min(e.Length, longest))

	shown := lastRunes(before, mostBefore)
	rest := firstRunes(after, longest-utf8.RuneCountInString(shown))
	if len(shown) < len(before) {
		shown = "..." + shown
	}
	shown = onScreen(shown)
	if len(rest) < len(after) {
		rest += "..."
	}
	number := fmt.Sprint(e.Line)
	return fmt.Sprintf("%s\n  %*s | %*s%s\n",
		strings.TrimRight(fmt.Sprintf("  %s | %s%s", number, shown, onScreen(rest)), " "),
		len(number), "",
		columns(shown), "",
		strings.Repeat("^", max(columns(onScreen(marked)), 1)))
}

// quote renders text of a file for a message, cut so that one hostile key cannot fill the screen.
func quote(text string) string { return strconv.Quote(value.Excerpt(text)) }

// sentence makes one line of a message or a hint that a terminal can show,
// whatever the values that it tells of, and cuts it before it fills the screen.
func sentence(text string) string {
	const most = 800
	if short := firstRunes(text, most); len(short) < len(text) {
		text = short + "..."
	}
	return onScreen(strings.ReplaceAll(text, "\n", " "))
}

// firstRunes and lastRunes look only at the part they keep, of at most four bytes for each: a file may be one line of 256 KiB with a
// mistake in every word.
func firstRunes(text string, n int) string {
	runes := []rune(text[:min(len(text), utf8.UTFMax*n)])
	return string(runes[:min(len(runes), n)])
}

func lastRunes(text string, n int) string {
	runes := []rune(text[max(len(text)-utf8.UTFMax*n, 0):])
	return string(runes[max(len(runes)-n, 0):])
}

// onScreen is a part of a line of a file as it is shown. Tabs become spaces, so that the caret stays in place.
func onScreen(text string) string { return printable.Line(strings.ReplaceAll(text, "\t", "    ")) }

// columns is how many cells of a terminal the text takes.
func columns(text string) int {
	total := 0
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			total += 2
		default:
			total++
		}
	}
	return total
}
