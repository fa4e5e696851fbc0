package value

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
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
		w.add(" " + yamlScalar(v, w.budget) + "\n")
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

func yamlScalar(v any, budget *Budget) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool, int64:
		text, _ := Text(v)
		return text
	case float64:
		text, ok := Text(v)
		if !ok {
			Must(Faultf("YAML in Kubernetes has no number for %v", v))
		}
		if !strings.Contains(text, ".") { // YAML 1.1 wants a point before an exponent.
			text = strings.Replace(text, "e", ".0e", 1)
		}
		return text
	case Amount, Version, time.Duration, time.Time:
		return yamlText(written(v, budget))
	case Stamp:
		Must(ErrStamp)
	}
	Must(Faultf("%s has no YAML form", KindOf(v)))
	return ""
}

// ParseYAML returns the value that text holds, nil if it is empty. Integers stay
// such. What readers of YAML 1.1 and 1.2 understand differently is an error, as
// are duplicate keys, tags, merge keys and several documents. An alias stands for
// what its anchor marks.
func ParseYAML(text string, budget *Budget) (v any, err error) {
	defer Catch(&err)
	chargeYAML(text, budget)
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, more yaml.Node
	err = decodeYAML(decoder, &document)
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
	return readYAML(document.Content[0], budget, 0), nil
}

// chargeYAML pays for the parser, which keeps a lot for each node and for each
// level that is open, by what can be the sign of one.
func chargeYAML(text string, budget *Budget) {
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
	Must(budget.Steps(stepsOfParser + len(text) + signs*stepsPerSign))
	Must(budget.Bytes(bytesOfParser + len(text)*bytesPerByte + signs*bytesPerSign))
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

// stepsOfScalar is for a scalar that might be a number.
const stepsOfScalar = 12

// readYAML visits what an alias stands for each time anew, so that the budget ends
// a bomb of aliases and the depth one that holds itself.
func readYAML(n *yaml.Node, budget *Budget, depth int) any {
	if depth > Depth {
		Must(errDepth)
	}
	Must(budget.Steps(4))
	if n.Style&yaml.TaggedStyle != 0 {
		Must(yamlFault(n, "the tag %s is not supported", Excerpt(n.Tag)))
	}
	switch n.Kind {
	case yaml.SequenceNode:
		Must(budget.List(len(n.Content)))
		list := make([]any, len(n.Content))
		for i, element := range n.Content {
			list[i] = readYAML(element, budget, depth+1)
		}
		return list
	case yaml.MappingNode:
		Must(budget.Map(len(n.Content) / 2))
		m := make(map[string]any, len(n.Content)/2)
		for pair := range slices.Chunk(n.Content, 2) {
			v := readYAML(pair[0], budget, depth+1)
			key, ok := v.(string)
			if !ok {
				Must(yamlFault(pair[0], "a key is %s and has to be a string", KindOf(v)))
			}
			if _, twice := m[key]; twice {
				Must(yamlFault(pair[0], "the key %q is already there", Excerpt(key)))
			}
			m[key] = readYAML(pair[1], budget, depth+1)
		}
		return m
	case yaml.AliasNode:
		return readYAML(n.Alias, budget, depth+1)
	default:
		Must(budget.Bytes(sizeOfElement))
		Must(budget.Steps(stepsOfScalar))
		return resolveYAML(n)
	}
}

func yamlFault(n *yaml.Node, format string, args ...any) *Fault {
	return Faultf("line %d of the YAML: %s", n.Line, fmt.Sprintf(format, args...))
}

// resolveYAML gives a scalar its type. Times are texts.
func resolveYAML(n *yaml.Node) any {
	const longestNumber = 64
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	tag := n.ShortTag()
	if quoted || tag == "!!timestamp" || tag == "!!str" && len(n.Value) > longestNumber {
		return n.Value
	}
	v, message, hint := Resolve(n.Value)
	if message != "" {
		Must(yamlFault(n, "%s", message).WithHint("%s", hint))
	}
	return v
}
