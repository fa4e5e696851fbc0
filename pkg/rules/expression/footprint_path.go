package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// path goes through a chain of accesses. What is on the way matters by its kind,
// which every access records of what it reads from.
func (a *analysis) path(node ast.Node) shape.Shape {
	spine, root := syntax.Spine(node)
	on := a.node(root)
	var parent, grandparent shape.Shape
	for i, access := range slices.Backward(spine) {
		a.nodes++
		grandparent, parent = parent, on
		switch n := access.(type) {
		case *ast.SliceNode:
			on = a.slice(parent, n)
		case *ast.MemberNode:
			key := constantOf(n.Property)
			if key == nil {
				a.read(n.Property)
			}
			on = parent.At(key)
			switch {
			case key == "spec" || key == "status":
				parent.Typed()
			case (key == "labels" || key == "annotations") && i+1 < len(spine) && isKey(spine[i+1], "metadata"):
				grandparent.Typed()
			}
		}
	}
	return on
}

func isKey(node ast.Node, key string) bool {
	n, ok := node.(*ast.MemberNode)
	return ok && constantOf(n.Property) == key
}

// slice gives elements of a list, or characters of a string.
func (a *analysis) slice(on shape.Shape, n *ast.SliceNode) shape.Shape {
	for _, bound := range []ast.Node{n.From, n.To} {
		if bound != nil {
			a.read(bound)
		}
	}
	on.Read(footprint.Length)
	return shape.Union(shape.List(on.Items()), shape.Other())
}
