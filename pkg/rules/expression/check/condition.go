package check

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// conditional checks a condition whose branches are checked by branch.
func (c *checker) conditional(n *ast.ConditionalNode, k known, branch func(ast.Node, known) result) result {
	condition := c.boolean(n.Cond, k, "a condition")
	yes := branch(n.Exp1, condition.yes)
	no := branch(n.Exp2, condition.no)
	of := typing.Union(yes.of, no.of)
	switch {
	case condition.no.never && !condition.yes.never:
		of = yes.of
	case condition.yes.never && !condition.no.never:
		of = no.of
	}
	r := result{of: of, yes: yes.yes.or(no.yes), no: yes.no.or(no.no), quantity: yes.quantity || no.quantity}
	return r.chosen(slices.Concat(c.branches(n.Exp1, yes, condition.yes), c.branches(n.Exp2, no, condition.no))...)
}

// coalesce checks ??. To its left a path is nil if anything on it is absent.
func (c *checker) coalesce(n *ast.BinaryNode, k known, fallback func(ast.Node, known) result) result {
	left := c.lenient(n.Left, k)
	right := fallback(n.Right, k)
	r := left.where(c.present(n.Left, left.of))
	r.zero = 0
	r.yes, r.no = r.yes.or(right.yes), r.no.or(right.no)
	r.quantity = left.quantity || right.quantity
	r = r.chosen(c.defaulted(c.branches(n.Left, left, k), left.of, n.Right, c.branches(n.Right, right, k))...)
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
