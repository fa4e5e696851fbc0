package check

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// equality checks == and !=, which fail for no kinds, but say the same for any values
// if these can never be equal.
func (c *checker) equality(n *expression.Binary, k known) result {
	left := c.beside(n.Right).node(n.Left, k)
	right := c.beside(n.Left).node(n.Right, left.after())
	switch {
	case c.convertsAny(n, left.of, right.of), c.comparesZero(n, n.Left, left, n.Right), c.comparesZero(n, n.Right, right, n.Left):
	case !c.neverEqual(n, n.Left, left.of, right.of):
		c.outsideEnum(n.Left, left.of, n.Right)
		c.outsideEnum(n.Right, right.of, n.Left)
	}
	r := c.narrowed(n, left.of, right.of, gives(typing.Of(value.Bool), right.after()))
	r = c.asCondition(n, n.Left, left, n.Right, r)
	r = c.asCondition(n, n.Right, right, n.Left, r)
	return c.decide(n, left.of, right.of, r)
}

// beside is a checker of what is compared with another operand.
func (c *checker) beside(other expression.Node) *checker {
	if !expression.IsNil(other) {
		return c
	}
	asking := *c
	asking.asksNil = true
	return &asking
}

// asCondition is for x == true and the like, which say what x does.
func (c *checker) asCondition(n *expression.Binary, node expression.Node, condition result, other expression.Node, r result) result {
	v, _ := expression.LiteralOf(other)
	literal, is := v.(bool)
	if !is {
		return r
	}
	holds, fails := condition.yes, condition.no
	if !literal {
		holds, fails = fails, holds
	}
	yes, no := &r.yes, &r.no
	if n.Operator == "!=" {
		yes, no = no, yes
	}
	*yes = c.present(node, condition.of)(holds)
	if condition.of.Kinds() == value.Bool { // And not nil.
		*no = fails
	}
	return r
}

// neverEqual reports operands whose kinds are never equal. Nil is no mistake: whoever
// compares with it asks whether there is something.
func (c *checker) neverEqual(n *expression.Binary, subject expression.Node, left, right typing.Type) bool {
	if !left.Known() || !right.Known() {
		return false
	}
	l, r := left.Kinds(), right.Kinds()
	switch {
	case l == value.Stamped || r == value.Stamped:
		c.report(typeMismatch, n.Written().At.Errorf("%s", value.ErrStamp.Message))
		return true
	case l&r&value.Nil != 0, l == value.Nil, r == value.Nil, (l|r)&value.Stamped != 0, expression.EverEqual(l, r):
		return false
	}
	node, other, of, kinds := subject, n.Right, left, r
	_, isLiteral := expression.LiteralOf(node)
	if node.Written().Text == "" && other.Written().Text != "" || isLiteral {
		node, other, of, kinds = n.Right, n.Left, right, l
	}
	text := node.Written().Text
	have := of.Kinds() &^ value.Nil
	message := fmt.Sprintf("%s never equals %s", have, kinds&^value.Nil)
	if text != "" {
		message = fmt.Sprintf("%s is %s and never equals %s", text, have, kinds&^value.Nil)
	}
	c.report(neverTrue, n.Written().At.Errorf("%s", message).WithHint("%s", equalHint(text, of, other, kinds)))
	return true
}

// equalHint says how to write the other side so that it can be equal to a value of some
// type.
func equalHint(text string, of typing.Type, other expression.Node, kinds value.Kind) string {
	have := of.Kinds() &^ value.Nil
	v, literal := expression.LiteralOf(other)
	if names := constantTexts(of); literal && of.Schema() != nil && len(names) > 0 {
		return enumHint(strconv.Quote(fmt.Sprint(v)), names)
	}
	written, isText := v.(string)
	switch {
	case isText && readsAs(written, have):
		return "leave the quotes out: " + written
	case literal && have&value.String != 0:
		return fmt.Sprintf("put it in quotes: \"%v\"", v)
	case literal && have == value.List:
		return fmt.Sprintf("write %s in %s", constantText(v), cmp.Or(text, "list"))
	case (have|kinds)&^(value.Number|value.String) == 0:
		return "write int(x) or string(x) around one"
	default:
		return ""
	}
}

// readsAs reports whether a text without its quotes is of one of these kinds.
func readsAs(text string, kinds value.Kind) bool {
	if text == "true" || text == "false" {
		return kinds&value.Bool != 0
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && kinds&value.Number != 0
}

// comparesQuantity reports texts that write quantities and are ordered as texts, and
// whether it did.
func (c *checker) comparesQuantity(n *expression.Binary, left, right result) bool {
	node, of := n.Left, left
	if !of.quantity {
		node, of = n.Right, right
	}
	computed := (left.of.Kinds()|right.of.Kinds())&value.Computed != 0 // Or unknown.
	if !of.quantity || computed {
		return false
	}
	o := node.Written()
	text := cmp.Or(o.Text, "x")
	if of.of.CanBeNil() {
		text += " ?? 0"
	}
	c.report(typeMismatch, o.At.Errorf("%s is a quantity, and %s compares its text letter by letter", cmp.Or(o.Text, "this"), n.Operator).
		WithHint("write quantity(%s)", text))
	return true
}

// comparesDuration reports a text that is ordered beside one that writes a duration, and
// whether it did: "9m" > "1h".
func (c *checker) comparesDuration(n *expression.Binary, left, right result) bool {
	node, of := n.Left, left.of
	against, is := writtenDuration(n.Right, right.of)
	if !is {
		if against, is = writtenDuration(n.Left, left.of); !is {
			return false
		}
		node, of = n.Right, right.of
	}
	if !of.Known() {
		if p, _, path := c.place(node); !path || len(p.path) == 0 {
			return false // It may be computed; what an object has is not.
		}
	} else if of.Kinds()&^value.Nil != value.String {
		return false
	}
	o := node.Written()
	text := cmp.Or(o.Text, "x")
	if literal, is := expression.LiteralOf(node); is {
		text = fmt.Sprintf("%q", literal)
	}
	if of.CanBeNil() {
		text += ` ?? "0s"`
	}
	c.report(typeMismatch, o.At.Errorf("%s compares texts letter by letter, and %q is a duration", n.Operator, against).WithHint("write duration(%s)", text))
	return true
}

// writtenDuration is a constant that can only be meant as a duration: 0 is one, too.
func writtenDuration(node expression.Node, t typing.Type) (text string, is bool) {
	v, _ := constantOf(node, t)
	text, isText := v.(string)
	if !isText || !strings.ContainsAny(text, "smhdw") {
		return "", false
	}
	_, err := value.ParseDuration(text)
	return text, err == nil
}
