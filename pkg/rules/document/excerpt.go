package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

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
