package check

import (
	"cmp"
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// membership checks in, for which what is absent has no elements.
func (c *checker) membership(n *ast.BinaryNode, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, left.after())
	r := gives(typing.Of(value.Bool), right.after())
	if right.of.Known() {
		c.checkContainer(n, left, right.of)
	}
	r = c.narrowed(n, left.of, right.of, r)
	return c.decide(n, left.of, right.of, c.withMember(n, right.of, r))
}

func (c *checker) checkContainer(n *ast.BinaryNode, left result, right typing.Type) {
	switch container := right.Kinds() &^ value.Nil; {
	case container == 0:
	case container&(value.List|value.Map) == 0:
		err := c.operand(n.Right).Wants("in", value.List|value.Map, container)
		if container == value.String {
			err.Hint = "write text contains part"
		}
		c.report(typeMismatch, err)
	case container == value.Map:
		if !c.wants(n.Left, left, "in of a map", value.String|value.Nil) {
			c.checkKey(n, right)
		}
	case container == value.List:
		c.checkElements(n, left.of, right)
	}
}

// checkKey reports a key that a schema does not have.
func (c *checker) checkKey(n *ast.BinaryNode, m typing.Type) {
	key, literal := n.Left.(*ast.StringNode)
	if !literal || m.Schema() == nil {
		return
	}
	if _, found := m.Field(key.Value); found != typing.Lacking {
		return
	}
	parent := cmp.Or(syntax.Text(n.Right), "this")
	c.report(unknownField, c.tree.Span(key).Errorf("%s has no field %q", parent, value.Excerpt(key.Value)).
		WithHint("%s", fieldHint(parent, key.Value, m.Names())))
}

// checkElements reports what is never among the elements of a list.
func (c *checker) checkElements(n *ast.BinaryNode, left, list typing.Type) {
	items := list.Items()
	l, r := left.Kinds(), items.Kinds()
	if left.Known() && items.Known() && l&r&value.Nil == 0 && l != value.Nil && (l|r)&value.Stamped == 0 && !everEqual(l, r) {
		o := c.operand(n.Left)
		message := fmt.Sprintf("%s is never in %s", l&^value.Nil, list.NonNil())
		if o.Text != "" {
			message = fmt.Sprintf("%s is %s and never in %s", o.Text, l&^value.Nil, list.NonNil())
		}
		c.report(neverTrue, c.tree.Span(n).Errorf("%s", message).WithHint("%s", memberHint(n, left, items)))
		return
	}
	c.outsideEnum(n.Right, items, n.Left)
	array, is := n.Right.(*ast.ArrayNode)
	if !is {
		return
	}
	for _, element := range array.Nodes {
		c.outsideEnum(n.Left, left, element)
	}
}

func memberHint(n *ast.BinaryNode, left, items typing.Type) string {
	name, found := items.Field("name")
	if v, literal := syntax.Literal(n.Left); literal && found == typing.Found && name.Kinds()&left.Kinds() != 0 {
		return fmt.Sprintf("write any(%s, .name == %s)", cmp.Or(syntax.Text(n.Right), "list"), constantText(v))
	}
	if array, is := n.Right.(*ast.ArrayNode); is && len(array.Nodes) > 0 {
		return equalHint(syntax.Text(n.Left), left, array.Nodes[0], items.Kinds())
	}
	return equalHint("", items, n.Left, left.Kinds()&^value.Nil)
}
