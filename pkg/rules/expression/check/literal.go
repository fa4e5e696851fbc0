package check

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// literal checks what is written as a value.
func (c *checker) literal(node ast.Node, k known) result {
	switch n := node.(type) {
	case *ast.BoolNode:
		r := gives(typing.Constant(n.Value), k)
		r.yes.never, r.no.never = !n.Value || k.never, n.Value || k.never
		return r
	case *ast.ArrayNode:
		return c.array(n, k)
	case *ast.MapNode:
		return c.mapping(n, k)
	}
	if v, literal := syntax.Literal(node); literal {
		return gives(typing.Constant(v), k)
	}
	return gives(typing.Unknown(), k)
}

// literalType is the type of a number with a sign, or else t.
func (c *checker) literalType(node ast.Node, t typing.Type) typing.Type {
	if v, literal := syntax.Literal(node); literal {
		return typing.Constant(v)
	}
	return t
}

func (c *checker) array(n *ast.ArrayNode, k known) result {
	var items typing.Type
	out := &made{}
	for i, element := range n.Nodes {
		r := c.node(element, k)
		items, k = typing.Union(items, r.of), r.after()
		out.entries = append(out.entries, entry{i, c.branch(element, r)})
	}
	r := gives(typing.List(items), k)
	r.made = out
	return r
}

func (c *checker) mapping(n *ast.MapNode, k known) result {
	fields := map[string]typing.Type{}
	var others []typing.Type
	out := &made{}
	for _, one := range n.Pairs {
		pair, _ := one.(*ast.PairNode)
		key, constant := pair.Key.(*ast.StringNode)
		if !constant {
			r := c.node(pair.Key, k)
			c.wants(pair.Key, r, "a map key", value.String)
			k = r.after()
		}
		r := c.node(pair.Value, k)
		k = r.after()
		if constant {
			fields[key.Value] = r.of
			out.entries = append(out.entries, entry{key.Value, c.branch(pair.Value, r)})
		} else {
			others = append(others, r.of)
			out.open = true
		}
	}
	for key, field := range fields {
		fields[key] = typing.Union(append(others, field)...) // A key that is computed can be this one.
	}
	r := gives(typing.Map(fields, others...), k)
	r.made = out
	return r
}
