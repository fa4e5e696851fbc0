package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// Clause is a condition among those that && joins at the top of an expression.
type Clause struct {
	// Source is the text of the clause, at Offset in that of the program.
	Source string
	Offset int
	Holds  bool
	// Reads is the values it read, in order and each path once.
	Reads []Read
}

// Read is a path as it was written, and its value.
type Read struct {
	Path  string
	Value any
}

// Explain evaluates a condition and tells how its value came about: the clauses
// that were evaluated, the last of which decided. Where that one failed, it comes
// with the error. An expression without && has one clause. Explain compiles anew
// and is not for the hot path.
func (p *Program) Explain(e *Evaluation) ([]Clause, error) {
	traced, err := compile(p.tree, p.scope, true)
	if err != nil {
		return nil, err
	}
	outer := e.trace
	e.trace = &trace{}
	defer func() { e.trace = outer }()
	_, err = traced.EvalBool(e)
	return e.trace.clauses, err
}

// trace collects what a program compiled for tracing does.
type trace struct {
	clauses []Clause
	// pending is the values read since the last clause was over.
	pending []Read
}

func (t *trace) read(path string, v any) {
	if !slices.ContainsFunc(t.pending, func(r Read) bool { return r.Path == path }) {
		t.pending = append(t.pending, Read{Path: path, Value: v})
	}
}

func (t *trace) close(source string, at syntax.Span, holds bool) {
	t.clauses = append(t.clauses, Clause{Source: source, Offset: at.Offset, Holds: holds, Reads: t.pending})
	t.pending = nil
}

// traced makes a path or name report its value. Predicates do not: they read the
// same for every element.
func (c *compiler) traced(v code) code {
	if !c.tracing || len(c.predicates) > 0 {
		return v
	}
	eval := v.eval
	v.eval = func(e *Evaluation) (any, error) {
		result, err := eval(e)
		if err == nil {
			e.trace.read(v.text, result)
		}
		return result, err
	}
	return v
}

// top compiles the whole expression. For a trace it takes the clauses apart.
func (c *compiler) top(node ast.Node) (code, error) {
	if !c.tracing {
		return c.compile(node)
	}
	if n, ok := node.(*ast.VariableDeclaratorNode); ok {
		return c.let(n, c.top)
	}
	return c.clauses(node, len(c.tree.Text))
}

// clauses compiles node, which ends before the token at that offset.
func (c *compiler) clauses(node ast.Node, end int) (code, error) {
	n, ok := c.tree.Conjunction(node)
	if !ok {
		return c.clause(node, end)
	}
	left, err := c.clauses(n.Left, c.tree.Span(n).Offset)
	if err != nil {
		return code{}, err
	}
	right, err := c.clauses(n.Right, end)
	if err != nil {
		return code{}, err
	}
	o := &operation{operator: n.Operator, left: left, right: right, at: c.tree.Span(n)}
	return code{at: o.at, eval: o.and}, nil
}

func (c *compiler) clause(node ast.Node, end int) (code, error) {
	compiled, err := c.compile(node)
	if err != nil {
		return code{}, err
	}
	at := c.tree.Clause(node, end)
	text := c.tree.Text[at.Offset:at.End()]
	inner := compiled.eval
	compiled.eval = func(e *Evaluation) (any, error) {
		v, err := inner(e)
		holds, _ := v.(bool)
		e.trace.close(text, at, holds && err == nil)
		return v, err
	}
	return compiled, nil
}
