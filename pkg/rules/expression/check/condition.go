package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func (c *checker) conditional(n *expression.Conditional, k known) result {
	condition := c.boolean(n.Condition, k, "a condition")
	yes := c.node(n.Yes, condition.yes)
	no := c.node(n.No, condition.no)
	of := typing.Union(yes.of, no.of)
	switch {
	case condition.no.never && !condition.yes.never:
		of = yes.of
	case condition.yes.never && !condition.no.never:
		of = no.of
	}
	r := result{of: of, yes: yes.yes.or(no.yes), no: yes.no.or(no.no), quantity: yes.quantity || no.quantity}
	return r.chosen(slices.Concat(c.branches(n.Yes, yes, condition.yes), c.branches(n.No, no, condition.no))...)
}

func (c *checker) coalesce(n *expression.Binary, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, k)
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
