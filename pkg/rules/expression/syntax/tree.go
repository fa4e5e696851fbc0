package syntax

import (
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
)

// Tree is an expression that was read. It is read only, and safe for concurrent
// use.
type Tree struct {
	Text   string
	Node   ast.Node
	source *source
}

// Parse reads an expression. What is wrong with it is an [*Error].
func Parse(text string) (*Tree, error) {
	s, err := scan(text)
	if err != nil {
		return nil, err
	}
	node, err := parse(s)
	if err != nil {
		return nil, err
	}
	return &Tree{Text: text, Node: node, source: s}, nil
}

// Whole is the span of all of the text.
func (t *Tree) Whole() Span { return Span{0, len(t.Text)} }

// Span is the token that a node is placed at: a literal or a name itself, the name of
// a function or field, the operator between two operands.
func (t *Tree) Span(node ast.Node) Span { return t.source.span(node.Location()) }

// Excerpt is what is written at a span, cut where that is long.
func (t *Tree) Excerpt(at Span) string { return t.source.textOf(at) }

// WithinKey tells whether a name is more likely part of a key such as app-name or
// example.org/name than an operand.
func (t *Tree) WithinKey(at Span) bool { return t.source.withinKey(at) }

// TooLarge is the error that a tree has too many nodes, for who follows parts that it
// shares each time.
func (t *Tree) TooLarge() *Error { return tooLarge(t.Whole()) }

// NoMethod refuses x.f(y), where f is at the span, in the words of what the user
// probably meant.
func (t *Tree) NoMethod(at Span) *Error { return t.source.method(at) }

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

// Closing returns the offset behind a token, or behind the other bracket where the token is one of a pair.
func (t *Tree) Closing(at Span) int {
	token := t.source.tokens[t.source.tokenAt(at.Offset)]
	if token.is(lexer.Bracket) {
		token = t.source.tokens[token.match]
	}
	return token.at.End()
}

// Next returns the token that follows another one.
func (t *Tree) Next(at Span) Span { return t.source.tokens[t.source.tokenAt(at.Offset)+1].at }

// Preceding returns the offset of a word if it precedes this offset, else the offset itself.
func (t *Tree) Preceding(offset int, word string) int {
	if i := t.source.tokenAt(offset); i > 0 && t.source.tokens[i-1].Value == word {
		return t.source.tokens[i-1].at.Offset
	}
	return offset
}

// Braced returns the offset behind the braces around a span, or behind the span where there are none.
func (t *Tree) Braced(at Span) int {
	i := t.source.tokenAt(at.Offset)
	if i > 0 && t.source.tokens[i-1].is(lexer.Bracket, "{") {
		return t.Closing(t.source.tokens[i-1].at)
	}
	return at.End()
}

// Parenthesized returns a span with the parentheses that open before it and close in it, as in (a.b).c, and with those around
// it, if they are not those of a call.
func (t *Tree) Parenthesized(at Span) Span {
	tokens := t.source.tokens
	first, behind := t.source.tokenAt(at.Offset), t.source.tokenAt(at.End())
	for first > 0 && tokens[first-1].is(lexer.Bracket, "(") && tokens[first-1].match <= behind && (first == 1 || !tokens[first-2].is(lexer.Identifier)) {
		first--
		behind = max(behind, tokens[first].match+1)
	}
	if offset := tokens[first].at.Offset; offset != at.Offset {
		return Span{offset, tokens[behind-1].at.End() - offset}
	}
	return at
}
