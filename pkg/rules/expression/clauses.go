package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Clauses lists the conditions that && and || join at the top of an expression,
// inside parentheses too, in the order written. An expression without either is
// one clause. Holds and Reads are not set.
func (p *Program) Clauses() []Clause { return p.clauses(p.tree.Node, len(p.tree.Text)) }

// clauses takes node apart, which ends before the token at that offset.
func (p *Program) clauses(node ast.Node, end int) []Clause {
	if n, ok := node.(*ast.VariableDeclaratorNode); ok {
		return p.clauses(n.Expr, end)
	}
	c := compiler{tree: p.tree}
	if n, _, ok := c.joined(node); ok {
		return append(p.clauses(n.Left, p.tree.Span(n).Offset), p.clauses(n.Right, end)...)
	}
	at := p.tree.Clause(node, end)
	return []Clause{{Source: p.tree.Text[at.Offset:at.End()], Offset: at.Offset}}
}

// Judge evaluates a condition and returns those of its [Program.Clauses] whose value
// was asked for, in order and without Reads. The one that failed is left out, and
// comes with the error. Judge compiles anew and is not for the hot path.
func (p *Program) Judge(e *Evaluation) ([]Clause, error) {
	c := &compiler{tree: p.tree, scope: p.scope}
	root, err := c.judged(p.tree.Node, len(p.tree.Text))
	if err != nil {
		return nil, err
	}
	judging := &Program{scope: p.scope, names: c.used, tree: p.tree, root: root, variables: c.most, nodes: c.nodes}
	outer := e.trace
	e.trace = &trace{}
	defer func() { e.trace = outer }()
	_, err = judging.EvalBool(e)
	clauses := e.trace.clauses
	if err != nil && len(clauses) > 0 {
		clauses = clauses[:len(clauses)-1]
	}
	return clauses, err
}

// judged compiles node so that each of its clauses tells its value.
func (c *compiler) judged(node ast.Node, end int) (code, error) {
	if n, ok := node.(*ast.VariableDeclaratorNode); ok {
		return c.let(n, func(inner ast.Node) (code, error) { return c.judged(inner, end) })
	}
	n, either, ok := c.joined(node)
	if !ok {
		return c.clause(node, end)
	}
	left, err := c.judged(n.Left, c.tree.Span(n).Offset)
	if err != nil {
		return code{}, err
	}
	right, err := c.judged(n.Right, end)
	if err != nil {
		return code{}, err
	}
	o := &operation{operator: n.Operator, left: left, right: right, at: c.tree.Span(n)}
	if either {
		return code{at: o.at, eval: o.or}, nil
	}
	return code{at: o.at, eval: o.and}, nil
}

// joined tells whether a node is && or ||. The parser makes && of a < b < c, which
// is one clause.
func (c *compiler) joined(node ast.Node) (n *ast.BinaryNode, either, ok bool) {
	if n, ok = node.(*ast.BinaryNode); !ok {
		return nil, false, false
	}
	text := c.tree.Excerpt(c.tree.Span(n))
	either = text == "||" || text == "or"
	return n, either, either || slices.Contains([]string{"&&", "and"}, text)
}
