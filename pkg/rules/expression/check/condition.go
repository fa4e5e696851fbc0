package check

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// conditional checks a condition whose branches are checked by branch.
func (c *checker) conditional(n *ast.ConditionalNode, k known, branch func(ast.Node, known) result) result {
	condition := c.boolean(n.Cond, k, "a condition")
	yes := branch(n.Exp1, condition.yes)
	no := branch(n.Exp2, condition.no)
	return result{
		of: typing.Union(yes.of, no.of), yes: yes.yes.or(no.yes), no: yes.no.or(no.no), quantity: yes.quantity || no.quantity,
	}
}

// coalesce checks ??. To its left a path is nil if anything on it is absent.
func (c *checker) coalesce(n *ast.BinaryNode, k known, fallback func(ast.Node, known) result) result {
	left := c.lenient(n.Left, k)
	right := fallback(n.Right, k)
	r := left.where(c.present(n.Left, left.of))
	r.yes, r.no = r.yes.or(right.yes), r.no.or(right.no)
	r.quantity = left.quantity || right.quantity
	if !left.of.CanBeNil() {
		// A schema says what is there once a controller has seen to it; who writes a
		// default allows for less, and it may be asked for.
		return r.but(typing.Union(left.of, right.of.NonNil()))
	}
	return r.but(typing.Union(left.of.NonNil(), right.of))
}

// lenient checks what stands to the left of ??.
func (c *checker) lenient(node ast.Node, k known) result {
	switch n := node.(type) {
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		return c.path(node, k, true)
	case *ast.ConditionalNode:
		return c.conditional(n, k, c.lenient)
	case *ast.BinaryNode:
		if n.Operator == "??" {
			return c.coalesce(n, k, c.lenient)
		}
	}
	return c.node(node, k)
}
