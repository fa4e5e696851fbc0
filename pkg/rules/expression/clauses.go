package expression

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// form is how a condition is made up.
type form struct {
	number   int // that of the clause
	operator trace.Operator
	source   string
	offset   int
	parts    []form
}

// clause is the form without what became of it.
func (s form) clause() Clause {
	out := Clause{Operator: s.operator, Source: s.source, Offset: s.offset, Verdict: trace.NotAsked}
	for _, part := range s.parts {
		out.Clauses = append(out.Clauses, part.clause())
	}
	return out
}

// Clauses lists the conditions that && and || join at the top of an expression,
// inside parentheses too, in the order written. An expression without either is
// one clause. None was asked for.
func (p *Program) Clauses() []Clause {
	c := &compiler{tree: p.tree, scope: p.scope, tracing: true}
	_, whole, err := c.condition(p.tree.Node, len(p.tree.Text))
	if err != nil {
		return nil // It has been compiled before.
	}
	return whole.clause().Joined()
}

// condition compiles a condition, which ends before the token at that offset, so that
// each of its clauses tells its value.
func (c *compiler) condition(node ast.Node, end int) (code, form, error) {
	switch n := node.(type) {
	case *ast.VariableDeclaratorNode:
		var inner form
		v, err := c.let(n, func(body ast.Node) (out code, err error) {
			out, inner, err = c.condition(body, end)
			return out, err
		})
		return v, inner, err
	case *ast.BinaryNode:
		if operator, joins := c.joins(n); joins {
			return c.joint(n, operator, end)
		}
	case *ast.UnaryNode:
		if c.tree.Negates(n) {
			return c.opposite(n, end)
		}
	case *ast.ConditionalNode:
		if condition, yes, no, ok := c.tree.Choice(n, end); ok {
			return c.choice(n, end, condition, yes, no)
		}
	}
	v, err := c.compile(node)
	if err != nil {
		return code{}, form{}, err
	}
	s := c.formed("", node, end)
	return c.clause(v, s.number, true), s, nil
}

// formed numbers a clause.
func (c *compiler) formed(operator trace.Operator, node ast.Node, end int, parts ...form) form {
	at := c.tree.Clause(node, end)
	c.clauses++
	return form{
		number: c.clauses - 1, operator: operator, source: c.tree.Text[at.Offset:at.End()], offset: at.Offset, parts: parts,
	}
}

// joint is of conditions that && or || joins. Those of one operator are told side by side.
func (c *compiler) joint(n *ast.BinaryNode, operator trace.Operator, end int) (code, form, error) {
	left, first, err := c.condition(n.Left, c.tree.Span(n).Offset)
	if err != nil {
		return code{}, form{}, err
	}
	right, second, err := c.condition(n.Right, end)
	if err != nil {
		return code{}, form{}, err
	}
	o := &operation{operator: n.Operator, left: left, right: right, at: c.tree.Span(n)}
	eval := o.and
	if operator == trace.Or {
		eval = o.or
	}
	var parts []form
	for _, part := range []form{first, second} {
		if part.operator == operator {
			parts = append(parts, part.parts...)
		} else {
			parts = append(parts, part)
		}
	}
	s := c.formed(operator, n, end, parts...)
	return c.clause(code{at: o.at, eval: eval}, s.number, false), s, nil
}

func (c *compiler) opposite(n *ast.UnaryNode, end int) (code, form, error) {
	operand, inner, err := c.condition(n.Node, end)
	if err != nil {
		return code{}, form{}, err
	}
	s := c.formed(trace.Not, n, end, inner)
	return c.clause(code{at: c.tree.Span(n), eval: negation(operand, n.Operator)}, s.number, false), s, nil
}

// choice is of a condition and two more, one of which is asked for.
func (c *compiler) choice(n *ast.ConditionalNode, end int, ends ...int) (code, form, error) {
	var all [3]code
	var parts []form
	for i, node := range []ast.Node{n.Cond, n.Exp1, n.Exp2} {
		v, part, err := c.condition(node, ends[i])
		if err != nil {
			return code{}, form{}, err
		}
		all[i], parts = v, append(parts, part)
	}
	s := c.formed(trace.Choice, n, end, parts...)
	return c.clause(code{at: all[0].at, eval: chosen(all[0], all[1], all[2])}, s.number, false), s, nil
}

// joins tells whether a node is && or ||. The parser makes && of a < b < c, which
// is one clause.
func (c *compiler) joins(n *ast.BinaryNode) (operator trace.Operator, joins bool) {
	if _, both := c.tree.Conjunction(n); both {
		return trace.And, true
	}
	text := c.tree.Excerpt(c.tree.Span(n))
	return trace.Or, text == "||" || text == "or"
}
