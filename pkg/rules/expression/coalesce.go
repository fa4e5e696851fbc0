package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
)

// checkCoalesce catches a == b ?? c, which reads a == (b ?? c) although hardly
// anybody means that. With the operators the other way round it is expr's parser
// that refuses them. What joins conditions binds so loosely that nobody errs.
func (c *compiler) checkCoalesce(n *ast.BinaryNode) error {
	if n.Operator == "??" {
		return c.checkFallback(n)
	}
	right, ok := n.Right.(*ast.BinaryNode)
	loose := slices.Contains([]string{"&&", "||", "and", "or"}, n.Operator)
	if !ok || right.Operator != "??" || loose || c.inParentheses(right) {
		return nil
	}
	return c.span(right).errorf("?? beside another operator needs parentheses").
		hint("write (x %s y) ?? z or x %s (y ?? z)", n.Operator, n.Operator)
}

// checkSign catches !a ?? b, of which nobody can tell what it means.
func (c *compiler) checkSign(n *ast.UnaryNode) error {
	operand, ok := n.Node.(*ast.BinaryNode)
	if !ok || operand.Operator != "??" || c.inParentheses(operand) {
		return nil
	}
	return c.span(operand).errorf("?? beside another operator needs parentheses").hint("write %s(x ?? y)", n.Operator)
}

// checkFallback refuses a default for what is never nil.
func (c *compiler) checkFallback(n *ast.BinaryNode) error {
	switch left := n.Left.(type) {
	case *ast.UnaryNode:
		return c.span(n).errorf("?? has %s to its left, which is never nil", left.Operator).
			hint("write %s(x ?? y)", left.Operator)
	case *ast.BinaryNode:
		if left.Operator == "??" {
			return nil
		}
		return c.span(n).errorf("?? has %s to its left, which is never nil", left.Operator).
			hint("write x %s (y ?? z), or (x ?? z) %s y", left.Operator, left.Operator)
	default:
		return nil
	}
}

// inParentheses tells whether a parenthesis opens right before a node.
func (c *compiler) inParentheses(node ast.Node) bool {
	first := c.source.tokenAt(c.span(leftmost(node)).offset)
	return first > 0 && c.source.tokens[first-1].is(lexer.Bracket, "(")
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
