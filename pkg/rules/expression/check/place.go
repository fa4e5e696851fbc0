package check

import (
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// place is where a path of keys leads to, from a name or from a root of the
// expression's own. An index that is written there counts as a key, as "[0]".
type place struct {
	root int
	own  bool
	path []string
}

// callKey tells calls apart: the same text can have other variables and elements.
type callKey struct {
	text              string
	variable, element int
}

// place follows a path as far as there are keys. It is whole if that is all of it.
// Where the path is not nil, there is something at the place: a slice of nil is empty,
// so that before one of those the place is where the path was then.
func (c *checker) place(node ast.Node) (p place, whole, is bool) {
	accesses, root := syntax.Spine(node)
	if !c.spend(1 + len(accesses)) {
		return place{}, false, false
	}
	if p, is = c.rootPlace(root); !is {
		return place{}, false, false
	}
	for _, access := range slices.Backward(accesses) {
		key, constant := stepOf(access)
		_, slice := access.(*ast.SliceNode)
		switch {
		case slice && len(p.path) == 0:
			return place{}, false, false
		case slice:
			p.path = p.path[:len(p.path)-1]
			return p, false, true
		case !constant:
			return p, false, true
		}
		p.path = append(p.path, key)
	}
	return p, true, true
}

// stepOf returns the key or index of an access, if that is written there.
func stepOf(access ast.Node) (step string, constant bool) {
	if key, constant := keyOf(access); constant {
		return key, true
	}
	n, is := access.(*ast.MemberNode)
	if !is {
		return "", false
	}
	v, _ := syntax.Literal(n.Property)
	index, is := v.(int64)
	return "[" + strconv.FormatInt(index, 10) + "]", is
}

func keyOf(access ast.Node) (key string, constant bool) {
	n, is := access.(*ast.MemberNode)
	if !is {
		return "", false
	}
	property, is := n.Property.(*ast.StringNode)
	if !is {
		return "", false
	}
	return property.Value, true
}

// rootPlace is where a path begins. A name that stands for a path is that path, unless
// the two do not read alike: let m = object.metadata; m.labels may be nil.
func (c *checker) rootPlace(root ast.Node) (p place, is bool) {
	switch n := root.(type) {
	case *ast.IdentifierNode:
		if v := c.variable(n.Value); v != nil {
			return c.around(v).alias(v.node, place{root: v.root, own: true}), true
		}
		slot, _ := c.scope.Slot(n.Value)
		p = place{root: slot}
		if d, is := c.definition(slot); is {
			if other := d.alias(d.tree.Node, p); !other.own {
				p = other
			}
			c.run.depth--
		}
		return p, true
	case *ast.PointerNode:
		return place{root: c.elements[len(c.elements)-1].root, own: true}, n.Name == ""
	case *ast.BuiltinNode, *ast.CallNode:
		return c.callPlace(root)
	default:
		return place{}, false
	}
}

// alias is the place that a definition stands for, or else its own.
func (c *checker) alias(node ast.Node, own place) place {
	p, whole, is := c.place(node)
	if !is || !whole || len(p.path) > 0 && p.path[len(p.path)-1] == "metadata" {
		return own
	}
	p.path = slices.Clip(p.path)
	return p
}

// present returns what adds that the value of a node is not nil, if that says more than
// its type.
func (c *checker) present(node ast.Node, t typing.Type) func(known) known {
	same := func(k known) known { return k }
	if neverNil(t) {
		return same
	}
	p, _, is := c.place(node)
	if !is {
		return same
	}
	return func(k known) known { return k.with(p) }
}

// callPlace is where the result of a call is: at a root of its own, which the same call
// has again, since functions give the same for the same.
func (c *checker) callPlace(node ast.Node) (p place, is bool) {
	name, arguments := calledBy(node)
	if name == "get" && len(arguments) == 2 {
		key, constant := arguments[1].(*ast.StringNode)
		if p, whole, is := c.place(arguments[0]); is && whole && constant {
			p.path = append(slices.Clip(p.path), key.Value)
			return p, true
		}
	}
	text := node.String()
	if !c.spend(len(text)) {
		return place{}, false
	}
	key := callKey{text: text}
	if n := len(c.variables); n > 0 {
		key.variable = c.variables[n-1].root
	}
	if n := len(c.elements); n > 0 {
		key.element = c.elements[n-1].root
	}
	root, known := c.run.calls[key]
	if !known {
		root = c.newRoot()
		c.run.calls[key] = root
	}
	return place{root: root, own: true}, true
}

// calledBy takes a call apart, whether expr knows the function or not.
func calledBy(node ast.Node) (name string, arguments []ast.Node) {
	switch n := node.(type) {
	case *ast.BuiltinNode:
		return n.Name, n.Arguments
	case *ast.CallNode:
		callee, _ := n.Callee.(*ast.IdentifierNode)
		return callee.Value, n.Arguments
	default:
		return "", nil
	}
}
