package check

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func (c *checker) literal(n *expression.Literal, k known) result {
	r := gives(typing.Constant(n.Value), k)
	if holds, is := n.Value.(bool); is {
		r.yes.never, r.no.never = !holds || k.never, holds || k.never
	}
	return r
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
