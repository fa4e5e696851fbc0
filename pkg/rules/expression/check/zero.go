package check

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// unstored says of which kinds nothing is stored at the end of a path where the value is
// false, 0, "" or empty.
func (w *walk) unstored() value.Kind {
	last := &w.path.Steps[len(w.path.Steps)-1]
	if f, declared := w.above.Schema().Field(last.Key); last.Kind == expression.ByKey && declared && f.ZeroIsAbsent && !f.Always {
		return w.on.Kinds() &^ value.Nil
	}
	return 0
}

// comparesZero reports a comparison with what is never stored, and whether it did. Who
// asks anywhere whether the field is there knows of it.
func (c *checker) comparesZero(n *expression.Binary, one expression.Node, of result, other expression.Node) bool {
	kind, empty := zeroKind(other)
	text := one.Written().Text
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
	c.report(neverTrue, n.Written().At.Errorf("%s is absent where it would be %s, so this is %s true", text, empty, is).WithHint("%s", hint))
	return true
}

// zeroKind is the kind of a literal that says no, none or nothing, and how it is written.
func zeroKind(node expression.Node) (kind value.Kind, text string) {
	switch n := node.(type) {
	case *expression.List:
		if len(n.Items) == 0 {
			return value.List, "[]"
		}
		return 0, ""
	case *expression.Map:
		if len(n.Entries) == 0 {
			return value.Map, "{}"
		}
		return 0, ""
	}
	switch v, _ := expression.LiteralOf(node); v {
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
func (c *checker) asksWhether(path string) (asks bool) {
	if !c.spend(len(c.program.Source())) {
		return true
	}
	expression.Visit(c.program.Root(), func(node expression.Node) {
		n, is := node.(*expression.Binary)
		if is && (n.Operator == "==" || n.Operator == "!=") {
			asks = asks || expression.IsNil(n.Right) && n.Left.Written().Text == path || expression.IsNil(n.Left) && n.Right.Written().Text == path
		}
	})
	return asks
}
