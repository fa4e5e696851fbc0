package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func (c *checker) unary(n *ast.UnaryNode, k known) result {
	r := c.node(n.Node, k)
	if n.Operator == "-" || n.Operator == "+" {
		const signed = value.Number | value.Quantity | value.Duration
		t := typing.Of(r.of.Kinds() & signed)
		if !r.of.Known() || c.refuses(n.Node, r, n.Operator, signed, value.Number) {
			t = typing.Unknown()
		}
		return gives(c.literalType(n, t), c.present(n.Node, r.of)(r.after()))
	}
	return c.negation(n, r)
}

func (c *checker) negation(n *ast.UnaryNode, r result) result {
	t := typing.Of(value.Bool)
	have := r.of.Kinds() &^ value.Nil
	switch {
	case r.of.Known() && have != 0 && have&value.Bool == 0:
		c.report(typeMismatch, c.operand(n.Node).Wants(n.Operator, value.Bool, have).
			WithHint("%s binds tighter than a comparison: write %s (a == b)", n.Operator, n.Operator))
		t = typing.Unknown()
	case c.wants(n.Node, r, n.Operator, value.Bool):
		t = typing.Unknown()
	}
	r = r.where(c.present(n.Node, r.of)).decided()
	return result{of: t, yes: r.no, no: r.yes}
}

func (c *checker) binary(n *ast.BinaryNode, k known) result {
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
		return c.coalesce(n, k, c.node)
	case "==", "!=":
		return c.equality(n, k)
	case "in":
		return c.membership(n, k)
	default:
		return c.operation(n, k)
	}
}

// operation checks an operator that takes values of some kinds and never nil.
func (c *checker) operation(n *ast.BinaryNode, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, left.after())
	after := c.present(n.Right, right.of)(c.present(n.Left, left.of)(right.after()))
	if !isOrdering(n.Operator) {
		return gives(c.operate(n, left, right), after)
	}
	r := gives(typing.Unknown(), after)
	if !c.comparesQuantity(n, left, right) && !c.comparesDuration(n, left, right) {
		r.of = c.operate(n, left, right)
	}
	return c.decide(n, left.of, right.of, c.narrowed(n, left.of, right.of, r))
}

func isOrdering(operator string) bool {
	switch operator {
	case "<", "<=", ">", ">=":
		return true
	default:
		return false
	}
}

// operate returns what an operator gives, and reports operands that it does not take.
func (c *checker) operate(n *ast.BinaryNode, left, right result) typing.Type {
	if outcomes[n.Operator] == nil {
		return typing.Unknown()
	}
	if c.convertsAny(n, left.of, right.of) {
		return typing.Unknown()
	}
	l, r := presentKinds(left.of), presentKinds(right.of)
	kinds := outcome(n.Operator, l, r)
	if kinds == 0 {
		c.report(typeMismatch, c.mismatch(n, l, r))
		return typing.Unknown()
	}
	leftNil, rightNil := c.refusesNil(n, n.Left, left.of, right.of, false), c.refusesNil(n, n.Right, right.of, left.of, true)
	switch {
	case leftNil || rightNil || c.refusesSide(n.Operator, left, r, false) || c.refusesSide(n.Operator, right, l, true):
		return typing.Unknown()
	case kinds == value.List:
		return typing.List(typing.Of(value.Int))
	default:
		return typing.Of(kinds)
	}
}

// refusesSide reports branches of an operand that never go with the other one, and
// whether it did.
func (c *checker) refusesSide(operator string, operand result, other value.Kind, right bool) bool {
	return c.refusesBranch(operand, operator, wanted(operator, other, right), among(goesWith(operator, other, right)))
}

// presentKinds is what a value can be if it is there.
func presentKinds(t typing.Type) value.Kind {
	if kinds := t.Kinds() &^ value.Nil; kinds != 0 && t.Known() {
		return kinds
	}
	return operandKinds
}

// refusesNil reports an operand that can be nil, and whether it did.
func (c *checker) refusesNil(n *ast.BinaryNode, node ast.Node, t, other typing.Type, right bool) bool {
	kinds := wanted(n.Operator, presentKinds(other), right)
	if own := t.Kinds() &^ value.Nil; own != 0 && own&value.Computed == own && own&goesWith(n.Operator, presentKinds(other), right) != 0 {
		kinds = own // Beside which the other is read as one.
	}
	switch {
	case !t.CanBeNil():
		return false
	case t.Kinds() == value.Nil:
		c.report(mayBeAbsent, c.operand(node).Wants(n.Operator, kinds, value.Nil))
	default:
		err := c.operand(node).MayBeNil(n.Operator, kinds)
		if text := version(c.operand(node).Text); text != "" && isOrdering(n.Operator) && kinds == value.String {
			err.Hint = fmt.Sprintf(`write semver(%s ?? "0.0.0"), since texts are compared letter by letter`, text)
		}
		if kinds == value.Quantity {
			err.Hint = fmt.Sprintf(`?? gives a default: (%s ?? quantity("0"))`, cmp.Or(c.operand(node).Text, "x"))
		}
		c.report(mayBeAbsent, err)
	}
	return true
}

// version returns a path that most likely leads to a version, or "".
func version(text string) string {
	last := strings.ToLower(strings.TrimSuffix(text, `"]`))
	if !strings.HasSuffix(last, "version") || strings.HasSuffix(text, "metadata.resourceVersion") {
		return ""
	}
	return text
}

// wanted is what a message says that an operator wants beside the other operand: what
// goes with that or, without such an operand, what is usual.
func wanted(operator string, other value.Kind, right bool) value.Kind {
	goes := goesWith(operator, other, right)
	switch {
	case goes == 0, other == operandKinds:
		return usual(operator)
	case other&value.Computed != 0 && goes&value.Computed != 0:
		return goes & value.Computed
	case other&goes&value.Number != 0:
		return goes & value.Number
	case other&goes != 0:
		return other & goes
	default:
		return goes
	}
}

// usual is what an operator takes on both sides.
func usual(operator string) value.Kind {
	var kinds value.Kind
	for kind := range kindsIn(operandKinds &^ value.Computed) {
		if outcome(operator, kind, kind) != 0 {
			kinds |= kind
		}
	}
	return kinds
}

// mismatch is the error that there is never a result for operands of these kinds.
func (c *checker) mismatch(n *ast.BinaryNode, left, right value.Kind) *expression.Error {
	l, r := c.operand(n.Left), c.operand(n.Right)
	if left&goesWith(n.Operator, operandKinds, false) == 0 {
		err := l.Wants(n.Operator, wanted(n.Operator, right, false), left)
		if usual(n.Operator) == value.String && left&(value.List|value.Map) != 0 {
			err.Hint = "write x in list"
		}
		return joining(n.Operator, err, left|right)
	}
	if right&goesWith(n.Operator, operandKinds, true) == 0 {
		return joining(n.Operator, r.Wants(n.Operator, wanted(n.Operator, left, true), right), left|right)
	}
	sides := c.tree.Span(n).Errorf("%s has %s on one side and %s on the other", n.Operator, left, right)
	switch {
	case n.Operator == "+" && (left|right)&value.String != 0:
		return sides.WithHint("write string(x) to join texts, or int(x) to add")
	case n.Operator == "+", (left|right)&value.Computed != 0:
		return sides
	case isOrdering(n.Operator) && cmp.Or(version(l.Text), version(r.Text)) != "":
		text := cmp.Or(version(l.Text), version(r.Text))
		return sides.WithHint(`write semver(%s) %s semver("1.2.3") to compare versions, or int(x) around the text`, text, n.Operator)
	case isOrdering(n.Operator):
		return sides.WithHint("write int(x) or string(x) around one")
	case left&value.Number == 0:
		return l.Wants(n.Operator, value.Number, left)
	default:
		return r.Wants(n.Operator, value.Number, right)
	}
}

// joining says how lists and maps are added.
func joining(operator string, err *expression.Error, kinds value.Kind) *expression.Error {
	switch {
	case operator == "+" && kinds == value.List:
		err.Hint = "write concat(a, b)"
	case operator == "+" && kinds == value.Map:
		err.Hint = "write merge(a, b)"
	}
	return err
}
