package syntax

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Literal returns the value that a node writes, where that is no list and no map: nil,
// a boolean, a text, or a number with or without a sign.
func Literal(node ast.Node) (v any, is bool) {
	switch n := node.(type) {
	case *ast.NilNode:
		return nil, true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.IntegerNode:
		return int64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode:
		return n.Value, true
	case *ast.UnaryNode:
		v, is = Literal(n.Node)
		if n.Operator != "-" || !is || value.KindOf(v)&value.Number == 0 {
			return nil, false
		}
		v, err := value.Negate(v)
		return v, err == nil
	default:
		return nil, false
	}
}
