package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// builder turns what the parser read into nodes and notes what is not strict.
type builder struct {
	reading
	source *source
	cursor cursor
	errors Errors
	left   int  // nodes that may still be read, those that aliases repeat included
	alias  int  // where the outermost alias is written that is being followed, -1 for none
	depth  int  // the maps and lists around what is read
	flow   int  // those of them in brackets
	cut    bool // a comma has cut the last value off
}

// report adds an error about a node, unless there are too many to be of use.
func (b *builder) report(n *Node, hint, format string, args ...any) {
	if !b.errors.Enough() {
		b.errors = append(b.errors, n.Errorf(hint, format, args...))
	}
}

// node fills in a node that knows its place in the tree, and all below it.
func (b *builder) node(n *Node, y *yaml.Node) *Node {
	n.at = b.place(y)
	if b.aliases && y.Kind == yaml.AliasNode {
		y = y.Alias
		if b.alias < 0 {
			b.alias = n.at
			defer func() { b.alias = -1 }()
		}
	}
	if b.alias >= 0 {
		value.Must(b.budget.Spend(stepsOfNode, bytesOfNode))
	}
	refused := b.kinds == nil && b.refuse(n)
	b.left--
	b.depth++
	defer func() { b.depth-- }()
	if y.Style&yaml.FlowStyle != 0 {
		b.flow++
		defer func() { b.flow-- }()
	}
	switch {
	case b.left == -1:
		b.report(n, "write them out", "aliases repeat more than %d keys and values", mostRepeated)
	case b.left < 0:
	case b.depth > b.reading.depth && y.Kind != yaml.ScalarNode:
		if !b.errors.Enough() { // Its path would be long.
			b.errors = append(b.errors, b.source.errorAt(n.at, "write it flatter", "%s%d", deepText, b.reading.depth))
		}
	case y.Kind == yaml.MappingNode:
		b.mapping(n, y)
	case y.Kind == yaml.SequenceNode:
		b.list(n, y)
	case y.Kind == yaml.ScalarNode && !refused:
		b.scalar(n, y)
	}
	return n
}

// place returns where a node begins. Nodes come in the order of the text; those of an alias are where that is written.
func (b *builder) place(y *yaml.Node) int {
	if b.alias >= 0 {
		return b.alias
	}
	return b.source.find(&b.cursor, y.Line, y.Column)
}

// refuse reports anchors, aliases and tags. A rule set is also an object in a
// cluster, which has none of them, and a local tag silently empties a value:
// "when: !paused" has no text. Without aliases there are no alias bombs, and
// every value has one place.
func (b *builder) refuse(n *Node) bool {
	text := b.source.text[n.at:]
	if b.aliases && strings.HasPrefix(text, "&") {
		_, text, _ = strings.Cut(firstLine(text), " ") // A tag may follow.
	}
	what := map[string]string{"&": "an anchor", "*": "an alias", "!": "a tag"}[text[:min(len(text), 1)]]
	if what == "" || b.aliases && what != "a tag" {
		return false
	}
	if end := strings.IndexAny(text, " \t\n,[]{}"); end > 0 {
		text = text[:end]
	}
	n.text = text
	b.report(n, tagHint(text), "%s is %s, which is not supported", quote(text), what)
	return true
}

const refusedHint = "put the value in quotes if it is text, else write it out"

// tagHint says what to write instead of an anchor, an alias or a tag.
func tagHint(text string) string {
	if strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "!!") {
		return `put the value in quotes, an expression such as "!paused" too`
	}
	return refusedHint
}

func (b *builder) scalar(n *Node, y *yaml.Node) {
	n.text, n.kind = y.Value, KindString
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.style = doubleQuoted
		if b.source.json && strings.ContainsRune(n.text, utf8.RuneError) {
			n.text = b.source.unquote(n.at)
		}
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.style = singleQuoted
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.style = block
	default:
		v, message, hint := value.Resolve(n.text)
		if message != "" && b.aliases && y.ShortTag() == "!!timestamp" {
			v, message = n.text, ""
		}
		if _, isFloat := v.(float64); b.manifests && (isFloat || message != "") {
			if read, ok := asKubectl(n.text); ok {
				v, message = read, ""
			}
		}
		n.kind, n.scalar = value.KindOf(v), v
		if message != "" {
			if n.key == n {
				hint = "write " + quote(n.text)
			}
			n.kind = KindInvalid
			b.report(n, hint, "%s", message)
		} else if b.flow > 0 {
			b.cutByBracket(n)
		}
	}
}

// asKubectl gives a plain scalar the value that kubectl sends for it. What is not in JSON, such as .inf, has none.
func asKubectl(text string) (v any, ok bool) {
	data, err := sigsyaml.YAMLToJSON([]byte(text))
	ok = err == nil && kubejson.Unmarshal(data, &v) == nil
	return v, ok
}

// cutByBracket reports a plain value within [ ] or { } that a comma between
// parentheses ends, as in {a: min(b, c)}, or that has a "?", which some readers refuse there.
func (b *builder) cutByBracket(n *Node) {
	_, end := n.extent()
	at, char := n.at+strings.Index(b.source.text[n.at:end], "?"), "?"
	if at < n.at {
		after := b.source.text[end:]
		at, char = end+len(after)-len(strings.TrimLeft(after, " \t\n")), ","
		if n.key == n || strings.Count(n.text, "(") <= strings.Count(n.text, ")") || !strings.HasPrefix(b.source.text[at:], char) {
			return
		}
		b.cut = true
	}
	if !b.errors.Enough() {
		b.errors = append(b.errors, n.errorBetween(at, at+1, quoteHint, bracketText, char))
	}
	n.kind, n.scalar = KindInvalid, nil
}

func (b *builder) list(n *Node, y *yaml.Node) {
	n.kind, n.text = KindList, ""
	n.children = make([]Entry, 0, len(y.Content))
	for i, element := range y.Content {
		n.children = append(n.children, Entry{Value: b.node(&Node{parent: n, index: i, source: b.source}, element)})
		if b.isCut(n) {
			return
		}
	}
}

// isCut makes what holds a value invalid that a comma has cut off: what follows is not what was meant.
func (b *builder) isCut(n *Node) bool {
	cut := b.cut
	if cut {
		n.kind, n.children, b.cut = KindInvalid, nil, false
	}
	return cut
}

func (b *builder) mapping(n *Node, y *yaml.Node) {
	n.kind, n.text = KindMap, ""
	n.children = make([]Entry, 0, len(y.Content)/2)
	first := make(map[string]*Node, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := b.key(n, y.Content[i])
		below := b.node(&Node{parent: n, key: key, source: b.source}, y.Content[i+1])
		if b.isCut(n) {
			return
		}
		if other, ok := first[key.text]; ok && key.kind == KindString {
			if !b.errors.Enough() { // What is not told takes no memory.
				b.report(key, "remove one of them", "duplicate key %s, first written %s", quote(key.text), other.Place(key))
			}
			continue
		}
		if key.kind == KindString {
			first[key.text] = key
		}
		n.children = append(n.children, Entry{Key: key, Value: below})
	}
}

// key reads a key, which must be a string.
func (b *builder) key(parent *Node, y *yaml.Node) *Node {
	n := &Node{parent: parent, source: b.source}
	n.key = n
	isText := y.Kind == yaml.ScalarNode || y.Kind == yaml.AliasNode
	if isText && (y.Style != 0 || y.Value != "<<") {
		b.node(n, y)
		if n.kind == KindInvalid || n.kind == KindString {
			return n
		}
	}
	word, isBool := n.scalar.(bool)
	n.at, n.text, n.kind, n.scalar = b.place(y), y.Value, KindInvalid, nil
	switch {
	case !isText:
		b.report(n, "put the key in quotes", "a list or map cannot be a key")
	case n.text == "":
		b.report(n, noKeyHint, noKeyText)
	case n.text == "<<":
		b.report(n, "write the keys out", "merge keys are not supported")
	case isBool && n.text != strconv.FormatBool(word): // In YAML 1.1, which kubectl reads.
		b.report(n, fmt.Sprintf("write %s: kubectl reads an unquoted %s as %t", quote(n.text), n.text, word), "the key %s is not a string", n.text)
	default:
		b.report(n, "write "+quote(n.text), "the key %s is not a string", value.Excerpt(n.text))
	}
	return n
}
