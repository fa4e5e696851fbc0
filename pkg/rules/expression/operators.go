package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func (c *compiler) unary(n *ast.UnaryNode) (code, error) {
	if err := c.tree.CheckUnary(n); err != nil {
		return code{}, err
	}
	operand, err := c.compile(n.Node)
	if err != nil {
		return code{}, err
	}
	at := c.tree.Span(n)
	switch n.Operator {
	case "!", "not":
		return code{at: at, eval: negation(operand, n.Operator)}, nil
	case "-":
		if operand.constant && value.KindOf(operand.value)&value.Number != 0 {
			v, err := value.Negate(operand.value)
			return constant(at, v), at.Locate(err)
		}
		return code{at: at, eval: sign(operand, "-", at, value.Negate)}, nil
	default:
		return code{at: at, eval: sign(operand, "+", at, func(v any) (any, error) { return v, nil })}, nil
	}
}

func negation(operand code, operator string) evaluator {
	return func(e *Evaluation) (any, error) {
		v, err := operand.eval(e)
		if err != nil {
			return nil, err
		}
		b, ok := v.(bool)
		if ok {
			return !b, nil
		}
		failure := operand.wants(operator, value.Bool, v)
		if value.KindOf(v)&(value.Nil|value.Stamped) == 0 {
			failure = failure.WithHint("%s binds tighter than a comparison: write %s (a == b)", operator, operator)
		}
		return nil, failure
	}
}

func sign(operand code, operator string, at syntax.Span, apply func(any) (any, error)) evaluator {
	return func(e *Evaluation) (any, error) {
		v, err := operand.eval(e)
		if err != nil {
			return nil, err
		}
		if value.KindOf(v)&(value.Number|value.Quantity|value.Duration) == 0 {
			return nil, operand.wants(operator, value.Number, v)
		}
		result, err := apply(v)
		return result, at.Locate(err)
	}
}

// binary compiles an operator with two operands.
func (c *compiler) binary(n *ast.BinaryNode) (code, error) {
	if err := c.tree.CheckBinary(n); err != nil {
		return code{}, err
	}
	switch n.Operator {
	case "??":
		return c.coalesce(n, c.compile)
	case "matches":
		return c.matches(n)
	}
	for _, operand := range []ast.Node{n.Left, n.Right} {
		if err := c.checkStamp(operand); err != nil {
			return code{}, err
		}
	}
	left, err := c.compile(n.Left)
	if err != nil {
		return code{}, err
	}
	right, err := c.compile(n.Right)
	if err != nil {
		return code{}, err
	}
	b := operation{operator: n.Operator, left: left, right: right, at: c.tree.Span(n)}
	eval := b.evaluator()
	if eval == nil {
		return code{}, b.at.Errorf("the operator %s is not supported", n.Operator)
	}
	return code{at: b.at, eval: eval}, nil
}

// checkStamp catches where it is written what would fail whenever it is evaluated.
func (c *compiler) checkStamp(operand ast.Node) error {
	call, ok := operand.(*ast.CallNode)
	if !ok {
		return nil
	}
	if callee, ok := call.Callee.(*ast.IdentifierNode); ok && callee.Value == "stamp" {
		return c.tree.Span(callee).Errorf("%s", value.ErrStamp.Message)
	}
	return nil
}

// operation is an operator between two compiled operands.
type operation struct {
	operator    string
	left, right code
	at          syntax.Span
}

func (o *operation) evaluator() evaluator {
	switch o.operator {
	case "&&", "and":
		return o.and
	case "||", "or":
		return o.or
	case "==":
		return o.equal
	case "!=":
		return o.unequal
	case "<", "<=", ">", ">=":
		return o.ordering()
	case "in":
		return o.in
	case "..":
		return o.sequence
	case "contains":
		return o.onStrings(strings.Contains)
	case "startsWith":
		return o.onStrings(strings.HasPrefix)
	case "endsWith":
		return o.onStrings(strings.HasSuffix)
	default:
		return o.arithmetic()
	}
}

func (o *operation) operands(e *Evaluation) (left, right any, err error) {
	if left, err = o.left.eval(e); err != nil {
		return nil, nil, err
	}
	right, err = o.right.eval(e)
	return left, right, err
}

func (o *operation) and(e *Evaluation) (any, error) {
	if ok, err := o.left.boolean(e, o.operator); err != nil || !ok {
		return false, err
	}
	return boxed(o.right.boolean(e, o.operator))
}

func (o *operation) or(e *Evaluation) (any, error) {
	if ok, err := o.left.boolean(e, o.operator); err != nil || ok {
		return ok, err
	}
	return boxed(o.right.boolean(e, o.operator))
}

func boxed(ok bool, err error) (any, error) { return ok, err }

// coalesce compiles ??. To its left a path is nil if anything on it is absent.
func (c *compiler) coalesce(n *ast.BinaryNode, fallback func(ast.Node) (code, error)) (code, error) {
	left, err := c.lenient(n.Left)
	if err != nil {
		return code{}, err
	}
	right, err := fallback(n.Right)
	if err != nil {
		return code{}, err
	}
	return code{at: c.tree.Span(n), eval: func(e *Evaluation) (any, error) {
		v, err := left.eval(e)
		if err != nil || v != nil {
			return v, err
		}
		return right.eval(e)
	}}, nil
}

// lenient compiles what stands to the left of ??, into the branches whose value
// it can be.
func (c *compiler) lenient(node ast.Node) (code, error) {
	switch n := node.(type) {
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		c.nodes++
		return c.path(node, true)
	case *ast.ConditionalNode:
		c.nodes++
		return c.conditional(n, c.lenient)
	case *ast.BinaryNode:
		if n.Operator == "??" {
			c.nodes++
			return c.coalesce(n, c.lenient)
		}
	}
	return c.compile(node)
}
