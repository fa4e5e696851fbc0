package check

import (
	"cmp"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// membership checks in, for which what is absent has no elements.
func (c *checker) membership(n *expression.Binary, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, left.after())
	r := gives(typing.Of(value.Bool), right.after())
	if right.of.Known() {
		c.checkContainer(n, left, right.of)
	}
	r = c.narrowed(n, left.of, right.of, r)
	return c.decide(n, left.of, right.of, c.withMember(n, right.of, r))
}

func (c *checker) checkContainer(n *expression.Binary, left result, right typing.Type) {
	switch container := right.Kinds() &^ value.Nil; {
	case container == 0:
	case container&(value.List|value.Map) == 0:
		c.report(typeMismatch, n.NoContainer(container))
	case container == value.Map:
		if !c.wants(n.Left, left, "in of a map", value.String|value.Nil) {
			c.checkKey(n, right)
		}
	case container == value.List:
		c.checkElements(n, left.of, right)
	}
}

// checkKey reports a key that a schema does not have.
func (c *checker) checkKey(n *expression.Binary, m typing.Type) {
	key, literal := expression.TextOf(n.Left)
	if !literal || m.Schema() == nil {
		return
	}
	if _, found := m.Field(key); found != typing.Lacking {
		return
	}
	parent := cmp.Or(n.Right.Written().Text, "this")
	c.report(unknownField, n.Left.Written().At.Errorf("%s has no field %q", parent, value.Excerpt(key)).
		WithHint("%s", fieldHint(parent, key, m.Names())))
}

// checkElements reports what is never among the elements of a list.
func (c *checker) checkElements(n *expression.Binary, left, list typing.Type) {
	items := list.Items()
	l, r := left.Kinds(), items.Kinds()
	if left.Known() && items.Known() && l&r&value.Nil == 0 && l != value.Nil && (l|r)&value.Stamped == 0 && !expression.EverEqual(l, r) {
		o := n.Left.Written()
		message := fmt.Sprintf("%s is never in %s", l&^value.Nil, list.NonNil())
		if o.Text != "" {
			message = fmt.Sprintf("%s is %s and never in %s", o.Text, l&^value.Nil, list.NonNil())
		}
		c.report(neverTrue, n.Written().At.Errorf("%s", message).WithHint("%s", memberHint(n, left, items)))
		return
	}
	c.outsideEnum(n.Right, items, n.Left)
	array, is := n.Right.(*expression.List)
	if !is {
		return
	}
	for _, element := range array.Items {
		c.outsideEnum(n.Left, left, element)
	}
}

func memberHint(n *expression.Binary, left, items typing.Type) string {
	name, found := items.Field("name")
	if v, literal := expression.LiteralOf(n.Left); literal && found == typing.Found && name.Kinds()&left.Kinds() != 0 {
		return fmt.Sprintf("write any(%s, .name == %s)", cmp.Or(n.Right.Written().Text, "list"), constantText(v))
	}
	if array, is := n.Right.(*expression.List); is && len(array.Items) > 0 {
		return equalHint(n.Left.Written().Text, left, array.Items[0], items.Kinds())
	}
	return equalHint("", items, n.Left, left.Kinds()&^value.Nil)
}
