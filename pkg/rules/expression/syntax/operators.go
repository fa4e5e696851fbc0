package syntax

import (
	"cmp"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
)

// CheckBinary refuses operators beside one another of which the grammar makes
// something that hardly anybody means.
func (t *Tree) CheckBinary(n *ast.BinaryNode) error {
	return cmp.Or(t.checkNegation(n), t.checkCoalesce(n))
}

// checkNegation catches not a > b, which reads (not a) > b and never makes sense.
func (t *Tree) checkNegation(n *ast.BinaryNode) error {
	left, ok := n.Left.(*ast.UnaryNode)
	if !ok || left.Operator != "!" && left.Operator != "not" {
		return nil
	}
	switch n.Operator {
	case "<", "<=", ">", ">=", "in", "matches", "contains", "startsWith", "endsWith":
		return t.Span(left).Errorf("%s binds tighter than %s", left.Operator, n.Operator).
			WithHint("write %s (a %s b)", left.Operator, n.Operator)
	default:
		return nil
	}
}

// checkCoalesce catches a == b ?? c, which reads a == (b ?? c). With the operators
// the other way round it is expr's parser that refuses them. What joins conditions
// binds so loosely that nobody errs.
func (t *Tree) checkCoalesce(n *ast.BinaryNode) error {
	if n.Operator == "??" {
		return t.checkFallback(n)
	}
	right, ok := n.Right.(*ast.BinaryNode)
	loose := slices.Contains([]string{"&&", "||", "and", "or"}, n.Operator)
	if !ok || right.Operator != "??" || loose || t.inParentheses(right) {
		return nil
	}
	return t.Span(right).Errorf("?? beside another operator needs parentheses").
		WithHint("write (x %s y) ?? z or x %s (y ?? z)", n.Operator, n.Operator)
}

// CheckUnary catches !a ?? b, of which nobody can tell what it means.
func (t *Tree) CheckUnary(n *ast.UnaryNode) error {
	operand, ok := n.Node.(*ast.BinaryNode)
	if !ok || operand.Operator != "??" || t.inParentheses(operand) {
		return nil
	}
	return t.Span(operand).Errorf("?? beside another operator needs parentheses").WithHint("write %s(x ?? y)", n.Operator)
}

// checkFallback refuses a default for what is never nil.
func (t *Tree) checkFallback(n *ast.BinaryNode) error {
	switch left := n.Left.(type) {
	case *ast.UnaryNode:
		return t.Span(n).Errorf("?? has %s to its left, which is never nil", left.Operator).
			WithHint("write %s(x ?? y)", left.Operator)
	case *ast.BinaryNode:
		if left.Operator == "??" {
			return nil
		}
		return t.Span(n).Errorf("?? has %s to its left, which is never nil", left.Operator).
			WithHint("write x %s (y ?? z), or (x ?? z) %s y", left.Operator, left.Operator)
	default:
		return nil
	}
}

// inParentheses tells whether a parenthesis opens right before a node.
func (t *Tree) inParentheses(node ast.Node) bool {
	first := t.source.tokenAt(t.Span(leftmost(node)).Offset)
	return first > 0 && t.source.tokens[first-1].is(lexer.Bracket, "(")
}

// leftmost returns the node that the source of node begins with.
func leftmost(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.BinaryNode:
			node = n.Left
		case *ast.ChainNode:
			node = n.Node
		case *ast.MemberNode:
			node = n.Node
		case *ast.SliceNode:
			node = n.Node
		case *ast.ConditionalNode:
			node = n.Cond
		case *ast.CallNode:
			node = n.Callee
		default:
			return node
		}
	}
}
