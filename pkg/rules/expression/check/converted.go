package check

import (
	"errors"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// convertsAny is converts for either operand.
func (c *checker) convertsAny(n *ast.BinaryNode, left, right typing.Type) bool {
	return left.Known() && c.converts(n.Right, left.Kinds()&^value.Nil, n.Operator) ||
		right.Known() && c.converts(n.Left, right.Kinds()&^value.Nil, n.Operator)
}

// converts checks a literal beside what reads it as a computed value, and reports whether
// it cannot be read as one.
func (c *checker) converts(literal ast.Node, other value.Kind, operator string) bool {
	v, is := syntax.Literal(literal)
	if !is {
		return false
	}
	sample := sampleOf(other, v, operator)
	if sample == nil {
		return false
	}
	_, _, err := value.Align(sample, v, nil)
	if err == nil {
		return false
	}
	if located, is := errors.AsType[*expression.Error](c.tree.Span(literal).Locate(err)); is {
		c.report(wrongFormat, located)
	}
	return true
}

// sampleOf is a value of the kind that a literal is read as beside others of one kind,
// nil where that is none or depends.
func sampleOf(other value.Kind, v any, operator string) any {
	const beginsDate = 5 // No duration has a dash there.
	text, _ := v.(string)
	switch {
	case other == value.Quantity:
		return value.Amount{}
	case other == value.Semver:
		return value.Version{}
	case !isOrdering(operator) && operator != "==" && operator != "!=" && other&(value.Time|value.Duration) == other:
		if len(text) >= beginsDate && text[beginsDate-1] == '-' {
			return time.Time{}
		}
		return time.Duration(0)
	case other == value.Time:
		return time.Time{}
	case other == value.Duration:
		return time.Duration(0)
	default:
		return nil
	}
}
