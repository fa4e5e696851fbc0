package check

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// maxDepth is how many lets are followed that stand for one another.
const maxDepth = 50

// letKey is a let where facts hold.
type letKey struct {
	slot  int
	facts *typing.Facts
}

// name is a variable or a name of the scope. A condition that it stands for counts as
// written out.
func (c *checker) name(n *ast.IdentifierNode, k known) result {
	if v := c.variable(n.Value); v != nil {
		r := c.again(v, k)
		if r.made != nil && c.asked(n, k) {
			r.made = nil
		}
		return r
	}
	r := gives(c.named(n, k), k)
	slot, _ := c.scope.Slot(n.Value)
	key := letKey{slot, k.names}
	meaning, known := c.run.lets[key]
	if !known {
		d, is := c.definition(slot)
		if !is {
			return r
		}
		meaning = d.node(d.tree.Node, k.only())
		c.run.depth--
		c.run.lets[key] = meaning
	}
	r.yes.names, r.yes.never = meaning.yes.names, meaning.yes.never
	r.quantity, r.zero = meaning.quantity, meaning.zero
	r.no.names, r.no.never = meaning.no.names, meaning.no.never
	r.made = c.ofName(n, meaning, k)
	return r
}

// only is what is known of the names of the scope.
func (k known) only() known { return known{names: k.names} }

// named is what a name of the scope can be.
func (c *checker) named(n *ast.IdentifierNode, k known) typing.Type {
	slot, _ := c.scope.Slot(n.Value)
	return k.names.Apply(slot, c.names.Type(slot, k.names))
}

// definition returns a checker for what a let stands for. Whoever is done with it
// takes the depth back.
func (c *checker) definition(slot int) (*checker, bool) {
	p := c.names.Definition(slot)
	if p == nil || c.run.depth == maxDepth {
		return nil, false
	}
	c.run.depth++
	return &checker{tree: p.Tree(), scope: p.Scope(), names: c.names, silent: true, run: c.run}, true
}

func (c *checker) variable(name string) *variable {
	for i := range slices.Backward(c.variables) {
		if c.variables[i].name == name {
			return &c.variables[i]
		}
	}
	return nil
}

// let adds a variable for the expression that uses it.
func (c *checker) let(n *ast.VariableDeclaratorNode, k known) result {
	v := variable{
		name: n.Name, node: n.Value, root: c.newRoot(), before: k,
		variables: len(c.variables), elements: len(c.elements),
	}
	v.value = c.node(n.Value, k)
	c.variables = append(c.variables, v)
	r := c.node(n.Expr, v.value.after())
	c.variables = c.variables[:v.variables]
	return r
}

// again is what a variable gives where more is known than where it was defined.
func (c *checker) again(v *variable, k known) result {
	r := v.value
	if k != r.after() {
		r = c.around(v).node(v.node, k)
	}
	return r.but(k.own.Apply(v.root, r.of))
}

// around is a checker of what is around the definition of a variable.
func (c *checker) around(v *variable) *checker {
	outer := *c
	outer.silent = true
	outer.variables = slices.Clip(c.variables[:v.variables])
	outer.elements = slices.Clip(c.elements[:v.elements])
	return &outer
}
