package check

import (
	"errors"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// convertsAny is converts for either operand.
func (c *checker) convertsAny(n *expression.Binary, left, right typing.Type) bool {
	return left.Known() && c.converts(n.Right, left.Kinds()&^value.Nil, n) ||
		right.Known() && c.converts(n.Left, right.Kinds()&^value.Nil, n)
}

// converts checks a literal beside what reads it as a computed value, and reports whether
// it cannot be read as one.
func (c *checker) converts(literal expression.Node, other value.Kind, n *expression.Binary) bool {
	v, is := expression.LiteralOf(literal)
	if !is {
		return false
	}
	sample := sampleOf(other, v, n)
	if sample == nil {
		return false
	}
	_, _, err := value.Align(sample, v, nil)
	if err == nil {
		return false
	}
	if located, is := errors.AsType[*expression.Error](literal.Written().At.Locate(err)); is {
		c.report(wrongFormat, located)
	}
	return true
}

// sampleOf is a value of the kind that a literal is read as beside others of one kind,
// nil where that is none or depends.
func sampleOf(other value.Kind, v any, n *expression.Binary) any {
	const beginsDate = 5 // No duration has a dash there.
	text, _ := v.(string)
	switch {
	case other == value.Quantity:
		return value.Amount{}
	case other == value.Semver:
		return value.Version{}
	case !n.Orders() && n.Operator != "==" && n.Operator != "!=" && other&(value.Time|value.Duration) == other:
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
