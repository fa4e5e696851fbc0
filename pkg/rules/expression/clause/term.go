package clause

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// term writes what a node computes so that the same computation has the same text:
// definitions are written out, and whether a path may end early does not matter.
func (r *reader) term(node ast.Node) string {
	if !r.enter() {
		return r.unlike()
	}
	defer r.leave()
	return r.bounded(r.write(node))
}

// bounded gives up what would be too long.
func (r *reader) bounded(text string) string {
	if r.text -= len(text); r.text < 0 {
		return r.unlike()
	}
	return text
}

func (r *reader) write(node ast.Node) string {
	if v, known := r.constant(node); known && scalar(v) {
		return literalText(v)
	}
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return r.name(n.Value)
	case *ast.PointerNode:
		return "#" + n.Name
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		return r.path(node)
	default:
		return r.compound(node)
	}
}

// literalText tells integers from floats, with which functions do other things.
func literalText(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// compound writes what an operator or a function makes of other terms.
func (r *reader) compound(node ast.Node) string {
	switch n := node.(type) {
	case *ast.UnaryNode:
		return r.list(n.Operator, n.Node)
	case *ast.BinaryNode:
		return r.list(n.Operator, n.Left, n.Right)
	case *ast.ConditionalNode:
		return r.list("if", n.Cond, n.Exp1, n.Exp2)
	case *ast.BuiltinNode, *ast.CallNode:
		function, arguments := called(n)
		return r.list(function, arguments...)
	case *ast.PredicateNode:
		return r.term(n.Node)
	case *ast.ArrayNode:
		return r.list("", n.Nodes...)
	default:
		return r.unlike()
	}
}

// unlike is a text that no other term has.
func (r *reader) unlike() string {
	r.strange++
	return fmt.Sprintf("?%p.%d", r, r.strange)
}

func (r *reader) name(name string) string {
	if p := r.names.Definition(name); p != nil {
		return r.term(p.Tree().Node)
	}
	called, _ := r.names.Root(name)
	return called
}

func (r *reader) list(name string, nodes ...ast.Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, r.term(n))
	}
	return r.bounded(name + "(" + strings.Join(all, ", ") + ")")
}

func (r *reader) path(node ast.Node) string {
	accesses, root := syntax.Spine(node)
	var text strings.Builder
	text.WriteString(r.term(root))
	for _, access := range slices.Backward(accesses) {
		switch n := access.(type) {
		case *ast.MemberNode:
			if key, ok := n.Property.(*ast.StringNode); ok {
				text.WriteString(field(key.Value))
			} else {
				text.WriteString("[" + r.term(n.Property) + "]")
			}
		default:
			return r.unlike()
		}
	}
	return text.String()
}

// stored reports whether the value of a node is as the cluster stores it, or of a kind
// that is stored: no quantity, no version, no duration and no moment.
func (r *reader) stored(node ast.Node) bool {
	if !r.enter() {
		return false
	}
	defer r.leave()
	switch n := r.resolve(node).(type) {
	case *ast.IdentifierNode:
		_, stored := r.names.Root(n.Value)
		return stored
	case *ast.MemberNode, *ast.ChainNode:
		_, root := syntax.Spine(n)
		return r.stored(root)
	default:
		switch function, arguments := called(n); function {
		case "condition", "first", "last", "find", "get": // A part of what they are given.
			return len(arguments) > 0 && r.stored(arguments[0])
		default:
			return storing(function)
		}
	}
}

// storing reports whether a function returns numbers or texts, whatever it is given.
func storing(function string) bool {
	switch function {
	case "len", "count", "int", "float", "string", "lower", "upper", "trim":
		return true
	default:
		return false
	}
}

func field(key string) string { return "." + strconv.Quote(key) }

// constant returns the value of a literal, or of a path into a constant.
func (r *reader) constant(node ast.Node) (v any, known bool) {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return r.names.Constant(n.Value)
	case *ast.ArrayNode:
		return r.constants(n.Nodes)
	case *ast.MemberNode, *ast.ChainNode:
		return r.constantAt(node)
	default:
		return syntax.Literal(node)
	}
}

func (r *reader) constants(nodes []ast.Node) (any, bool) {
	if !r.work.Spend(len(nodes)) {
		return nil, false
	}
	all := make([]any, 0, len(nodes))
	for _, n := range nodes {
		v, known := r.constant(n)
		if !known {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
}

// constantAt reads a constant along a path of keys.
func (r *reader) constantAt(node ast.Node) (v any, known bool) {
	accesses, root := syntax.Spine(node)
	name, ok := root.(*ast.IdentifierNode)
	if !ok {
		return nil, false
	}
	v, known = r.names.Constant(name.Value)
	for i := len(accesses) - 1; i >= 0 && known; i-- {
		member, isMember := accesses[i].(*ast.MemberNode)
		if !isMember {
			return nil, false
		}
		key, isKey := member.Property.(*ast.StringNode)
		m, isMap := v.(map[string]any)
		if !isKey || !isMap {
			return nil, false
		}
		v = m[key.Value]
	}
	return v, known
}
