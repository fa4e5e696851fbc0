package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Error is one mistake in a file: where it is, what is wrong, what to write
// instead.
type Error struct {
	File    string // as the user gave it, "-" for standard input
	Line    int    // from 1; 0 if the mistake concerns the whole file
	Column  int    // from 1, in runes
	Length  int    // in runes, at least 1 where Line is set
	Path    string // such as spec.rules[0].when, empty at the root
	Message string
	Hint    string // what to write instead, may be empty

	source *source
	offset int
}

// Error returns position, path, message and hint in one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.header()
	}
	return e.header() + "; " + e.Hint
}

// Redacted returns an error at the same place that says something else, for
// where the message repeats what must not be shown.
func (e *Error) Redacted(message string) *Error {
	out := *e
	out.Message, out.Hint = message, ""
	return &out
}

// Render returns the message with the source line, a caret under the mistake
// and the hint. The text ends with a line break and is safe for a terminal.
func (e *Error) Render() string {
	var out strings.Builder
	out.WriteString(e.header() + "\n")
	if e.source != nil && e.Line > 0 {
		out.WriteString(e.excerpt())
	}
	if e.Hint != "" {
		out.WriteString("  hint: " + e.Hint + "\n")
	}
	return out.String()
}

func (e *Error) header() string {
	name := e.File
	if name == "-" {
		name = "<stdin>"
	}
	var parts []string
	if name != "" {
		parts = append(parts, name)
	}
	if e.Line > 0 {
		parts = append(parts, fmt.Sprintf("%d:%d", e.Line, e.Column))
	}
	place := strings.Join(parts, ":")
	parts = parts[:0]
	for _, part := range []string{place, e.Path, e.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Errors are the mistakes of one or more files.
type Errors []*Error

// Error returns one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Render returns every mistake as [Error.Render] does, with an empty line
// between them.
func (e Errors) Render() string {
	blocks := make([]string, len(e))
	for i, err := range e {
		blocks[i] = err.Render()
	}
	return strings.Join(blocks, "\n")
}

// Unwrap lets errors.As find the single mistakes.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// Err returns nil if there is no mistake, so that an empty list never becomes a
// non-nil error.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// maxErrors is how many mistakes of a file are reported.
const maxErrors = 100

// Enough reports whether there are so many that more would be of no use. A
// loop over a document that collects mistakes ends then: what a file may cost
// is bounded, and each of them costs far more than the text it takes.
func (e Errors) Enough() bool { return len(e) > maxErrors }

// Sorted returns the mistakes by file, line and column, each only once. Where a
// file has too many, the last says so.
func (e Errors) Sorted() Errors {
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, compare)
	sorted = slices.CompactFunc(sorted, func(a, b *Error) bool { return compare(a, b) == 0 })
	kept, ofFile := sorted[:0], 0
	for i, err := range sorted {
		if i == 0 || err.File != sorted[i-1].File {
			ofFile = 0
		}
		ofFile++
		if ofFile > maxErrors+1 {
			continue
		}
		if ofFile > maxErrors {
			err = err.Redacted("more mistakes follow")
			err.Hint = "correct the others first"
		}
		kept = append(kept, err)
	}
	return kept
}

// compare leaves the path out: a map and its first key start at the same place
// and would report the same mistake twice.
func compare(a, b *Error) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Message, b.Message),
	)
}

// quote and shorten render text of a file for a message, cut so that one hostile
// key cannot fill the screen.
func quote(text string) string {
	return strconv.Quote(shorten(text))
}

func shorten(text string) string {
	const most = 60
	if short := firstRunes(text, most); len(short) < len(text) {
		return short + "..."
	}
	return text
}

// sentence makes one line of a message or a hint that a terminal can show,
// whatever the values that it tells of, and cuts it before it fills the screen.
func sentence(text string) string {
	const most = 800
	if short := firstRunes(text, most); len(short) < len(text) {
		text = short + "..."
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return text
	}
	return printable(strings.ReplaceAll(text, "\n", " "))
}

// Of a long line this many runes are shown, and before the mistake at most so
// many.
const (
	longest    = 100
	mostBefore = 60
)

// excerpt returns the source line and the carets below it.
func (e *Error) excerpt() string {
	before := e.source.text[e.source.lines[e.Line]:e.offset]
	after, _, _ := strings.Cut(e.source.text[e.offset:], "\n")
	marked := firstRunes(after, min(e.Length, longest))

	shown := lastRunes(before, mostBefore)
	rest := firstRunes(after, longest-utf8.RuneCountInString(shown))
	if len(shown) < len(before) {
		shown = "..." + shown
	}
	shown = printable(shown)
	if len(rest) < len(after) {
		rest += "..."
	}
	number := fmt.Sprint(e.Line)
	return fmt.Sprintf("%s\n  %*s | %*s%s\n",
		strings.TrimRight(fmt.Sprintf("  %s | %s%s", number, shown, printable(rest)), " "),
		len(number), "",
		columns(shown), "",
		strings.Repeat("^", max(columns(printable(marked)), 1)))
}

// firstRunes and lastRunes look only at the part they keep: a file may be one
// line of 256 KiB with a mistake in every word.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func lastRunes(text string, n int) string {
	i := len(text)
	for ; i > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return text[i:]
}

// printable replaces what would move the cursor: tabs become spaces, so that
// the caret stays in place, and control characters cannot reach the terminal.
func printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			out.WriteString("    ")
		case unicode.IsGraphic(r):
			out.WriteRune(r)
		default:
			out.WriteRune(utf8.RuneError)
		}
	}
	return out.String()
}

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
