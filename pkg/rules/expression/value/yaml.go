package value

import (
	"strconv"
	"strings"
	"unicode"
)

// YAML returns v as YAML, laid out as kubectl does and with sorted keys. Readers
// of any version of YAML make an equal value of it: what one of them could take
// for something else is in quotes.
//
// The library would take some 1,500 bytes and 4 us for each value, too much for what a
// rule makes of a thousand objects.
func YAML(v any, budget *Budget) (text string, err error) {
	defer Catch(&err)
	w := yamlWriter{budget: budget}
	w.value(v, 0, 0, 0)
	return strings.TrimPrefix(string(w.text), " "), nil
}

type yamlWriter struct {
	text   []byte
	budget *Budget
}

// add pays for growing by doubling, and for the copy into a string.
func (w *yamlWriter) add(text string) {
	Must(w.budget.Steps(len(text) / 8))
	Must(w.budget.Bytes(3 * (len(text) + 4)))
	w.text = append(w.text, text...)
}

// margin begins a line, unless the text ends with a dash: the first element or entry
// stands behind it.
func (w *yamlWriter) margin(indent int) {
	if n := len(w.text); n > 0 && w.text[n-1] == '-' {
		w.add(" ")
		return
	}
	if len(w.text) > 0 && w.text[len(w.text)-1] != '\n' {
		w.add("\n")
	}
	w.add(strings.Repeat(" ", indent))
}

// value writes a value behind a key or a dash, and ends the line. A list and a map are
// indented by so many spaces.
func (w *yamlWriter) value(v any, ofList, ofMap, depth int) {
	if depth > Depth {
		Must(errDepth)
	}
	Must(w.budget.Steps(4))
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			w.add(" []\n")
		}
		for _, element := range v {
			w.margin(ofList)
			w.add("-")
			w.value(element, ofList+2, ofList+2, depth+1)
		}
	case map[string]any:
		if len(v) == 0 {
			w.add(" {}\n")
		}
		for _, key := range Got(SortedKeys(v, w.budget)) {
			const longest = 256 // In characters that may take four bytes; readers need an end within 1,024.
			if len(key) > longest {
				Must(Faultf("the key %q is too long for YAML", Excerpt(key)))
			}
			w.margin(ofMap)
			w.add(yamlText(key) + ":")
			w.value(v[key], ofMap, ofMap+2, depth+1)
		}
	case string:
		w.string(v, max(ofMap, 2))
	default:
		text := Got(JSON(v, w.budget))
		if _, isFloat := v.(float64); isFloat && !strings.Contains(text, ".") { // YAML 1.1 wants a point before an exponent.
			text = strings.Replace(text, "e", ".0e", 1)
		}
		w.add(" " + text + "\n")
	}
}

// string writes several lines as such where nothing in them needs an escape.
func (w *yamlWriter) string(text string, indent int) {
	Must(w.budget.Bytes(12 * len(text))) // Escaped in quotes, it may be four times as long.
	if !fitsBlock(text) {
		w.add(" " + yamlText(text) + "\n")
		return
	}
	body, ends := strings.CutSuffix(text, "\n")
	switch {
	case !ends:
		w.add(" |-\n")
	case strings.HasSuffix(body, "\n"):
		w.add(" |+\n")
	default:
		w.add(" |\n")
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.add(strings.Repeat(" ", indent))
		}
		w.add(line + "\n")
	}
}

// fitsBlock reports whether a text has several lines that can stand as they are.
// The first one shows how far all are indented.
func fitsBlock(text string) bool {
	unprintable := func(r rune) bool { return r != '\n' && (!unicode.IsPrint(r) || r == unicode.ReplacementChar) }
	return strings.Contains(text, "\n") && !strings.ContainsAny(text[:1], " \n") && !strings.ContainsFunc(text, unprintable)
}

// yamlText writes a text on one line, in quotes unless it can only be a text.
func yamlText(text string) string {
	if isPlain(text) {
		return text
	}
	// What Go escapes, and how, is what YAML knows too, but for bytes that are no text.
	return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD"))
}

// isPlain knows the texts that begin with a letter and are no word with a meaning.
func isPlain(text string) bool {
	switch strings.ToLower(text) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && strings.IndexByte("0123456789-_./+=@$%()", c) >= 0:
		case i > 0 && strings.IndexByte(" :", c) >= 0 && i+1 < len(text) && strings.IndexByte(" :", text[i+1]) < 0:
		default:
			return false
		}
	}
	return true
}
