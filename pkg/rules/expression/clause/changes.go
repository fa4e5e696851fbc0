package clause

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Changes reports whether the value of an expression certainly differs from what is at a
// path of the watched object: something is added to that, or it is negated. Written there,
// it differs again.
func Changes(p *expression.Program, path []string, names Names) bool {
	r, at := following(path, names)
	return r.changes(p.Tree().Node, at)
}

// Reads reports whether the value of an expression is what is at a path of the watched
// object, or a constant where there is nothing.
func Reads(p *expression.Program, path []string, names Names) bool {
	r, at := following(path, names)
	return r.reads(p.Tree().Node, at)
}

// following returns a reader, and the term of a field of the watched object.
func following(path []string, names Names) (r *reader, at string) {
	at, _ = names.Root("object")
	for _, key := range path {
		at += field(key)
	}
	return &reader{names: names, work: NewWork(mostNodes), left: mostNodes, text: mostText}, at
}

func (r *reader) changes(node ast.Node, at string) bool {
	if !r.enter() {
		return false
	}
	defer r.leave()
	node = r.resolve(node)
	if argument := argumentOf(node, "string"); argument != nil {
		return r.changes(argument, at)
	}
	switch n := node.(type) {
	case *ast.UnaryNode:
		return (n.Operator == "!" || n.Operator == "not") && r.reads(n.Node, at)
	case *ast.BinaryNode:
		return r.adds(n, at)
	default:
		return false
	}
}

// adds reports whether a constant is added to the field, or taken from it.
func (r *reader) adds(n *ast.BinaryNode, at string) bool {
	switch n.Operator {
	case "+":
		return r.something(n.Right) && r.reads(n.Left, at) || r.something(n.Left) && r.reads(n.Right, at)
	case "-":
		return r.something(n.Right) && r.reads(n.Left, at)
	default:
		return false
	}
}

// reads looks through conversions, and through what stands in where there is nothing.
func (r *reader) reads(node ast.Node, at string) bool {
	if !r.enter() {
		return false
	}
	defer r.leave()
	node = r.resolve(node)
	if argument := argumentOf(node, "int", "string"); argument != nil {
		return r.reads(argument, at)
	}
	if n, is := node.(*ast.BinaryNode); is && n.Operator == "??" {
		_, known := r.constant(n.Right)
		return known && r.reads(n.Left, at)
	}
	return r.term(node) == at
}

// something reports whether adding a constant makes a difference. Not every fraction does,
// after a conversion.
func (r *reader) something(node ast.Node) bool {
	switch v, _ := r.constant(node); v := v.(type) {
	case int64:
		return v != 0
	case string:
		return v != ""
	default:
		return false
	}
}

// argumentOf is the argument of a call of one of some functions, nil of anything else.
func argumentOf(node ast.Node, functions ...string) ast.Node {
	name, arguments := called(node)
	for _, function := range functions {
		if name == function && len(arguments) == 1 {
			return arguments[0]
		}
	}
	return nil
}

// called is the function that a node calls, "" where it calls none.
func called(node ast.Node) (name string, arguments []ast.Node) {
	switch n := node.(type) {
	case *ast.BuiltinNode:
		return n.Name, n.Arguments
	case *ast.CallNode:
		return n.Callee.String(), n.Arguments
	default:
		return "", nil
	}
}
