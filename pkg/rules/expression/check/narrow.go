package check

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// substitute is what a node gives where something in it is nil.
type substitute struct {
	value   any
	present func(known) known // says that it is not
}

// substituteOf returns what a node gives where a path in it is nil: nil for the path
// itself, the default of ??, 0 for its length.
func (c *checker) substituteOf(node ast.Node) (s substitute, is bool) {
	if !c.spend(1) {
		return substitute{}, false
	}
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return c.substituteOfName(n)
	case *ast.PointerNode, *ast.MemberNode, *ast.ChainNode:
		return substitute{nil, c.present(node, typing.Unknown())}, true
	case *ast.BinaryNode:
		v, literal := syntax.Literal(n.Right)
		return substitute{v, c.present(n.Left, typing.Unknown())}, literal && n.Operator == "??"
	case *ast.BuiltinNode, *ast.CallNode:
		return c.substituteOfCall(node)
	default:
		return substitute{}, false
	}
}

// substituteOfName looks at what a name stands for.
func (c *checker) substituteOfName(n *ast.IdentifierNode) (s substitute, is bool) {
	itself := substitute{nil, c.present(n, typing.Unknown())}
	if v := c.variable(n.Value); v != nil {
		return c.around(v).substituteOr(v.node, itself), true
	}
	slot, _ := c.scope.Slot(n.Value)
	if d, defined := c.definition(slot); defined {
		itself = d.substituteOr(d.tree.Node, itself)
		c.run.depth--
	}
	return itself, true
}

// substituteOr is that of a definition where it has a default, or else that of the name
// for it.
func (c *checker) substituteOr(node ast.Node, itself substitute) substitute {
	if s, is := c.substituteOf(node); is && s.value != nil {
		return s
	}
	return itself
}

func (c *checker) substituteOfCall(node ast.Node) (s substitute, is bool) {
	name, arguments := calledBy(node)
	switch {
	case len(arguments) == 0:
		return substitute{}, false
	case name == "default" && len(arguments) == 2:
		v, literal := syntax.Literal(arguments[1])
		return substitute{v, c.present(arguments[0], typing.Unknown())}, literal
	case name == "type":
		return substitute{"nil", c.present(arguments[0], typing.Unknown())}, true
	case name == "len", name == "count", name == "sum":
		inner, is := c.substituteOf(arguments[0])
		return substitute{int64(0), inner.present}, is && inner.value == nil
	default:
		return substitute{nil, c.present(node, typing.Unknown())}, true
	}
}

// holds is what a comparison of two values says.
func holds(operator string, left, right any) (holds, known bool) {
	if list, is := right.([]any); is && operator == "in" {
		for _, element := range list {
			if same, known := holdsFor("==", left, element); same || !known {
				return same, known
			}
		}
		return false, true
	}
	return holdsFor(operator, left, right)
}

func holdsFor(operator string, left, right any) (holds, known bool) {
	left, right, err := value.Align(left, right, nil)
	if err != nil {
		return false, false
	}
	if operator == "==" || operator == "!=" {
		same, err := value.Equal(left, right, nil)
		return same == (operator == "=="), err == nil
	}
	order, known := value.Compare(left, right)
	switch operator {
	case "<":
		return order < 0, known
	case "<=":
		return order <= 0, known
	case ">":
		return order > 0, known
	case ">=":
		return order >= 0, known
	default:
		return false, false
	}
}

// mirrored is the operator that says the same with the sides exchanged.
var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// narrowed adds what a comparison says of its sides: where it does not come out as it
// would if something were nil, that is present.
func (c *checker) narrowed(n *ast.BinaryNode, left, right typing.Type, r result) result {
	r = c.narrowedBy(n.Operator, side{n.Left, left}, side{n.Right, right}, r)
	if other := mirrored[n.Operator]; other != "" {
		return c.narrowedBy(other, side{n.Right, right}, side{n.Left, left}, r)
	}
	return r
}

// side is an operand and its type.
type side struct {
	node ast.Node
	of   typing.Type
}

// neverNil reports whether it is known that there is a value.
func neverNil(t typing.Type) bool { return t.Known() && !t.CanBeNil() }

func (c *checker) narrowedBy(operator string, one, other side, r result) result {
	s, is := c.substituteOf(one.node)
	if !is || s.value == nil && neverNil(one.of) {
		return r
	}
	if v, constant := constantOf(other.node, other.of); constant {
		outcome, known := holds(operator, s.value, v)
		switch {
		case !known:
		case outcome:
			r.no = s.present(r.no)
		default:
			r.yes = s.present(r.yes)
		}
		return r
	}
	if s.value != nil {
		return r
	}
	if operator == "in" {
		other.of = other.of.Items()
	}
	switch {
	case !neverNil(other.of):
	case operator == "!=":
		r.no = s.present(r.no)
	case operator == "==", operator == "in":
		r.yes = s.present(r.yes)
	}
	return r
}

// constantOf returns the value of a node that has only one.
func constantOf(node ast.Node, t typing.Type) (v any, constant bool) {
	if v, literal := syntax.Literal(node); literal {
		return v, true
	}
	if array, is := node.(*ast.ArrayNode); is {
		list := make([]any, len(array.Nodes))
		for i, element := range array.Nodes {
			if list[i], constant = syntax.Literal(element); !constant {
				return nil, false
			}
		}
		return list, true
	}
	all, known := t.Constants()
	if !known || len(all) != 1 || t.CanBeNil() {
		return nil, false
	}
	return all[0], true
}

// withMember adds what x in y says: that there is y, and the key if it is a map.
func (c *checker) withMember(n *ast.BinaryNode, container typing.Type, r result) result {
	r.yes = c.present(n.Right, container)(r.yes)
	node, kinds := n.Right, container.Kinds()
	if name, arguments := calledBy(node); name == "keys" && len(arguments) == 1 {
		node, kinds = arguments[0], value.Map
	}
	key, literal := n.Left.(*ast.StringNode)
	p, whole, is := c.place(node)
	if literal && is && whole && kinds&value.Map != 0 {
		p.path = append(slices.Clip(p.path), key.Value)
		r.yes = r.yes.with(p)
	}
	return r
}
