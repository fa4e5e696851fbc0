package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
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
func (c *checker) substituteOf(node expression.Node) (s substitute, is bool) {
	if !c.spend(1) {
		return substitute{}, false
	}
	itself := substitute{nil, c.present(node, typing.Unknown())}
	switch n := node.(type) {
	case *expression.Variable:
		v := c.variable(n)
		return c.around(v).substituteOr(v.let.Value, itself), true
	case *expression.Name:
		if d, defined := c.definition(n.Slot); defined {
			itself = d.substituteOr(d.program.Root(), itself)
			c.run.depth--
		}
		return itself, true
	case *expression.Path:
		return itself, n.Steps[len(n.Steps)-1].Kind != expression.BySlice
	case *expression.Element:
		return itself, true
	case *expression.Binary:
		v, literal := expression.LiteralOf(n.Right)
		return substitute{v, c.present(n.Left, typing.Unknown())}, literal && n.Operator == "??"
	case *expression.Call:
		return c.substituteOfCall(n, itself)
	default:
		return substitute{}, false
	}
}

// substituteOr is that of a definition where it has a default, or else that of the name
// for it.
func (c *checker) substituteOr(node expression.Node, itself substitute) substitute {
	if s, is := c.substituteOf(node); is && s.value != nil {
		return s
	}
	return itself
}

func (c *checker) substituteOfCall(n *expression.Call, itself substitute) (s substitute, is bool) {
	if len(n.Args) == 0 {
		return substitute{}, false
	}
	switch first := n.Args[0]; n.Function.Name {
	case "default":
		v, literal := expression.LiteralOf(n.Args[1])
		return substitute{v, c.present(first, typing.Unknown())}, literal
	case "type":
		return substitute{"nil", c.present(first, typing.Unknown())}, true
	case "len", "count", "sum":
		inner, is := c.substituteOf(first)
		return substitute{int64(0), inner.present}, is && inner.value == nil
	default:
		return itself, true
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
func (c *checker) narrowed(n *expression.Binary, left, right typing.Type, r result) result {
	r = c.narrowedBy(n.Operator, side{n.Left, left}, side{n.Right, right}, r)
	if other := mirrored[n.Operator]; other != "" {
		return c.narrowedBy(other, side{n.Right, right}, side{n.Left, left}, r)
	}
	return r
}

// side is an operand and its type.
type side struct {
	node expression.Node
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
func constantOf(node expression.Node, t typing.Type) (v any, constant bool) {
	if v, constant := expression.Constant(node); constant {
		return v, true
	}
	all, known := t.Constants()
	if !known || len(all) != 1 || t.CanBeNil() {
		return nil, false
	}
	return all[0], true
}

// withMember adds what x in y says: that there is y, and the key if it is a map.
func (c *checker) withMember(n *expression.Binary, container typing.Type, r result) result {
	r.yes = c.present(n.Right, container)(r.yes)
	node, kinds := n.Right, container.Kinds()
	if name, args := expression.Calls(node); name == "keys" {
		node, kinds = args[0], value.Map
	}
	key, literal := expression.TextOf(n.Left)
	p, whole, is := c.place(node)
	if literal && is && whole && kinds&value.Map != 0 {
		p.path = append(slices.Clip(p.path), key)
		r.yes = r.yes.with(p)
	}
	return r
}
