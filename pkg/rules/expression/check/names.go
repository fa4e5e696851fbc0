package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// maxDepth limits how many lets are followed from one to the next.
const maxDepth = 50

// letKey identifies the result of a let by the facts that hold where it is used.
type letKey struct {
	slot  int
	facts *typing.Facts
}

// name is a name of the scope. A condition that it stands for counts as written out.
func (c *checker) name(n *expression.Name, k known) result {
	r := gives(c.named(n, k), k)
	key := letKey{n.Slot, k.Facts}
	meaning, done := c.run.lets[key]
	if !done {
		d, is := c.definition(n.Slot)
		if !is {
			return r
		}
		meaning = d.node(d.program.Root(), known{Facts: k.Facts})
		c.run.depth--
		c.run.lets[key] = meaning
	}
	r.yes, r.no, r.zero = meaning.yes, meaning.no, meaning.zero
	r.made = c.ofName(n, meaning, k)
	return r
}

// named is what a name of the scope can be. Roots below zero are only for this run: the check of a definition has its own.
func (c *checker) named(n *expression.Name, k known) typing.Type {
	shared, done := c.run.shared[k.Facts]
	if !done {
		if shared = k.Named(); shared != k.Facts {
			c.run.shared[k.Facts] = shared
		}
	}
	return k.Apply(n.Slot, c.names.Type(n.Slot, shared))
}

// definition returns a checker for the expression of a let. The caller decreases the depth when it is done.
func (c *checker) definition(slot int) (*checker, bool) {
	p := c.names.Definition(slot)
	if p == nil || c.run.depth == maxDepth {
		return nil, false
	}
	c.run.depth++
	return &checker{program: p, names: c.names, silent: true, run: c.run}, true
}

// variable finds the variable that a node names.
func (c *checker) variable(n *expression.Variable) *variable {
	i := slices.IndexFunc(c.variables, func(v variable) bool { return v.let == n.Let })
	return &c.variables[i]
}

// let adds a variable, and checks the expression that uses it with body.
func (c *checker) let(n *expression.Let, k known, body func(expression.Node, known) result) result {
	outer, around := c.variables, *c
	around.silent = true
	v := variable{let: n, root: c.newRoot(), value: c.node(n.Value, k), around: &around}
	c.variables = append(slices.Clip(outer), v)
	defer func() { c.variables = outer }()
	return body(n.Body, v.value.after())
}

// variableOf is what a variable gives, also where more is known than where it was defined.
func (c *checker) variableOf(n *expression.Variable, k known) result {
	v := c.variable(n)
	r := v.value
	if k != r.after() {
		r = v.around.node(v.let.Value, k)
	}
	if r.made != nil && c.asked(n, k) {
		r.made = nil
	}
	r.of = k.Apply(v.root, r.of)
	return r
}

func (c *checker) literal(n *expression.Literal, k known) result {
	return gives(typing.Constant(n.Value), k).decided()
}

func (c *checker) list(n *expression.List, k known) result {
	var items typing.Type
	out := &made{}
	for i, element := range n.Items {
		r := c.node(element, k)
		items, k = typing.Union(items, r.of), r.after()
		out.entries = append(out.entries, entry{i, c.branch(element, r)})
	}
	r := gives(typing.List(items), k)
	r.made = out
	return r
}

func (c *checker) mapping(n *expression.Map, k known) result {
	fields := map[string]typing.Type{}
	var others []typing.Type
	out := &made{}
	for _, pair := range n.Entries {
		key, constant := expression.TextOf(pair.Key)
		if !constant {
			r := c.node(pair.Key, k)
			c.wants(pair.Key, r, "a map key", value.String)
			k = r.after()
		}
		r := c.node(pair.Value, k)
		k = r.after()
		if constant {
			fields[key] = r.of
			out.entries = append(out.entries, entry{key, c.branch(pair.Value, r)})
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

func (c *checker) conditional(n *expression.Conditional, k known) result {
	condition := c.boolean(n.Condition, c.node(n.Condition, k), "a condition")
	yes := c.node(n.Yes, condition.yes)
	no := c.node(n.No, condition.no)
	of := typing.Union(yes.of, no.of)
	switch {
	case condition.no.never && !condition.yes.never:
		of = yes.of
	case condition.yes.never && !condition.no.never:
		of = no.of
	}
	r := result{of: of, yes: yes.yes.or(no.yes), no: yes.no.or(no.no)}
	return r.chosen(slices.Concat(c.branches(n.Yes, yes, condition.yes), c.branches(n.No, no, condition.no))...)
}

func (c *checker) coalesce(n *expression.Binary, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, k)
	r := left.where(c.present(n.Left, left.of))
	r.zero = 0
	r.yes, r.no = r.yes.or(right.yes), r.no.or(right.no)
	r = r.chosen(c.defaulted(c.branches(n.Left, left, k), left.of, n.Right, c.branches(n.Right, right, k))...)
	if !left.of.CanBeNil() {
		// A schema may promise a field that its controller sets later. A default allows for that.
		r.of = typing.Union(left.of, right.of.NonNil())
		return r
	}
	r.of = typing.Union(left.of.NonNil(), right.of)
	return r
}
