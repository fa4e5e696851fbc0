package value

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// YAML returns v as YAML, laid out as kubectl does and with sorted keys. Readers
// of any version of YAML make an equal value of it: what one of them could take
// for something else is in quotes.
func YAML(v any, budget *Budget) (string, error) {
	w := yamlWriter{budget: budget}
	err := w.value(v, place{}, 0)
	return string(w.text), err
}

// yamlWriter writes whole lines.
type yamlWriter struct {
	text   []byte
	budget *Budget
	// inLine says that the next list or map starts behind a dash and not on a line.
	inLine bool
}

// place is where a value goes: what comes before it, and how far a list, a map or
// a block of text there is indented.
type place struct {
	lead                 string
	list, mapping, block int
}

func behindKey(indent int) place {
	return place{lead: "\n", list: indent, mapping: indent + 2, block: indent + 2}
}

func behindDash(indent int) place {
	return place{lead: " ", list: indent + 2, mapping: indent + 2, block: indent + 2}
}

func (w *yamlWriter) value(v any, at place, depth int) error {
	if depth > Depth {
		return errDepth
	}
	if err := w.budget.Steps(4); err != nil {
		return err
	}
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			w.begin(at)
			return w.list(v, at.list, depth)
		}
		return w.line(at, "[]")
	case map[string]any:
		if len(v) > 0 {
			w.begin(at)
			return w.mapping(v, at.mapping, depth)
		}
		return w.line(at, "{}")
	case string:
		return w.string(v, at)
	default:
		text, err := yamlScalar(v, w.budget)
		if err != nil {
			return err
		}
		return w.line(at, text)
	}
}

func (w *yamlWriter) begin(at place) {
	w.text = append(w.text, at.lead...)
	w.inLine = at.lead == " "
}

// line ends the line with a text.
func (w *yamlWriter) line(at place, text string) error {
	if err := w.spend(len(text)); err != nil {
		return err
	}
	if at.lead != "" {
		w.text = append(w.text, ' ')
	}
	w.text = append(append(w.text, text...), '\n')
	return nil
}

// spend pays for n more bytes. Growing by doubling and the copy into a string cost
// three times the text.
func (w *yamlWriter) spend(n int) error {
	if err := w.budget.Steps(n / 8); err != nil {
		return err
	}
	return w.budget.Bytes(3 * (n + 4))
}

// margin starts a line.
func (w *yamlWriter) margin(indent int) error {
	if w.inLine {
		w.inLine = false
		return nil
	}
	if err := w.spend(indent); err != nil {
		return err
	}
	for range indent {
		w.text = append(w.text, ' ')
	}
	return nil
}

func (w *yamlWriter) list(list []any, indent, depth int) error {
	for _, element := range list {
		if err := w.margin(indent); err != nil {
			return err
		}
		w.text = append(w.text, '-')
		if err := w.value(element, behindDash(indent), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *yamlWriter) mapping(m map[string]any, indent, depth int) error {
	const longest = 256 // In characters that may take four bytes; readers need an end within 1,024.
	keys, err := SortedKeys(m, w.budget)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if len(key) > longest {
			return Faultf("the key %q is too long for YAML", Excerpt(key))
		}
		if err := w.margin(indent); err != nil {
			return err
		}
		if err := w.spend(6 * len(key)); err != nil {
			return err
		}
		w.text = append(w.text, yamlText(key)...)
		w.text = append(w.text, ':')
		if err := w.value(m[key], behindKey(indent), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// string writes several lines as such where nothing in them needs an escape.
func (w *yamlWriter) string(text string, at place) error {
	if err := w.spend(6 * len(text)); err != nil {
		return err
	}
	if !fitsBlock(text) {
		return w.line(at, yamlText(text))
	}
	style, body := "|-", text
	if cut, found := strings.CutSuffix(text, "\n"); found {
		style, body = "|", cut
		if strings.HasSuffix(cut, "\n") {
			style = "|+"
		}
	}
	if err := w.line(at, style); err != nil {
		return err
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			if err := w.margin(max(at.block, 2)); err != nil {
				return err
			}
		}
		w.text = append(append(w.text, line...), '\n')
	}
	return nil
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

func yamlScalar(v any, budget *Budget) (string, error) {
	switch v := v.(type) {
	case nil:
		return "null", nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", Faultf("YAML in Kubernetes has no number for %v", v)
		}
		text := string(appendFloat(nil, v))
		if !strings.Contains(text, ".") { // YAML 1.1 wants a point before an exponent.
			text = strings.Replace(text, "e", ".0e", 1)
		}
		return text, nil
	case bool, int64:
		text, _ := Text(v)
		return text, nil
	case Amount, Version, time.Duration, time.Time:
		text, err := written(v, budget)
		return yamlText(text), err
	case Omitted:
		return "", Faultf("omit() has no YAML form")
	case Stamp:
		return "", ErrStamp
	default:
		return "", Faultf("a value of type %T has no YAML form", v)
	}
}
