package generate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// text writes a string in one of the styles that can hold it.
func (w *writer) text(text string, p place) string {
	oneLine := !strings.Contains(text, "\n")
	styles := []func() string{func() string { return w.fold(w.doubleQuoted(text), p) }}
	if isPrintable(text) && oneLine {
		styles = append(styles, func() string { return w.fold("'"+strings.ReplaceAll(text, "'", "''")+"'", p) })
	}
	if isPlain(text, p.flow) {
		styles = append(styles, func() string { return w.fold(text, p) })
	}
	if block := !p.flow && isPrintable(text) && strings.Trim(text, " \n") != ""; block {
		styles = append(styles, func() string { return w.literal(text, p) })
		if oneLine && text == strings.TrimSpace(text) {
			styles = append(styles, func() string { return ">-\n" + p.pad() + w.fold(text, p) })
		}
	}
	return Of(w.t, styles...)()
}

// literal says its indentation where the text itself begins with white space, and what becomes of the line breaks at
// its end.
func (w *writer) literal(text string, p place) string {
	header := "|"
	if strings.HasPrefix(strings.TrimLeft(text, "\n"), " ") || Chance(w.t, 10) {
		header += strconv.Itoa(p.step)
	}
	body := strings.TrimRight(text, "\n")
	breaks := len(text) - len(body)
	switch breaks {
	case 0:
		header += "-"
	case 1:
	default:
		header += "+"
		w.kept = true
	}
	var out strings.Builder
	out.WriteString(header)
	for line := range strings.SplitSeq(body, "\n") {
		out.WriteString("\n")
		if line != "" {
			out.WriteString(p.pad() + line)
		}
	}
	out.WriteString(strings.Repeat("\n", max(breaks-1, 0)))
	return out.String()
}

// fold breaks lines at single spaces, each of which is then a space again.
func (w *writer) fold(text string, p place) string {
	var out strings.Builder
	for i, r := range text {
		single := r == ' ' && i > 0 && i+1 < len(text) && text[i-1] > ' ' && text[i+1] > ' ' && text[i+1] != '#'
		if single && text[i-1] != '\\' && Chance(w.t, 10) {
			out.WriteString("\n" + p.pad())
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// doubleQuoted escapes what must be, and now and then what need not.
func (w *writer) doubleQuoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch must := strings.ContainsRune("\"\\\n\t", r); {
		case must && Chance(w.t, 90):
			out.WriteString(map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\t': `\t`}[r])
		case must || !unicode.IsPrint(r) || Chance(w.t, 3):
			out.WriteString(numbered(r))
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// numbered is a rune as an escape of its number.
func numbered(r rune) string {
	switch {
	case r > 0xffff:
		return fmt.Sprintf(`\U%08X`, r)
	case r > 0xff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\x%02x`, r)
	}
}

// isPrintable tells whether a text can stand as it is.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}

// plain are some of the texts that need no quotes.
var plain = regexp.MustCompile(`^[A-Za-z$][A-Za-z0-9_.()$&|=<>+*?'"/-]*( [A-Za-z0-9_.()$&|=<>+*?'"/]+)*$`)

// traps are those that no two readers of YAML agree on, and those that are not text.
var traps = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)

func isPlain(text string, flow bool) bool {
	bracketed := flow && strings.ContainsAny(text, "?[]{},")
	return plain.MatchString(text) && !traps.MatchString(text) && !bracketed
}
