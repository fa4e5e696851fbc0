package check

import (
	"slices"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// known is what is known where a node is evaluated: about names of the scope, whose roots are their slots, and about the variables of
// the expression and the elements of its predicates, whose roots are below zero.
type known struct {
	*typing.Facts
	// never says that the node is never evaluated.
	never bool
}

// with adds that the value at a place is not nil.
func (k known) with(p place) known {
	if p.is {
		k.Facts = k.With(p.root, p.path...)
	}
	return k
}

// or is what is known where one of two branches was taken.
func (k known) or(l known) known {
	switch {
	case k.never:
		return l
	case l.never || k == l:
		return k
	default:
		return known{Facts: k.Common(l.Facts)}
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

// where adds to what is known in any case.
func (r result) where(p place) result {
	r.yes, r.no = r.yes.with(p), r.no.with(p)
	return r
}

// place names a value by a path of keys from a root. A constant index counts as a key, such as "[0]".
type place struct {
	root int
	path []string
	// is says that there is one, and whole that it is that of a whole node.
	is, whole bool
}

// callKey tells calls apart: the same text can have other variables and elements.
type callKey struct {
	text              string
	variable, element int
}

// place returns the place of a node, as far as its path has constant keys. Where the value of the path is not nil, that at the place
// is not nil either. A slice of nil is an empty list, which proves nothing: before one the place ends a key earlier.
func (c *checker) place(node expression.Node) (p place) {
	path, isPath := node.(*expression.Path)
	if !isPath {
		p = c.rootPlace(node)
		p.is = p.is && c.spend(1)
		return p
	}
	if p = c.rootPlace(path.Root); !p.is || !c.spend(1+len(path.Steps)) {
		return place{}
	}
	p.whole = false
	for i := range path.Steps {
		key, constant := stepOf(&path.Steps[i])
		switch {
		case path.Steps[i].Kind == expression.BySlice && len(p.path) == 0:
			return place{}
		case path.Steps[i].Kind == expression.BySlice:
			p.path = p.path[:len(p.path)-1]
			return p
		case !constant:
			return p
		}
		p.path = append(p.path, key)
	}
	p.whole = true
	return p
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
func (c *checker) rootPlace(root expression.Node) place {
	switch n := root.(type) {
	case *expression.Variable:
		v := c.variable(n)
		return v.around.alias(v.let.Value, place{root: v.root, is: true, whole: true})
	case *expression.Name:
		own := place{root: n.Slot, is: true, whole: true}
		if d, is := c.definition(n.Slot); is {
			other := d.alias(d.program.Root(), own)
			c.run.depth--
			if other.root >= 0 {
				return other
			}
		}
		return own
	case *expression.Element:
		return place{root: c.elements[len(c.elements)-1].root, is: n.Name == "", whole: true}
	case *expression.Call:
		return c.callPlace(n)
	default:
		return place{}
	}
}

// alias returns the place of the path that a definition consists of, or else its own.
func (c *checker) alias(node expression.Node, own place) place {
	p := c.place(node)
	if !p.is || !p.whole || len(p.path) > 0 && p.path[len(p.path)-1] == "metadata" {
		return own
	}
	p.path = slices.Clip(p.path)
	return p
}

// present returns the place of a node that is known not to be nil, if its type does not say so.
func (c *checker) present(node expression.Node, t typing.Type) place {
	if neverNil(t) {
		return place{}
	}
	return c.place(node)
}

// callPlace returns the place of the result of a call. Two calls with the same text have the same root, since functions are pure.
func (c *checker) callPlace(n *expression.Call) place {
	if n.Function.Name == "get" && len(n.Args) == 2 {
		key, constant := expression.TextOf(n.Args[1])
		if p := c.place(n.Args[0]); p.is && p.whole && constant {
			p.path = append(slices.Clip(p.path), key)
			return p
		}
	}
	key := callKey{text: n.Text}
	for _, arg := range n.Args {
		whole := arg.Written().Whole
		key.text += "\x00" + c.program.Source()[whole.Offset:whole.End()]
	}
	if !c.spend(len(key.text)) {
		return place{}
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
	return place{root: root, is: true, whole: true}
}

// substitute is the value of a node where a path in it is nil.
type substitute struct {
	value any
	at    place // of the path
	is    bool
}

// substituteOf returns what a node gives where a path in it is nil: nil for the path
// itself, the default of ??, 0 for its length.
func (c *checker) substituteOf(node expression.Node) (s substitute) {
	if !c.spend(1) {
		return substitute{}
	}
	itself := substitute{at: c.place(node), is: true}
	switch n := node.(type) {
	case *expression.Variable:
		v := c.variable(n)
		return v.around.substituteOr(v.let.Value, itself)
	case *expression.Name:
		if d, defined := c.definition(n.Slot); defined {
			itself = d.substituteOr(d.program.Root(), itself)
			c.run.depth--
		}
		return itself
	case *expression.Path:
		itself.is = n.Steps[len(n.Steps)-1].Kind != expression.BySlice
		return itself
	case *expression.Element:
		return itself
	case *expression.Binary:
		v, literal := expression.LiteralOf(n.Right)
		return substitute{v, c.place(n.Left), literal && n.Operator == "??"}
	case *expression.Call:
		if len(n.Args) == 0 {
			return substitute{}
		}
		switch n.Function.Name {
		case "default":
			v, literal := expression.LiteralOf(n.Args[1])
			return substitute{v, c.place(n.Args[0]), literal}
		case "type":
			return substitute{"nil", c.place(n.Args[0]), true}
		case "len", "count", "sum":
			inner := c.substituteOf(n.Args[0])
			return substitute{int64(0), inner.at, inner.is && inner.value == nil}
		}
		return itself
	}
	return substitute{}
}

// substituteOr is that of a definition where it has a default, or else that of the name
// for it.
func (c *checker) substituteOr(node expression.Node, itself substitute) substitute {
	if s := c.substituteOf(node); s.is && s.value != nil {
		return s
	}
	return itself
}

// neverNil reports whether it is known that there is a value.
func neverNil(t typing.Type) bool { return t.Known() && !t.CanBeNil() }

// narrowed adds what a comparison says of its operands: where it does not give what it would give for nil, the operand is
// present.
func (c *checker) narrowed(n *expression.Binary, operands []operand, r result) result {
	for i, o := range operands {
		s, against := c.substituteOf(o.node), o.beside.of
		if !s.is || s.value == nil && neverNil(o.of) || i == 1 && n.Operator == "in" {
			continue
		}
		var holds, known bool
		if v, constant := constantOf(o.beside.node, against); constant {
			one, two := s.value, v
			if i == 1 {
				one, two = v, s.value
			}
			holds, known = n.Holds(one, two)
		} else {
			if n.Operator == "in" {
				against = against.Items()
			}
			holds, known = n.Operator == "!=", s.value == nil && neverNil(against) && !n.Checked()
		}
		switch {
		case known && holds:
			r.no = r.no.with(s.at)
		case known:
			r.yes = r.yes.with(s.at)
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
	r.yes = r.yes.with(c.present(n.Right, container))
	node, kinds := n.Right, container.Kinds()
	if name, args := expression.Calls(node); name == "keys" {
		node, kinds = args[0], value.Map
	}
	key, literal := expression.TextOf(n.Left)
	if p := c.place(node); literal && p.whole && kinds&value.Map != 0 {
		p.path = append(slices.Clip(p.path), key)
		r.yes = r.yes.with(p)
	}
	return r
}

// decided marks the branch that is never taken, for a condition that is a constant, such as a parameter.
func (r result) decided() result {
	v, _ := written(r.of)
	if outcome, is := v.(bool); is {
		return r.never(outcome)
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
		return r.never(outcome)
	}
	return r
}

// never marks the branch of a condition that always has the same outcome.
func (r result) never(outcome bool) result {
	r.yes.never = r.yes.never || !outcome
	r.no.never = r.no.never || outcome
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
