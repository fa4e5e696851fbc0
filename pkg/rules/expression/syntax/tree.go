package syntax

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
	"github.com/expr-lang/expr/parser/utils"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Limits on what is read. They are far above what a person writes and keep the
// parser, which is recursive, away from the end of the stack.
const (
	MaxSource  = 16 << 10 // bytes
	MaxNesting = 100      // brackets
	MaxNodes   = 2000
)

// Room for tokens is made at once for what an expression usually has: one in so many bytes,
// and so many at most.
const (
	tokenLength = 3
	fewTokens   = 31
)

// Tree is an expression that was read. It is read only, and safe for concurrent
// use.
type Tree struct {
	Text   string
	Node   ast.Node
	tokens []token // Without the final EOF.
}

// token is a token of expr's lexer with its place in bytes.
type token struct {
	lexer.Token
	at Span
	// match is the index of the other bracket of a pair.
	match int
}

func (t token) is(kind lexer.Kind, values ...string) bool { return t.Is(kind, values...) }

// Scan reads the tokens of an expression, all of the text or what is before the } that closes it, which is none in a string, a
// comment or a map. What is wrong with them is an [*Error].
func Scan(text string, braced bool) (*Tree, error) {
	t := &Tree{Text: text, tokens: make([]token, 0, min(len(text)/tokenLength, fewTokens)+1)}
	l := lexer.New()
	l.Reset(file.NewSource(text))
	depth, characters, offset := 0, 0, 0 // The lexer counts characters.
	behind := func(character int) int {
		for ; characters < character && offset < len(text); characters++ {
			_, size := utf8.DecodeRuneInString(text[offset:])
			offset += size
		}
		return offset
	}
	for {
		next, err := l.Next()
		switch {
		case err != nil:
			return nil, t.lexError(err)
		case next.Kind != lexer.EOF:
		case braced:
			return nil, t.unclosed()
		default:
			return t, nil
		}
		from := behind(next.From)
		if from > MaxSource {
			return nil, Span{MaxSource, 0}.tooLong()
		}
		at := Span{from, behind(next.To) - from}
		switch {
		case next.Is(lexer.Bracket, "{"):
			depth++
		case next.Is(lexer.Bracket, "}") && depth == 0 && braced:
			t.Text = text[:at.Offset]
			return t, nil
		case next.Is(lexer.Bracket, "}"):
			depth--
		}
		t.tokens = append(t.tokens, token{Token: next, at: at})
	}
}

func (s Span) tooLong() *Error {
	return s.Errorf("the expression is longer than %d bytes", MaxSource).WithHint("split it with let")
}

// Parse makes the tree of the tokens. Its errors are those of expr's parser in words that say what to write.
func (t *Tree) Parse() error {
	switch {
	case len(t.Text) > MaxSource:
		return Span{MaxSource, 0}.tooLong()
	case !utf8.ValidString(t.Text):
		return t.Whole().Errorf("the expression is not valid UTF-8")
	case len(t.tokens) == 0:
		return t.Whole().Errorf("the expression is empty")
	}
	if err := t.checkTokens(); err != nil {
		return err
	}
	text := t.knownText()
	tree, err := parser.ParseWithConfig(text, &conf.Config{MaxNodes: MaxNodes})
	if err != nil {
		failure := &file.Error{Message: err.Error()}
		errors.As(err, &failure)
		return t.parseError(failure)
	}
	if t.Node = tree.Node; text != t.Text {
		ast.Walk(&t.Node, renaming{t})
	}
	return nil
}

// checkTokens pairs the brackets, limits how deep the parser will recurse, and refuses what expr would read but this language
// does not have.
func (t *Tree) checkTokens() error {
	var open []int
	operators := 0
	for i := range t.tokens {
		token := &t.tokens[i]
		switch {
		case token.is(lexer.Bracket, "(", "[", "{"):
			if open = append(open, i); len(open) > MaxNesting {
				return token.at.Errorf("the expression nests deeper than %d levels", MaxNesting).WithHint("split it with let")
			}
		case token.is(lexer.Bracket):
			if len(open) == 0 {
				return token.at.Errorf("the %s closes nothing", token.Value)
			}
			opening := &t.tokens[open[len(open)-1]]
			if want := map[string]string{"(": ")", "[": "]", "{": "}"}[opening.Value]; want != token.Value {
				return token.at.Errorf("the %s is closed by a %s", opening.Value, token.Value).
					WithHint("the %s at position %d wants a %s", opening.Value, opening.at.Offset+1, want)
			}
			opening.match, token.match = i, open[len(open)-1]
			open = open[:len(open)-1]
		case token.is(lexer.Operator, "::"):
			return token.at.Errorf(":: is no operator").WithHint("write the function's name alone")
		case token.is(lexer.Operator):
			if operators++; operators > MaxNodes { // Each makes a node, or several. Before an operand, it makes the parser recurse.
				return t.TooLarge()
			}
		case token.is(lexer.Bytes):
			return token.at.Errorf("there are no byte strings").WithHint("write the text without b")
		case token.is(lexer.String):
			if err := t.checkText(token.at); err != nil {
				return err
			}
		case token.is(lexer.Number):
			if number := token.Value; len(number) > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9' {
				return token.at.Errorf("a number cannot start with 0").
					WithHint("write it without, or 0o%s for an octal number", number[1:])
			}
		}
	}
	if len(open) > 0 {
		first := t.tokens[open[len(open)-1]]
		return first.at.Errorf("the %s that starts here is not closed", first.Value)
	}
	return nil
}

// escape matches an escape in a string. What is captured is no character: expr would put U+FFFD there.
var escape = regexp.MustCompile(`(?s)\\(?:(u[dD][89a-fA-F][[:xdigit:]]{2}|U0000[dD][89a-fA-F][[:xdigit:]]{2}|u\{0*[dD][89a-fA-F][[:xdigit:]]{2}\})|.)`)

func (t *Tree) checkText(at Span) error {
	text := t.Text[at.Offset:at.End()]
	if text[0] == '`' {
		return nil
	}
	for _, found := range escape.FindAllStringSubmatchIndex(text, -1) {
		if found[2] >= 0 {
			half := Span{at.Offset + found[0], found[1] - found[0]}
			return half.Errorf("%s is half of a character", t.Excerpt(half)).WithHint(`write the character itself, or all of it as in \U0001F600`)
		}
	}
	return nil
}

// The parser reads a predicate only in functions that it knows. This one of ours
// has one too, and so is parsed under the name of another, of the same length and
// with the same parameters.
const (
	ourPredicate   = "groups"
	knownPredicate = "filter"
)

// knownText is the source with names that the parser knows.
func (t *Tree) knownText() string {
	if !strings.Contains(t.Text, ourPredicate) {
		return t.Text
	}
	text := []byte(t.Text)
	for i, token := range t.tokens {
		called := i+1 < len(t.tokens) && t.tokens[i+1].is(lexer.Bracket, "(")
		method := i > 0 && t.tokens[i-1].is(lexer.Operator, ".", "?.")
		if token.is(lexer.Identifier, ourPredicate) && called && !method {
			copy(text[token.at.Offset:], knownPredicate)
		}
	}
	return string(text)
}

// renaming gives calls the names that they have in the source.
type renaming struct{ tree *Tree }

func (r renaming) Visit(node *ast.Node) {
	if call, ok := (*node).(*ast.BuiltinNode); ok && call.Name == knownPredicate {
		call.Name = r.tree.Excerpt(r.tree.Span(call))
	}
}

// Whole is the span of all of the text.
func (t *Tree) Whole() Span { return Span{0, len(t.Text)} }

// Span is the token that a node is placed at: a literal or a name itself, the name of
// a function or field, the operator between two operands.
func (t *Tree) Span(node ast.Node) Span { return t.span(node.Location()) }

// span is the token at a place of the lexer, or the end of the text.
func (t *Tree) span(l file.Location) Span {
	i, _ := slices.BinarySearchFunc(t.tokens, l.From, func(t token, from int) int { return cmp.Compare(t.From, from) })
	if i == len(t.tokens) {
		return Span{len(t.Text), 0}
	}
	return t.tokens[i].at
}

// tokenAt returns the index of the first token at or behind a byte offset.
func (t *Tree) tokenAt(offset int) int {
	i, _ := slices.BinarySearchFunc(t.tokens, offset, func(t token, offset int) int { return cmp.Compare(t.at.Offset, offset) })
	return i
}

// Excerpt is what is written at a span, cut where that is long.
func (t *Tree) Excerpt(at Span) string { return value.Excerpt(t.Text[at.Offset:at.End()]) }

// Next returns the token that follows another one.
func (t *Tree) Next(at Span) Span { return t.tokens[t.tokenAt(at.Offset)+1].at }

// Before returns the token before an offset.
func (t *Tree) Before(offset int) Span { return t.tokens[t.tokenAt(offset)-1].at }

// Balanced returns the span of all tokens between two offsets, with the other brackets of pairs of which it has one.
func (t *Tree) Balanced(from, to int) Span {
	first, last := t.tokenAt(from), t.tokenAt(to)-1
	for i := first; i <= last; i++ {
		if t.tokens[i].is(lexer.Bracket) {
			first, last, i = min(first, t.tokens[i].match), max(last, t.tokens[i].match), max(i, t.tokens[i].match)
		}
	}
	from = t.tokens[first].at.Offset
	return Span{from, t.tokens[last].at.End() - from}
}

// Parenthesized returns a span with the parentheses around it, if they are not those of a call.
func (t *Tree) Parenthesized(at Span) Span {
	first, behind := t.tokenAt(at.Offset), t.tokenAt(at.End())
	for first > 0 && t.tokens[first-1].is(lexer.Bracket, "(") && t.tokens[first-1].match == behind &&
		(first == 1 || !t.tokens[first-2].is(lexer.Identifier)) {
		first, behind = first-1, behind+1
	}
	if from := t.tokens[first].at.Offset; from != at.Offset {
		return Span{from, t.tokens[behind-1].at.End() - from}
	}
	return at
}

// Spine lists the accesses of a path from the last to the first, as MemberNode or
// SliceNode, and what the first is on. It looks through the ends of chains: ?. ends
// the whole path, also before [ ].
func Spine(node ast.Node) (accesses []ast.Node, root ast.Node) {
	for {
		switch n := node.(type) {
		case *ast.ChainNode:
			node = n.Node
		case *ast.MemberNode:
			accesses = append(accesses, n)
			node = n.Node
		case *ast.SliceNode:
			accesses = append(accesses, n)
			node = n.Node
		default:
			return accesses, node
		}
	}
}

// KeyText is how the access of a key is written.
func KeyText(key string) string {
	if utils.IsValidIdentifier(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// Optional writes an access with ?. in front.
func Optional(access string) string {
	if access[0] == '[' {
		return "?." + access
	}
	return "?" + access
}
