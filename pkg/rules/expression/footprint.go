package expression

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Shapes resolves the names of a [Scope] to what their values can be, as [Names]
// resolves them to values. Shape is called each time that the name is used.
type Shapes interface {
	Shape(slot int) footprint.Shape
}

// Shape records what evaluating the expression reads of the objects that its
// names hold, and returns what its value can be, of which nothing is read yet:
// whoever uses the value calls Read, with footprint.Value where it is a condition
// or leaves into a body. It never says too little; for an expression that takes too
// long to follow it says that everything is read.
func (p *Program) Shape(names Shapes) footprint.Shape {
	a := &analysis{names: names, lets: map[*Let]footprint.Shape{}}
	result := a.node(p.root)
	if a.nodes <= maxAnalysed {
		return result
	}
	all := []footprint.Shape{footprint.Other()}
	for _, name := range p.names {
		slot, _ := p.scope.Slot(name)
		all = append(all, names.Shape(slot))
	}
	return footprint.OneOf(all...).Untracked()
}

// Shape is [Program.Shape] for a template; a text reads its expressions.
func (t *Template) Shape(names Shapes) footprint.Shape {
	parts, alone := t.Parts()
	if alone {
		return parts[0].Program.Shape(names)
	}
	for _, p := range parts {
		p.Program.Shape(names).Read(footprint.Value)
	}
	return footprint.Other()
}

// Prefix returns the text before the first expression of a template; it is empty
// where the template is one expression.
func (t *Template) Prefix() string {
	if _, alone := t.Parts(); alone {
		return ""
	}
	return t.texts[0]
}

// maxAnalysed limits how many nodes are analysed. Only predicates of reduce are
// analysed more than once.
const maxAnalysed = 10 * syntax.MaxNodes

// analysis follows the values through the nodes. It takes every branch.
type analysis struct {
	names Shapes
	lets  map[*Let]footprint.Shape
	// element and accumulator are # and #acc of the innermost predicate.
	element, accumulator footprint.Shape
	nodes                int
}

func (a *analysis) node(node Node) footprint.Shape {
	if a.nodes++; a.nodes > maxAnalysed {
		return footprint.Other()
	}
	switch n := node.(type) {
	case *Name:
		return a.names.Shape(n.Slot)
	case *Variable:
		return a.lets[n.Let]
	case *Let:
		a.lets[n] = a.node(n.Value)
		return a.node(n.Body)
	case *Element:
		switch n.Name {
		case "":
			return a.element
		case "acc":
			return a.accumulator
		default:
			return footprint.Other()
		}
	case *Path:
		return a.path(n)
	case *Unary:
		return a.read(n.X)
	case *Binary:
		return a.binary(n)
	case *Call:
		return a.call(n)
	case *Conditional:
		a.read(n.Condition)
		return footprint.OneOf(a.node(n.Yes), a.node(n.No))
	case *List:
		items := make([]footprint.Shape, len(n.Items))
		for i, item := range n.Items {
			items[i] = a.node(item)
		}
		return footprint.List(footprint.OneOf(items...))
	case *Map:
		return a.mapping(n)
	default:
		return footprint.Other()
	}
}

// read reads nodes by value, whose results hold no part of an object.
func (a *analysis) read(nodes ...Node) footprint.Shape {
	for _, n := range nodes {
		a.node(n).Read(footprint.Value)
	}
	return footprint.Other()
}

// binary tells the operators that look at less than the values of both sides.
func (a *analysis) binary(n *Binary) footprint.Shape {
	switch n.Operator {
	case "??":
		left := a.node(n.Left)
		left.Read(footprint.Exists)
		return footprint.OneOf(left, a.node(n.Right))
	case "==", "!=":
		if (IsNil(n.Left) || IsNil(n.Right)) && !isComposed(n.Left) && !isComposed(n.Right) { // Of what is composed a reason shows the parts.
			a.node(n.Left).Read(footprint.Exists)
			a.node(n.Right).Read(footprint.Exists)
			return footprint.Other()
		}
	case "in":
		if key, ok := TextOf(n.Left); ok {
			a.node(n.Right).Has(key)
			return footprint.Other()
		}
	}
	return a.read(n.Left, n.Right)
}

func isComposed(n Node) bool {
	switch n.(type) {
	case *List, *Map:
		return true
	default:
		return false
	}
}

func (a *analysis) mapping(n *Map) footprint.Shape {
	fields := map[string]footprint.Shape{}
	var values []footprint.Shape
	for _, entry := range n.Entries {
		v := a.node(entry.Value)
		if key, ok := TextOf(entry.Key); ok {
			fields[key] = v
			continue
		}
		a.read(entry.Key)
		values = append(values, v)
	}
	return footprint.Map(fields, values...)
}

func (a *analysis) call(n *Call) footprint.Shape {
	flow := &function.Flow{}
	for _, arg := range n.Args {
		if p, is := arg.(*Predicate); is {
			flow.Predicate = func(element, accumulator footprint.Shape) footprint.Shape {
				element, a.element = a.element, element
				accumulator, a.accumulator = a.accumulator, accumulator
				result := a.node(p.Body)
				a.element, a.accumulator = element, accumulator
				return result
			}
			continue
		}
		argument := a.node(arg)
		argument.Read(footprint.Exists)
		flow.Arguments = append(flow.Arguments, argument)
		v, _ := LiteralOf(arg)
		if value.KindOf(v)&(value.String|value.Int) == 0 {
			v = nil
		}
		flow.Constants = append(flow.Constants, v)
	}
	return n.Function.Flow(flow)
}

// path goes through a chain of accesses. What is on the way matters by its kind,
// which every access records of what it reads from.
func (a *analysis) path(n *Path) footprint.Shape {
	on := a.node(n.Root)
	var parent, grandparent footprint.Shape
	for i := range n.Steps {
		a.nodes++
		s := &n.Steps[i]
		grandparent, parent = parent, on
		if s.Kind == BySlice {
			for _, bound := range s.Bounds {
				if bound != nil {
					a.read(bound)
				}
			}
			parent.Read(footprint.Length)
			on = footprint.OneOf(footprint.List(parent.Items()), footprint.Other())
			continue
		}
		key, constant := s.Step()
		if !constant {
			a.read(s.Index)
			key = nil
		}
		on = parent.At(key)
		switch s.Owner {
		case 1:
			parent.Typed()
		case 2:
			grandparent.Typed()
		}
	}
	return on
}
