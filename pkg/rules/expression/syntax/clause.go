package syntax

import (
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
)

// Conjunction returns a node that joins two conditions with &&, unless it is the one
// that the parser makes of a < b < c, which is placed at a comparison.
func (t *Tree) Conjunction(node ast.Node) (n *ast.BinaryNode, is bool) {
	n, is = node.(*ast.BinaryNode)
	if !is {
		return nil, false
	}
	text := t.Excerpt(t.Span(n))
	return n, text == "&&" || text == "and"
}

// Negates reports whether a node is the negation of a condition, and not a part of an
// operator such as `not in`.
func (t *Tree) Negates(n *ast.UnaryNode) bool {
	return (n.Operator == "!" || n.Operator == "not") && t.Span(n).Offset < t.start(n.Node)
}

// Clause finds the text of a node that ends before the token at a byte offset: with
// the parentheses that are its own and without those around several clauses.
func (t *Tree) Clause(node ast.Node, end int) Span {
	s := t.source
	first, last := s.tokenAt(t.start(node)), s.tokenAt(end)-1
	for first > 0 && s.opens(first-1) && s.tokens[first-1].match <= last {
		first--
	}
	for last > first && s.tokens[last].is(lexer.Bracket, ")") && s.tokens[last].match < first {
		last--
	}
	from := s.tokens[first].at.Offset
	return Span{from, s.tokens[last].at.End() - from}
}

func (s *source) opens(i int) bool { return s.tokens[i].is(lexer.Bracket, "(") }

// start returns where the text of a node begins, but for parentheses. Nodes are
// placed at their operator or name.
func (t *Tree) start(node ast.Node) int {
	at := t.Span(node).Offset
	switch n := node.(type) {
	case *ast.BinaryNode:
		return t.start(n.Left)
	case *ast.UnaryNode:
		return min(at, t.start(n.Node))
	case *ast.MemberNode:
		return t.start(n.Node)
	case *ast.SliceNode:
		return t.start(n.Node)
	case *ast.ChainNode:
		return t.start(n.Node)
	case *ast.ConditionalNode:
		return t.startOf(n)
	case *ast.VariableDeclaratorNode:
		return t.startOfLet(at)
	case *ast.BuiltinNode:
		return t.startOfCall(at, n.Arguments)
	case *ast.CallNode:
		return t.startOfCall(at, n.Arguments)
	default:
		return at
	}
}

// startOf finds if before the condition that it introduces.
func (t *Tree) startOf(n *ast.ConditionalNode) int {
	at := t.start(n.Cond)
	if i := t.source.tokenAt(at); !n.Ternary && i > 0 {
		return t.source.tokens[i-1].at.Offset
	}
	return at
}

// startOfLet finds let before the name that it introduces.
func (t *Tree) startOfLet(at int) int {
	if i := t.source.tokenAt(at); i > 0 && t.source.tokens[i-1].Value == "let" {
		return t.source.tokens[i-1].at.Offset
	}
	return at
}

// startOfCall looks at the first argument, which a pipe puts before the name.
func (t *Tree) startOfCall(at int, arguments []ast.Node) int {
	if len(arguments) == 0 {
		return at
	}
	return min(at, t.start(arguments[0]))
}
