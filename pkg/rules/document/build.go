package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// builder turns what the parser read into nodes and notes what is not strict.
type builder struct {
	source *source
	cursor mark
	errors Errors
	// open counts the parentheses that commas have cut values off in.
	open int
}

// report adds an error about a node, unless there are too many to be of use.
func (b *builder) report(n *Node, hint, format string, args ...any) {
	if !b.errors.Enough() {
		b.errors = append(b.errors, n.Errorf(hint, format, args...))
	}
}

// node fills in a node that knows its place in the tree, and all below it.
func (b *builder) node(n *Node, y *yaml.Node, depth int) *Node {
	n.at = b.mark(y)
	refused := b.refuse(n)
	switch y.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		if depth > maxDepth {
			b.report(n, "write it flatter", "maps and lists are nested deeper than %d", maxDepth)
			break
		}
		if y.Kind == yaml.MappingNode {
			b.mapping(n, y, depth)
		} else {
			b.list(n, y, depth)
		}
		b.open = 0
	case yaml.ScalarNode:
		b.scalar(n, y, refused)
	default: // An alias, which is refused.
	}
	return n
}

// refuse reports anchors, aliases and tags. A rule set is also an object in a
// cluster, which has none of them, and a local tag silently empties a value:
// "when: !paused" has no text. Without aliases there are no alias bombs, and
// every value has one place.
func (b *builder) refuse(n *Node) bool {
	n.text = b.source.text[n.at.offset:]
	var what string
	switch firstRunes(n.text, 1) {
	case "&":
		what = "an anchor"
	case "*":
		what = "an alias"
	case "!":
		what = "a tag"
	default:
		n.text = ""
		return false
	}
	if end := strings.IndexAny(n.text, " \t\n,[]{}"); end > 0 {
		n.text = n.text[:end]
	}
	b.report(n, refusedHint(n.text), "%s is %s, which is not supported", quote(n.text), what)
	return true
}

const (
	keylessMessage = `there is no key before ":"`
	keylessHint    = `write one, or put ":" in quotes if it belongs to the text`
)

// refusedHint says what to write instead of an anchor, an alias or a tag.
func refusedHint(text string) string {
	if strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "!!") {
		return `put the value in quotes, an expression such as "!paused" too`
	}
	return "put the value in quotes if it is text, else write it out"
}

func (b *builder) scalar(n *Node, y *yaml.Node, refused bool) {
	if refused {
		return
	}
	n.text = y.Value
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.style = doubleQuoted
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.style = singleQuoted
	case y.Style&yaml.LiteralStyle != 0:
		n.style = literal
	case y.Style&yaml.FoldedStyle != 0:
		n.style = folded
	default:
		value, message, hint := resolve(n.text)
		if message != "" {
			if n.key == n {
				hint = "write " + quote(n.text)
			}
			b.report(n, hint, "%s", message)
			return
		}
		n.kind, n.scalar = kindOf(value), value
		b.cutByComma(n)
		return
	}
	n.kind, n.scalar = KindString, n.text
}

// cutByComma reports a plain value within [ ] or { } that a comma between
// parentheses ends, as in {a: min(b, c)}.
func (b *builder) cutByComma(n *Node) {
	open := unclosed(n.text)
	if open <= 0 || n.key == n || b.open > 0 {
		return
	}
	_, end := n.extent()
	after := n.source.text[end:]
	comma := end + len(after) - len(strings.TrimLeft(after, " \t\n"))
	if !strings.HasPrefix(n.source.text[comma:], ",") {
		return
	}
	if !b.errors.Enough() {
		b.errors = append(b.errors, n.errorBetween(comma, comma+1, quoteHint, "a plain value within brackets ends at ,"))
	}
	n.kind, n.scalar = KindInvalid, nil
	b.open = open
}

// passed tells whether a scalar is what a comma has cut off.
func (b *builder) passed(n *yaml.Node) bool {
	if b.open <= 0 || n.Kind != yaml.ScalarNode {
		return false
	}
	b.open += unclosed(n.Value)
	return true
}

// unclosed counts the parentheses that are opened and not closed; it is negative
// where more are closed.
func unclosed(text string) int { return strings.Count(text, "(") - strings.Count(text, ")") }

func (b *builder) list(n *Node, y *yaml.Node, depth int) {
	n.kind, n.text = KindList, ""
	n.children = make([]Entry, 0, len(y.Content))
	for i, element := range y.Content {
		if b.passed(element) {
			continue
		}
		child := &Node{parent: n, index: i, source: b.source}
		n.children = append(n.children, Entry{Value: b.node(child, element, depth+1)})
	}
}

func (b *builder) mapping(n *Node, y *yaml.Node, depth int) {
	n.kind, n.text = KindMap, ""
	n.children = make([]Entry, 0, len(y.Content)/2)
	first := make(map[string]*Node, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		if b.passed(y.Content[i]) {
			continue
		}
		key := b.key(n, y.Content[i])
		value := b.node(&Node{parent: n, key: key, source: b.source}, y.Content[i+1], depth+1)
		if other, ok := first[key.text]; ok && key.kind == KindString {
			b.report(key, "remove one of them", "duplicate key %s, first written on line %d",
				quote(key.text), other.at.Line)
			continue
		}
		if key.kind == KindString {
			first[key.text] = key
		}
		n.children = append(n.children, Entry{Key: key, Value: value})
	}
}

// key reads a key, which must be a string.
func (b *builder) key(parent *Node, y *yaml.Node) *Node {
	n := &Node{parent: parent, source: b.source}
	n.key = n
	if y.Kind == yaml.ScalarNode && y.Style == 0 && y.Value == "<<" {
		n.at, n.text = b.mark(y), y.Value
		b.report(n, "write the keys out", "merge keys are not supported")
		return n
	}
	if y.Kind != yaml.ScalarNode && y.Kind != yaml.AliasNode {
		n.at = b.mark(y)
		b.report(n, "put the key in quotes", "a list or map cannot be a key")
		return n
	}
	b.node(n, y, 0)
	if n.kind == KindInvalid || n.kind == KindString {
		return n
	}
	n.kind, n.scalar = KindInvalid, nil
	if n.text == "" {
		b.report(n, keylessHint, keylessMessage)
	} else {
		b.report(n, "write "+quote(n.text), "the key %s is not a string", shorten(n.text))
	}
	return n
}

// mark returns where the parser saw a node. Nodes come in the order of the
// text, so the runes of a long line are counted only once.
func (b *builder) mark(y *yaml.Node) mark {
	line, column := max(y.Line-1, 1), y.Column // Less the break before the text.
	if line >= len(b.source.lines) {
		return b.source.advance(b.cursor, len(b.source.text))
	}
	at := b.cursor
	if at.Line != line || at.Column > column {
		at = mark{b.source.lines[line], Position{line, 1}}
	}
	rest := b.source.text[at.offset:]
	for at.Column < column && rest != "" && rest[0] != '\n' {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		at.offset += size
		at.Column++
	}
	b.cursor = at
	return at
}

// words are the plain scalars with a meaning of their own in both versions of
// YAML.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true,
	"false": false, "False": false, "FALSE": false,
}

var (
	integer     = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	hexadecimal = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	float       = regexp.MustCompile(`^[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?$`)
)

// trap is a kind of plain scalar that readers of YAML 1.1 and 1.2 understand
// differently, so that nobody can know what its author meant.
type trap struct {
	pattern *regexp.Regexp
	reading string
	hint    string // besides quoting it, may be empty
}

// traps follow https://yaml.org/type/ for YAML 1.1 and the core schema of 1.2,
// with what common readers add. The first match counts.
var traps = []trap{
	{
		regexp.MustCompile(`^(y|Y|yes|Yes|YES|on|On|ON)$`),
		"a boolean in YAML 1.1, a string in YAML 1.2", "true for the boolean",
	},
	{
		regexp.MustCompile(`^(n|N|no|No|NO|off|Off|OFF)$`),
		"a boolean in YAML 1.1, a string in YAML 1.2", "false for the boolean",
	},
	{
		regexp.MustCompile(`^[-+]?0[0-7_]+$`),
		"an octal number in YAML 1.1, a decimal one in YAML 1.2", "the decimal number without a leading zero",
	},
	{
		regexp.MustCompile(`^[-+]?0[0-9_]+$`),
		"a string in YAML 1.1, a number in YAML 1.2", "the number without a leading zero",
	},
	{
		regexp.MustCompile(`^[-+]?0[oO][0-7_]+$`),
		"a string in YAML 1.1, an octal number in YAML 1.2", "the decimal number",
	},
	{
		regexp.MustCompile(`^[-+]?0[bB][01_]+$`),
		"a binary number in YAML 1.1, a string in YAML 1.2", "the decimal number",
	},
	{
		regexp.MustCompile(`^[-+]?0[xX][0-9a-fA-F_]+$`),
		"a number in YAML 1.1, a string in YAML 1.2", "the decimal number",
	},
	{
		regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$`),
		"a string in YAML 1.1, a number in YAML 1.2", "the number with a point and a signed exponent like 1.0e+3",
	},
	{ // Without underscores it is a number for everybody, and does not get here.
		regexp.MustCompile(`^[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$`),
		"a number in YAML 1.1, a string in YAML 1.2", "the number without underscores",
	},
	{
		regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`),
		"a number to the base of 60 in YAML 1.1, a string in YAML 1.2", "",
	},
	{
		regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}` +
			`(([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?)?$`),
		"a time in YAML 1.1, a string in YAML 1.2", "",
	},
	{
		regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`),
		"a number that Kubernetes cannot store", "",
	},
	{
		regexp.MustCompile(`^(=|<<)$`),
		"a special value in YAML 1.1, a string in YAML 1.2", "",
	},
}

// resolve gives a plain scalar its type, by the core schema of YAML 1.2. If the
// text is a trap, or a number too large, it returns the message and the hint
// instead.
func resolve(text string) (value any, message, hint string) {
	if value, ok := words[text]; ok {
		return value, "", ""
	}
	var err error
	switch {
	case integer.MatchString(text):
		value, err = strconv.ParseInt(text, 10, 64)
	case hexadecimal.MatchString(text):
		value, err = strconv.ParseInt(text[len("0x"):], 16, 64)
	case float.MatchString(text):
		value, err = strconv.ParseFloat(text, 64)
	default:
		return resolveText(text)
	}
	if err != nil {
		return nil, shorten(text) + " does not fit into 64 bits", "write it in quotes if it is text"
	}
	return value, "", ""
}

func resolveText(text string) (value any, message, hint string) {
	// Most text is not worth a dozen patterns: the traps that are words are short.
	if len(text) > len("yes") && !strings.ContainsAny(text[:1], "+-.0123456789") {
		return text, "", ""
	}
	for _, t := range traps {
		if t.pattern.MatchString(text) {
			hint = fmt.Sprintf("write %s for the text", quote(text))
			if t.hint != "" {
				hint += ", or " + t.hint
			}
			return nil, "unquoted " + shorten(text) + " is " + t.reading, hint
		}
	}
	return text, "", ""
}

// kindOf names the type of what resolve returns.
func kindOf(value any) Kind {
	switch value.(type) {
	case nil:
		return KindNull
	case bool:
		return KindBool
	case int64:
		return KindInt
	case float64:
		return KindFloat
	default:
		return KindString
	}
}
