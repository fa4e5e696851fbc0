package expression

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func (c *compiler) literal(node ast.Node) (code, error) {
	at := c.tree.Span(node)
	switch n := node.(type) {
	case *ast.NilNode:
		return constant(at, nil), nil
	case *ast.BoolNode:
		return constant(at, n.Value), nil
	case *ast.IntegerNode:
		return constant(at, int64(n.Value)), nil
	case *ast.FloatNode:
		return constant(at, n.Value), nil
	case *ast.StringNode:
		return constant(at, n.Value), nil
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.MapNode:
		return c.mapping(n)
	case *ast.SequenceNode:
		return code{}, c.tree.Span(n.Nodes[1]).Errorf("only one value can follow").
			WithHint("; stands only between let x = 1 and what uses x")
	default:
		return code{}, at.Errorf("this is not supported in expressions")
	}
}

func constant(at syntax.Span, v any) code {
	return code{at: at, constant: true, value: v, eval: func(*Evaluation) (any, error) { return v, nil }}
}

// all compiles several nodes in order.
func (c *compiler) all(nodes []ast.Node) (codes []code, constants bool, err error) {
	codes = make([]code, len(nodes))
	constants = true
	for i, node := range nodes {
		if codes[i], err = c.compile(node); err != nil {
			return nil, false, err
		}
		constants = constants && codes[i].constant
	}
	return codes, constants, nil
}

func (c *compiler) array(n *ast.ArrayNode) (code, error) {
	at := c.tree.Span(n)
	elements, constants, err := c.all(n.Nodes)
	if err != nil {
		return code{}, err
	}
	build := func(e *Evaluation) (any, error) {
		if err := e.Budget.List(len(elements)); err != nil {
			return nil, at.Locate(err)
		}
		list := make([]any, len(elements))
		for i := range elements {
			element, err := elements[i].eval(e)
			if err != nil {
				return nil, err
			}
			list[i] = element
		}
		return list, nil
	}
	return fold(code{eval: build, at: at}, constants)
}

// entry is a key and a value of a map literal.
type entry struct{ key, value code }

func (c *compiler) mapping(n *ast.MapNode) (code, error) {
	at := c.tree.Span(n)
	entries, constants, err := c.entries(n)
	if err != nil {
		return code{}, err
	}
	build := func(e *Evaluation) (any, error) {
		if err := e.Budget.Map(len(entries)); err != nil {
			return nil, at.Locate(err)
		}
		m := make(map[string]any, len(entries))
		for i := range entries {
			key, err := entries[i].key.eval(e)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				return nil, entries[i].key.wants("a map key", value.String, key)
			}
			if m[name], err = entries[i].value.eval(e); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return fold(code{eval: build, at: at}, constants)
}

func (c *compiler) entries(n *ast.MapNode) (entries []entry, constants bool, err error) {
	entries = make([]entry, len(n.Pairs))
	seen := make(map[string]bool, len(n.Pairs))
	constants = true
	for i, pair := range n.Pairs {
		p, ok := pair.(*ast.PairNode)
		if !ok {
			return nil, false, c.tree.Span(pair).Errorf("this is not supported in expressions")
		}
		if entries[i].key, err = c.compile(p.Key); err != nil {
			return nil, false, err
		}
		key := entries[i].key
		if name, ok := key.value.(string); ok {
			if seen[name] {
				return nil, false, key.at.Errorf("the key %q is already there", name)
			}
			seen[name] = true
		}
		if entries[i].value, err = c.compile(p.Value); err != nil {
			return nil, false, err
		}
		constants = constants && key.constant && entries[i].value.constant
	}
	return entries, constants, nil
}

// fold builds a list or map of constants once. Sharing it is safe since values
// are never changed.
func fold(built code, constants bool) (code, error) {
	if !constants {
		return built, nil
	}
	v, err := built.eval(&Evaluation{Budget: NewBudget(0)})
	if err != nil {
		return code{}, err
	}
	return constant(built.at, v), nil
}
