package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns a text that is to be a part of a line: line breaks are escaped, and what a terminal would obey.
func Line(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' || hostile(r) }) && utf8.ValidString(text) {
		return text
	}
	var out []byte
	for _, r := range text {
		switch {
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case hostile(r):
			out = appendEscape(out, r)
		default:
			out = utf8.AppendRune(out, r) // Of bytes that are no UTF-8, the character for them.
		}
	}
	return string(out)
}

// Sprintf is [fmt.Sprintf] with a [Line] of each argument that is a text, an error or a [fmt.Stringer]. The lines of
// the format remain those of the text.
func Sprintf(format string, args ...any) string {
	lines := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			lines[i] = Line(arg)
		case error:
			lines[i] = Line(arg.Error())
		case fmt.Stringer:
			lines[i] = Line(arg.String())
		default:
			lines[i] = arg
		}
	}
	return fmt.Sprintf(format, lines...)
}

// Lines returns a [Line] of each text.
func Lines(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Line(text)
	}
	return out
}

// hostile reports whether a character is obeyed or changes the order of others: control characters of C0 and C1 but for
// tabs and line breaks, line separators, and all of Unicode's formatting but for the joiners of scripts and emoji.
func hostile(r rune) bool {
	switch r {
	case '\t', '\n', '\u200c', '\u200d':
		return false
	default:
		return !unicode.IsGraphic(r)
	}
}

func appendEscape(to []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Appendf(to, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(to, `\u%04x`, r)
}
