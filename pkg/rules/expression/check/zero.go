package check

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// unstored says of which kinds nothing is stored at the end of a path where the value is
// false, 0, "" or empty.
func (w *walk) unstored() value.Kind {
	key, constant := keyOf(w.accesses[len(w.accesses)-1])
	if f, declared := w.above.Schema().Field(key); constant && declared && f.ZeroIsAbsent && !f.Always {
		return w.on.Kinds() &^ value.Nil
	}
	return 0
}

// comparesZero reports a comparison with what is never stored, and whether it did. Who
// asks anywhere whether the field is there knows of it.
func (c *checker) comparesZero(n *ast.BinaryNode, one ast.Node, of result, other ast.Node) bool {
	kind, empty := zeroKind(other)
	text := syntax.Text(one)
	if kind == 0 || of.zero&kind == 0 || !of.of.CanBeNil() || text == "" || c.asksWhether(text) {
		return false
	}
	is := "never"
	if n.Operator == "!=" {
		is = "always"
	}
	hint := fmt.Sprintf("write (%s ?? %s) %s %s", text, empty, n.Operator, empty)
	switch {
	case kind&(value.List|value.Map) != 0 && n.Operator == "==":
		hint = fmt.Sprintf("write len(%s) == 0", text)
	case kind&(value.List|value.Map) != 0:
		hint = fmt.Sprintf("write len(%s) > 0", text)
	}
	c.report(neverTrue, c.tree.Span(n).Errorf("%s is absent where it would be %s, so this is %s true", text, empty, is).WithHint("%s", hint))
	return true
}

// zeroKind is the kind of a literal that says no, none or nothing, and how it is written.
func zeroKind(node ast.Node) (kind value.Kind, text string) {
	switch n := node.(type) {
	case *ast.ArrayNode:
		if len(n.Nodes) == 0 {
			return value.List, "[]"
		}
		return 0, ""
	case *ast.MapNode:
		if len(n.Pairs) == 0 {
			return value.Map, "{}"
		}
		return 0, ""
	}
	switch v, _ := syntax.Literal(node); v {
	case any(false):
		return value.Bool, "false"
	case "":
		return value.String, `""`
	case int64(0), 0.0:
		return value.Number, "0"
	default:
		return 0, ""
	}
}

// asksWhether reports whether the expression compares a path with nil.
func (c *checker) asksWhether(path string) bool {
	asked := &asking{path: path}
	if !c.spend(len(c.tree.Text)) {
		return true
	}
	ast.Walk(&c.tree.Node, asked)
	return asked.found
}

type asking struct {
	path  string
	found bool
}

// Visit implements [ast.Visitor].
func (a *asking) Visit(node *ast.Node) {
	n, is := (*node).(*ast.BinaryNode)
	if !is || n.Operator != "==" && n.Operator != "!=" {
		return
	}
	_, left := n.Left.(*ast.NilNode)
	_, right := n.Right.(*ast.NilNode)
	a.found = a.found || right && syntax.Text(n.Left) == a.path || left && syntax.Text(n.Right) == a.path
}
