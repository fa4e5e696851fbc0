package check

import (
	"slices"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// known is what is known where a node is evaluated.
type known struct {
	// names has facts about names of the scope, which other expressions share. own has facts about the variables of this
	// expression and the elements of its predicates.
	names, own *typing.Facts
	// never says that the node is never evaluated.
	never bool
}

// with adds that the value at a place is not nil.
func (k known) with(p place) known {
	if p.own {
		k.own = k.own.With(p.root, p.path...)
	} else {
		k.names = k.names.With(p.root, p.path...)
	}
	return k
}

// has reports whether the value at a place is known not to be nil.
func (k known) has(p place) bool {
	if p.own {
		return k.own.Has(p.root, p.path...)
	}
	return k.names.Has(p.root, p.path...)
}

// or is what is known where one of two branches was taken.
func (k known) or(l known) known {
	switch {
	case k.never:
		return l
	case l.never || k == l:
		return k
	default:
		return known{names: k.names.Common(l.names), own: k.own.Common(l.own)}
	}
}

// result is what a node gives: its type, and what is known once it has been
// evaluated, where it is true and where it is not.
type result struct {
	of      typing.Type
	yes, no known
	// zero is the kinds of which the API server stores no empty value: the field is absent instead.
	zero value.Kind
	made *made // nil where that is not written out
}

// gives is the result of a node that is no condition.
func gives(t typing.Type, after known) result { return result{of: t, yes: after, no: after} }

// after is what is known once the node has been evaluated.
func (r result) after() known { return r.yes.or(r.no) }

// but is the result with another type.
func (r result) but(t typing.Type) result {
	r.of = t
	return r
}

// where adds to what is known in any case.
func (r result) where(add func(known) known) result {
	r.yes, r.no = add(r.yes), add(r.no)
	return r
}

// place names a value by a path of keys from a name, or from a root that only this expression has. A constant index counts as a
// key, such as "[0]".
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

// place returns the place of a node, as far as its path has constant keys; whole says that it has no other accesses. Where the
// value of the path is not nil, that at the place is not nil either. A slice of nil is an empty list, which proves nothing: before
// one the place ends a key earlier.
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

// rootPlace returns the place of a node that is no path, or with which a path begins. A name that stands for a path is that path, unless
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

// alias returns the place of the path that a definition consists of, or else its own.
func (c *checker) alias(node expression.Node, own place) place {
	p, whole, is := c.place(node)
	if !is || !whole || len(p.path) > 0 && p.path[len(p.path)-1] == "metadata" {
		return own
	}
	p.path = slices.Clip(p.path)
	return p
}

// present returns a function that adds the fact that the value of a node is not nil, if its type does not say so.
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

// callPlace returns the place of the result of a call. Two calls with the same text have the same root, since functions are pure.
func (c *checker) callPlace(n *expression.Call) (p place, is bool) {
	if n.Function.Name == "get" && len(n.Args) == 2 {
		key, constant := expression.TextOf(n.Args[1])
		if p, whole, is := c.place(n.Args[0]); is && whole && constant {
			p.path = append(slices.Clip(p.path), key)
			return p, true
		}
	}
	key := callKey{text: n.Text}
	for _, arg := range n.Args {
		whole := arg.Written().Whole
		key.text += "\x00" + c.program.Source()[whole.Offset:whole.End()]
	}
	if !c.spend(len(key.text)) {
		return place{}, false
	}
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

// substitute is the value of a node where a path in it is nil.
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
		if len(n.Args) == 0 {
			return substitute{}, false
		}
		first := n.Args[0]
		switch n.Function.Name {
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

// neverNil reports whether it is known that there is a value.
func neverNil(t typing.Type) bool { return t.Known() && !t.CanBeNil() }

// narrowed adds what a comparison says of its operands: where it does not give what it would give for nil, the operand is
// present.
func (c *checker) narrowed(n *expression.Binary, left, right typing.Type, r result) result {
	for _, isRight := range [...]bool{false, true} {
		node, of, other, against := n.Left, left, n.Right, right
		if isRight {
			node, of, other, against = n.Right, right, n.Left, left
		}
		s, is := c.substituteOf(node)
		if !is || s.value == nil && neverNil(of) || isRight && n.Operator == "in" {
			continue
		}
		if v, constant := constantOf(other, against); constant {
			one, two := s.value, v
			if isRight {
				one, two = v, s.value
			}
			if holds, known := n.Holds(one, two); known && holds {
				r.no = s.present(r.no)
			} else if known {
				r.yes = s.present(r.yes)
			}
			continue
		}
		if n.Operator == "in" {
			against = right.Items()
		}
		switch {
		case s.value != nil || !neverNil(against):
		case n.Operator == "!=":
			r.no = s.present(r.no)
		case n.Operator == "==", n.Operator == "in":
			r.yes = s.present(r.yes)
		}
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

// withMember adds what x in y says: y is not nil, and if it is a map, it has the key.
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

// decided marks the branch that is never taken, for a condition that is a constant, such as a parameter.
func (r result) decided() result {
	if v, only := written(r.of); only {
		holds, is := v.(bool)
		r.yes.never = r.yes.never || is && !holds
		r.no.never = r.no.never || is && holds
	}
	return r
}

// decide is decided for a comparison of constants.
func (c *checker) decide(n *expression.Binary, left, right typing.Type, r result) result {
	one, isOne := written(left)
	other, isOther := constantOf(n.Right, right)
	if !isOne || !isOther || n.Operator != "in" && right.Literals() == nil {
		return r
	}
	if outcome, known := n.Holds(one, other); known {
		r.yes.never = r.yes.never || !outcome
		r.no.never = r.no.never || outcome
	}
	return r
}

// written returns the only value of a type, if it is written in the rules. An enumeration of a schema does not count, because an
// object may be older than the schema.
func written(t typing.Type) (v any, only bool) {
	all, known := t.Constants()
	if !known || len(all) != 1 || len(t.Literals()) != 1 || t.CanBeNil() {
		return nil, false
	}
	return all[0], true
}
