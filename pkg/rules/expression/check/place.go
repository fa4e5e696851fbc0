package check

import (
	"slices"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
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
func (c *checker) place(node expression.Node) (p place, whole, is bool) {
	path, isPath := node.(*expression.Path)
	if !isPath {
		p, is = c.rootPlace(node)
		return p, is, is && c.spend(1)
	}
	if p, is = c.rootPlace(path.Root); !is || !c.spend(1+len(path.Steps)) {
		return place{}, false, false
	}
	for i := range path.Steps {
		key, constant := stepOf(&path.Steps[i])
		switch {
		case path.Steps[i].Kind == expression.BySlice && len(p.path) == 0:
			return place{}, false, false
		case path.Steps[i].Kind == expression.BySlice:
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
func stepOf(access *expression.Step) (step string, constant bool) {
	switch key, _ := access.Step(); key := key.(type) {
	case string:
		return key, true
	case int64:
		return "[" + strconv.FormatInt(key, 10) + "]", true
	default:
		return "", false
	}
}

// rootPlace is where a node is that is no path, or that a path begins with. A name that stands for a path is that path, unless
// the two do not read alike: let m = object.metadata; m.labels may be nil.
func (c *checker) rootPlace(root expression.Node) (p place, is bool) {
	switch n := root.(type) {
	case *expression.Variable:
		v := c.variable(n)
		return c.around(v).alias(v.let.Value, place{root: v.root, own: true}), true
	case *expression.Name:
		p = place{root: n.Slot}
		if d, is := c.definition(n.Slot); is {
			if other := d.alias(d.program.Root(), p); !other.own {
				p = other
			}
			c.run.depth--
		}
		return p, true
	case *expression.Element:
		return place{root: c.elements[len(c.elements)-1].root, own: true}, n.Name == ""
	case *expression.Call:
		return c.callPlace(n)
	default:
		return place{}, false
	}
}

// alias is the place that a definition stands for, or else its own.
func (c *checker) alias(node expression.Node, own place) place {
	p, whole, is := c.place(node)
	if !is || !whole || len(p.path) > 0 && p.path[len(p.path)-1] == "metadata" {
		return own
	}
	p.path = slices.Clip(p.path)
	return p
}

// present returns what adds that the value of a node is not nil, if that says more than
// its type.
func (c *checker) present(node expression.Node, t typing.Type) func(known) known {
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
func (c *checker) callPlace(n *expression.Call) (p place, is bool) {
	if n.Function.Name == "get" && len(n.Args) == 2 {
		key, constant := expression.TextOf(n.Args[1])
		if p, whole, is := c.place(n.Args[0]); is && whole && constant {
			p.path = append(slices.Clip(p.path), key)
			return p, true
		}
	}
	text := c.program.Source()[n.Whole.Offset:n.Whole.End()]
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
