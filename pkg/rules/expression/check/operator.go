package check

import (
	"cmp"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func (c *checker) unary(n *expression.Unary, k known) result {
	r := c.node(n.X, k)
	if n.Operator == "-" || n.Operator == "+" {
		t := typing.Of(r.of.Kinds() & expression.Signed)
		if !r.of.Known() || c.refuses(n.X, r, n.Operator, expression.Signed, value.Number) {
			t = typing.Unknown()
		}
		return gives(t, c.present(n.X, r.of)(r.after()))
	}
	return c.negation(n, r)
}

func (c *checker) negation(n *expression.Unary, r result) result {
	t := typing.Of(value.Bool)
	have := r.of.Kinds() &^ value.Nil
	switch {
	case r.of.Known() && have != 0 && have&value.Bool == 0:
		c.report(typeMismatch, n.NotBoolean(have))
		t = typing.Unknown()
	case c.wants(n.X, r, n.Operator, value.Bool):
		t = typing.Unknown()
	}
	r = r.where(c.present(n.X, r.of)).decided()
	return result{of: t, yes: r.no, no: r.yes}
}

func (c *checker) binary(n *expression.Binary, k known) result {
	switch n.Operator {
	case "&&", "and":
		left := c.boolean(n.Left, k, n.Operator)
		right := c.boolean(n.Right, left.yes, n.Operator)
		return result{of: typing.Of(value.Bool), yes: right.yes, no: left.no.or(right.no)}
	case "||", "or":
		left := c.boolean(n.Left, k, n.Operator)
		right := c.boolean(n.Right, left.no, n.Operator)
		return result{of: typing.Of(value.Bool), yes: left.yes.or(right.yes), no: right.no}
	case "??":
		return c.coalesce(n, k)
	case "==", "!=":
		return c.equality(n, k)
	case "in":
		return c.membership(n, k)
	default:
		return c.operation(n, k)
	}
}

// operation checks an operator that takes values of some kinds and never nil.
func (c *checker) operation(n *expression.Binary, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, left.after())
	after := c.present(n.Right, right.of)(c.present(n.Left, left.of)(right.after()))
	if !n.Orders() {
		return gives(c.operate(n, left, right), after)
	}
	r := gives(typing.Unknown(), after)
	if !c.comparesQuantity(n, left, right) && !c.comparesDuration(n, left, right) {
		r.of = c.operate(n, left, right)
	}
	return c.decide(n, left.of, right.of, c.narrowed(n, left.of, right.of, r))
}

// operate returns what an operator gives, and reports operands that it does not take.
func (c *checker) operate(n *expression.Binary, left, right result) typing.Type {
	if !n.Checked() {
		return typing.Unknown()
	}
	if c.convertsAny(n, left.of, right.of) {
		return typing.Unknown()
	}
	l, r := presentKinds(left.of), presentKinds(right.of)
	kinds := n.Outcome(l, r)
	if kinds == 0 {
		c.report(typeMismatch, n.Mismatch(l, r))
		return typing.Unknown()
	}
	leftNil, rightNil := c.refusesNil(n, n.Left, left.of, right.of, false), c.refusesNil(n, n.Right, right.of, left.of, true)
	switch {
	case leftNil || rightNil || c.refusesSide(n, left, r, false) || c.refusesSide(n, right, l, true):
		return typing.Unknown()
	case kinds == value.List:
		return typing.List(typing.Of(value.Int))
	default:
		return typing.Of(kinds)
	}
}

// refusesSide reports branches of an operand that never go with the other one, and
// whether it did.
func (c *checker) refusesSide(n *expression.Binary, operand result, other value.Kind, right bool) bool {
	return c.refusesBranch(operand, n.Operator, n.Wanted(other, right), among(n.GoesWith(other, right)))
}

// presentKinds is what a value can be if it is there.
func presentKinds(t typing.Type) value.Kind {
	if kinds := t.Kinds() &^ value.Nil; kinds != 0 && t.Known() {
		return kinds
	}
	return expression.OperandKinds
}

// refusesNil reports an operand that can be nil, and whether it did.
func (c *checker) refusesNil(n *expression.Binary, node expression.Node, t, other typing.Type, right bool) bool {
	kinds := n.Wanted(presentKinds(other), right)
	if own := t.Kinds() &^ value.Nil; own != 0 && own&value.Computed == own && own&n.GoesWith(presentKinds(other), right) != 0 {
		kinds = own // Beside which the other is read as one.
	}
	switch {
	case !t.CanBeNil():
		return false
	case t.Kinds() == value.Nil:
		c.report(mayBeAbsent, node.Written().Wants(n.Operator, kinds, value.Nil))
	default:
		err := node.Written().MayBeNil(n.Operator, kinds)
		if text := node.Written().Version(); text != "" && n.Orders() && kinds == value.String {
			err.Hint = fmt.Sprintf(`write semver(%s ?? "0.0.0"), since texts are compared letter by letter`, text)
		}
		if kinds == value.Quantity {
			err.Hint = fmt.Sprintf(`?? gives a default: (%s ?? quantity("0"))`, cmp.Or(node.Written().Text, "x"))
		}
		c.report(mayBeAbsent, err)
	}
	return true
}
