package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/utils"
)

// Text is how messages call the value of a node: a path as it was written, or "".
func Text(node ast.Node) string {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.PointerNode:
		return "#" + n.Name
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		accesses, root := Spine(node)
		var text strings.Builder
		text.WriteString(RootText(root))
		for _, access := range slices.Backward(accesses) {
			text.WriteString(AccessText(access))
		}
		return text.String()
	case *ast.BuiltinNode:
		return n.Name + "(...)"
	case *ast.CallNode:
		return Text(n.Callee) + "(...)"
	case *ast.VariableDeclaratorNode:
		return Text(n.Expr)
	default:
		return ""
	}
}

// RootText is how messages call what a path begins with.
func RootText(root ast.Node) string {
	if text := Text(root); text != "" {
		return text
	}
	return "(...)"
}

// AccessText is how messages write an access, with its dot or brackets.
func AccessText(access ast.Node) string {
	n, ok := access.(*ast.MemberNode)
	if !ok {
		return "[...]"
	}
	text := "[" + indexText(n.Property) + "]"
	if key, ok := n.Property.(*ast.StringNode); ok {
		text = KeyText(key.Value)
	}
	if n.Optional {
		return Optional(text)
	}
	return text
}

// KeyText is how the access of a key is written.
func KeyText(key string) string {
	if utils.IsValidIdentifier(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// Optional writes an access with ?. in front.
func Optional(access string) string {
	if access[0] == '[' {
		return "?." + access
	}
	return "?" + access
}

func indexText(node ast.Node) string {
	if isLiteral(node) {
		return node.String()
	}
	if text := Text(node); text != "" {
		return text
	}
	return "..."
}

func isLiteral(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return true
	case *ast.UnaryNode:
		return n.Operator == "-" && isLiteral(n.Node)
	default:
		return false
	}
}
