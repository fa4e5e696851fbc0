package value

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
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

// ParseYAML returns the value that text holds, nil if it is empty. Integers stay
// such. What readers of YAML 1.1 and 1.2 understand differently is an error, as
// are duplicate keys, tags, merge keys and several documents. An alias stands for
// what its anchor marks.
func ParseYAML(text string, budget *Budget) (any, error) {
	if err := chargeYAML(text, budget); err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, more yaml.Node
	err := decodeYAML(decoder, &document)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := decodeYAML(decoder, &more); !errors.Is(err, io.EOF) {
		if err == nil {
			err = Faultf("the YAML has several documents").WithHint("cut it with split(text, \"\\n---\\n\")")
		}
		return nil, err
	}
	return yamlReader{budget}.value(document.Content[0], 0)
}

// chargeYAML pays for the parser, which keeps a lot for each node and for each
// level that is open, by what can be the sign of one.
func chargeYAML(text string, budget *Budget) error {
	const bytesOfParser, bytesPerSign, bytesPerByte = 5000, 250, 8
	const stepsOfParser, stepsPerSign = 300, 20
	signs, directives, first := 0, 0, true // Whether nothing has been on the line yet.
	for i := range len(text) {
		alone := i+1 == len(text) || strings.IndexByte(" \t\r\n", text[i+1]) >= 0
		switch c := text[i]; c {
		case '[', '{':
			signs += 4
		case '-', '?':
			signs += signsOfIndicator(alone, first)
		case ',', ':', '#', '\n', '\r':
			signs++
		case '%':
			if first { // The parser compares each directive with all before it.
				directives++
				signs += directives
			}
		}
		first = text[i] == '\n' || first && text[i] == ' '
	}
	if err := budget.Steps(stepsOfParser + len(text) + signs*stepsPerSign); err != nil {
		return err
	}
	return budget.Bytes(bytesOfParser + len(text)*bytesPerByte + signs*bytesPerSign)
}

// signsOfIndicator is what a dash or question mark can lead to: behind another one
// it opens a level, else it may start an element or a text.
func signsOfIndicator(alone, first bool) int {
	switch {
	case alone && !first:
		return 4
	case alone:
		return 2
	default:
		return 1
	}
}

// decodeYAML contains the panics of the parser, which knows some states it calls
// impossible.
func decodeYAML(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Faultf("invalid YAML: %v", r)
		}
	}()
	err = decoder.Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return Faultf("invalid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}

type yamlReader struct{ budget *Budget }

// value visits what an alias stands for each time anew, so that the budget ends
// a bomb of aliases and the depth one that holds itself.
func (r yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if depth > Depth {
		return nil, errDepth
	}
	if err := r.budget.Steps(4); err != nil {
		return nil, err
	}
	if n.Style&yaml.TaggedStyle != 0 {
		return nil, yamlFault(n, "the tag %s is not supported", Excerpt(n.Tag))
	}
	switch n.Kind {
	case yaml.SequenceNode:
		return r.list(n, depth)
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	default:
		if err := r.budget.Bytes(sizeOfElement); err != nil {
			return nil, err
		}
		return resolveYAML(n)
	}
}

func (r yamlReader) list(n *yaml.Node, depth int) (any, error) {
	if err := r.budget.List(len(n.Content)); err != nil {
		return nil, err
	}
	list := make([]any, len(n.Content))
	for i, element := range n.Content {
		var err error
		if list[i], err = r.value(element, depth+1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r yamlReader) mapping(n *yaml.Node, depth int) (any, error) {
	if err := r.budget.Map(len(n.Content) / 2); err != nil {
		return nil, err
	}
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		at := n.Content[i]
		v, err := r.value(at, depth+1)
		if err != nil {
			return nil, err
		}
		key, ok := v.(string)
		if !ok {
			return nil, yamlFault(at, "a key is %s and has to be a string", KindOf(v))
		}
		if _, twice := m[key]; twice {
			return nil, yamlFault(at, "the key %q is already there", Excerpt(key))
		}
		if m[key], err = r.value(n.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func yamlFault(n *yaml.Node, format string, args ...any) *Fault {
	return Faultf("line %d of the YAML: %s", n.Line, fmt.Sprintf(format, args...))
}

var (
	yamlInteger = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	yamlFloat   = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	// yamlSexagesimal is a number in YAML 1.1 alone.
	yamlSexagesimal = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
)

// resolveYAML gives a scalar its type. The parser's own view is used to find what
// is not a text for everybody.
func resolveYAML(n *yaml.Node) (any, error) {
	text := n.Value
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return text, nil
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(text, "true"), nil
	case "!!timestamp":
		return text, nil
	case "!!str":
		if !isTrap(text) {
			return text, nil
		}
	}
	return resolveNumber(n, text)
}

// isTrap knows the texts that only some readers take for a boolean, a number or an
// old default.
func isTrap(text string) bool {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF", "=":
		return true
	}
	const longestNumber = 64
	if text == "" || len(text) > longestNumber || strings.IndexByte("+-.0123456789", text[0]) < 0 {
		return false
	}
	return yamlSexagesimal.MatchString(text) || yamlFloat.MatchString(text)
}

func resolveNumber(n *yaml.Node, text string) (any, error) {
	switch {
	case yamlInteger.MatchString(text):
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, yamlFault(n, "%s does not fit a 64-bit integer", Excerpt(text))
		}
		return i, nil
	case yamlFloat.MatchString(text):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, yamlFault(n, "%s does not fit a float", Excerpt(text))
		}
		return f, nil
	default:
		return nil, yamlFault(n, "%s means different things to different readers", Excerpt(text)).WithHint("put it in quotes if it is text")
	}
}
