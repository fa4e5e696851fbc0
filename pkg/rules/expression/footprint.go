package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// Shapes resolves the names of a [Scope] to what their values can be, as [Names]
// resolves them to values. Shape is called each time that the name is used.
type Shapes interface {
	Shape(slot int) shape.Shape
}

// Shape records what evaluating the expression reads of the objects that its
// names hold, and returns what its value can be, of which nothing is read yet:
// whoever uses the value calls Read, with footprint.Value where it is a condition
// or leaves into a body. It never says too little; for an expression that takes too
// long to follow it says that everything is read.
func (p *Program) Shape(names Shapes) shape.Shape {
	a := &analysis{program: p, names: names}
	result := a.node(p.tree.Node)
	if a.nodes <= maxAnalysed {
		return result
	}
	for _, name := range p.names {
		slot, _ := p.scope.Slot(name)
		names.Shape(slot).Read(footprint.Value)
	}
	return shape.Other()
}

// Shape is [Program.Shape] for a template; a text reads its expressions.
func (t *Template) Shape(names Shapes) shape.Shape {
	if t.alone {
		return t.parts[0].program.Shape(names)
	}
	for _, p := range t.parts {
		if p.program != nil {
			p.program.Shape(names).Read(footprint.Value)
		}
	}
	return shape.Other()
}

// Prefix returns the text before the first expression of a template; it is empty
// where the template is one expression.
func (t *Template) Prefix() string {
	if len(t.parts) == 0 || t.parts[0].program != nil {
		return ""
	}
	return t.parts[0].literal
}

// maxAnalysed limits how many nodes are analysed. Only predicates of reduce are
// analysed more than once.
const maxAnalysed = 10 * syntax.MaxNodes

// analysis follows the values through a tree. It takes every branch.
type analysis struct {
	program    *Program
	names      Shapes
	locals     []localShape
	predicates []elementShape
	nodes      int
}

// localShape is a variable of let.
type localShape struct {
	name  string
	shape shape.Shape
}

// elementShape is # and #acc of a predicate.
type elementShape struct{ element, accumulator shape.Shape }

func (a *analysis) node(node ast.Node) shape.Shape {
	if a.nodes++; a.nodes > maxAnalysed {
		return shape.Other()
	}
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return a.name(n.Value)
	case *ast.PointerNode:
		return a.pointer(n.Name)
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		return a.path(node)
	case *ast.UnaryNode:
		return a.read(n.Node)
	case *ast.BinaryNode:
		return a.binary(n)
	case *ast.BuiltinNode:
		return a.call(n.Name, n.Arguments)
	case *ast.CallNode:
		callee, _ := n.Callee.(*ast.IdentifierNode)
		return a.call(callee.Value, n.Arguments)
	case *ast.ConditionalNode:
		a.read(n.Cond)
		return shape.Union(a.node(n.Exp1), a.node(n.Exp2))
	case *ast.VariableDeclaratorNode:
		a.locals = append(a.locals, localShape{n.Name, a.node(n.Value)})
		result := a.node(n.Expr)
		a.locals = a.locals[:len(a.locals)-1]
		return result
	default:
		return a.literal(node)
	}
}

// read reads nodes by value, whose results hold no part of an object.
func (a *analysis) read(nodes ...ast.Node) shape.Shape {
	for _, n := range nodes {
		a.node(n).Read(footprint.Value)
	}
	return shape.Other()
}

func (a *analysis) name(name string) shape.Shape {
	for _, l := range slices.Backward(a.locals) {
		if l.name == name {
			return l.shape
		}
	}
	slot, _ := a.program.scope.Slot(name)
	return a.names.Shape(slot)
}

func (a *analysis) pointer(name string) shape.Shape {
	p := a.predicates[len(a.predicates)-1]
	switch name {
	case "":
		return p.element
	case "acc":
		return p.accumulator
	default:
		return shape.Other()
	}
}

// binary tells the operators that look at less than the values of both sides.
func (a *analysis) binary(n *ast.BinaryNode) shape.Shape {
	switch n.Operator {
	case "??":
		left := a.node(n.Left)
		left.Read(footprint.Exists)
		return shape.Union(left, a.node(n.Right))
	case "==", "!=":
		if (isNil(n.Left) || isNil(n.Right)) && !isComposed(n.Left) && !isComposed(n.Right) { // Of what is composed a reason shows the parts.
			a.node(n.Left).Read(footprint.Exists)
			a.node(n.Right).Read(footprint.Exists)
			return shape.Other()
		}
	case "in":
		if key, ok := n.Left.(*ast.StringNode); ok {
			a.node(n.Right).Has(key.Value)
			return shape.Other()
		}
	}
	return a.read(n.Left, n.Right)
}

func isNil(n ast.Node) bool {
	_, is := n.(*ast.NilNode)
	return is
}

func isComposed(n ast.Node) bool {
	switch n.(type) {
	case *ast.ArrayNode, *ast.MapNode:
		return true
	default:
		return false
	}
}

func (a *analysis) literal(node ast.Node) shape.Shape {
	switch n := node.(type) {
	case *ast.ArrayNode:
		elements := make([]shape.Shape, len(n.Nodes))
		for i, element := range n.Nodes {
			elements[i] = a.node(element)
		}
		return shape.List(shape.Union(elements...))
	case *ast.MapNode:
		return a.mapping(n)
	default:
		return shape.Other()
	}
}

func (a *analysis) mapping(n *ast.MapNode) shape.Shape {
	fields := map[string]shape.Shape{}
	var values []shape.Shape
	for _, pair := range n.Pairs {
		p, _ := pair.(*ast.PairNode)
		v := a.node(p.Value)
		if key, ok := p.Key.(*ast.StringNode); ok {
			fields[key.Value] = v
			continue
		}
		a.read(p.Key)
		values = append(values, v)
	}
	return shape.Map(fields, values...)
}

func (a *analysis) call(name string, nodes []ast.Node) shape.Shape {
	f, found := function.Lookup(name)
	if !found || name == "desc" {
		// Of sortBy, which compares the keys.
		return a.read(nodes...)
	}
	flow := &function.Flow{}
	for i, n := range nodes {
		if f.Iterates() && i == 1 {
			flow.Predicate = a.predicate(n)
			continue
		}
		argument := a.node(n)
		argument.Read(footprint.Exists)
		flow.Arguments = append(flow.Arguments, argument)
		flow.Constants = append(flow.Constants, constantOf(n))
	}
	return f.Flow(flow)
}

// constantOf returns the string or integer that a node is, or nil.
func constantOf(n ast.Node) any {
	v, _ := syntax.Literal(n)
	if value.KindOf(v)&(value.String|value.Int) == 0 {
		return nil
	}
	return v
}

func (a *analysis) predicate(node ast.Node) func(element, accumulator shape.Shape) shape.Shape {
	if n, ok := node.(*ast.PredicateNode); ok {
		node = n.Node
	}
	return func(element, accumulator shape.Shape) shape.Shape {
		a.predicates = append(a.predicates, elementShape{element, accumulator})
		result := a.node(node)
		a.predicates = a.predicates[:len(a.predicates)-1]
		return result
	}
}
