package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
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
	traced, err := compile(p.text, p.scope, true)
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

func (t *trace) close(source string, at span, holds bool) {
	t.clauses = append(t.clauses, Clause{Source: source, Offset: at.offset, Holds: holds, Reads: t.pending})
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
	return c.clauses(node, len(c.source.tokens))
}

// clauses compiles node, which ends before the token with that index.
func (c *compiler) clauses(node ast.Node, end int) (code, error) {
	n, ok := node.(*ast.BinaryNode)
	if !ok || !c.isConjunction(n) {
		return c.clause(node, end)
	}
	left, err := c.clauses(n.Left, c.source.tokenAt(c.span(n).offset))
	if err != nil {
		return code{}, err
	}
	right, err := c.clauses(n.Right, end)
	if err != nil {
		return code{}, err
	}
	o := &operation{operator: n.Operator, left: left, right: right, at: c.span(n)}
	return code{at: o.at, eval: o.and}, nil
}

// isConjunction tells && from the one that the parser makes of a < b < c, which
// is placed at a comparison.
func (c *compiler) isConjunction(n *ast.BinaryNode) bool {
	text := c.source.textOf(c.span(n))
	return text == "&&" || text == "and"
}

func (c *compiler) clause(node ast.Node, end int) (code, error) {
	compiled, err := c.compile(node)
	if err != nil {
		return code{}, err
	}
	at := c.source.clauseSpan(c.source.tokenAt(c.leftmost(node)), end)
	text := c.source.text[at.offset:at.end()]
	inner := compiled.eval
	compiled.eval = func(e *Evaluation) (any, error) {
		v, err := inner(e)
		holds, _ := v.(bool)
		e.trace.close(text, at, holds && err == nil)
		return v, err
	}
	return compiled, nil
}

// clauseSpan finds the text of a clause between its first token and the operator
// that ends it: with the parentheses that are its own and without those around
// several clauses.
func (s *source) clauseSpan(first, end int) span {
	last := end - 1
	for first > 0 && s.opens(first-1) && s.tokens[first-1].match <= last {
		first--
	}
	for last > first && s.tokens[last].is(lexer.Bracket, ")") && s.tokens[last].match < first {
		last--
	}
	from := s.tokens[first].at.offset
	return span{from, s.tokens[last].at.end() - from}
}

func (s *source) opens(i int) bool { return s.tokens[i].is(lexer.Bracket, "(") }

// leftmost returns where the text of a node begins, but for parentheses. Nodes are
// placed at their operator or name.
func (c *compiler) leftmost(node ast.Node) int {
	at := c.span(node).offset
	switch n := node.(type) {
	case *ast.BinaryNode:
		return c.leftmost(n.Left)
	case *ast.UnaryNode:
		return min(at, c.leftmost(n.Node))
	case *ast.MemberNode:
		return c.leftmost(n.Node)
	case *ast.SliceNode:
		return c.leftmost(n.Node)
	case *ast.ChainNode:
		return c.leftmost(n.Node)
	case *ast.ConditionalNode:
		return c.leftmostOf(n)
	case *ast.BuiltinNode:
		return c.leftmostCall(at, n.Arguments)
	case *ast.CallNode:
		return c.leftmostCall(at, n.Arguments)
	default:
		return at
	}
}

// leftmostOf finds if before the condition that it introduces.
func (c *compiler) leftmostOf(n *ast.ConditionalNode) int {
	at := c.leftmost(n.Cond)
	if i := c.source.tokenAt(at); !n.Ternary && i > 0 {
		return c.source.tokens[i-1].at.offset
	}
	return at
}

// leftmostCall looks at the first argument, which a pipe puts before the name.
func (c *compiler) leftmostCall(at int, arguments []ast.Node) int {
	if len(arguments) == 0 {
		return at
	}
	return min(at, c.leftmost(arguments[0]))
}
