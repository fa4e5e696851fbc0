package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// callNode compiles a call that expr does not know as a builtin.
func (c *compiler) callNode(n *ast.CallNode) (code, error) {
	if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
		return c.call(callee.Value, c.span(callee), n.Arguments)
	}
	return code{}, c.method(c.span(n.Callee))
}

// method refuses x.f(y), in the words of what the user probably meant.
func (c *compiler) method(at span) *Error {
	err := at.errorf("values have no methods")
	name := c.source.textOf(at)
	switch name {
	case "contains", "startsWith", "endsWith", "matches":
		return err.hint("write x %s y", name)
	}
	if _, found := function.Lookup(name); found {
		return err.hint("write %s(x)", name)
	}
	if fault := function.Refused(name); fault != nil && fault.Hint != "" {
		return err.hint("%s", fault.Hint)
	}
	return err.hint("call a function with the value as its argument: f(x)")
}

// call compiles a call of a function by its name.
func (c *compiler) call(name string, at span, nodes []ast.Node) (code, error) {
	f, found := function.Lookup(name)
	if !found {
		return code{}, c.unknownFunction(name, at)
	}
	if name == "desc" {
		return code{}, at.errorf("desc() only orders a key of sortBy").hint("write sortBy(list, [.a, desc(.b)])")
	}
	if err := f.CheckCount(len(nodes)); err != nil {
		return code{}, at.locate(err)
	}
	if f.Iterates() {
		return c.iteration(f, at, nodes)
	}
	first := c.reserve(len(nodes))
	defer c.release(first)
	arguments, _, err := c.all(nodes)
	if err != nil {
		return code{}, err
	}
	return code{at: at, text: name + "(...)", eval: func(e *Evaluation) (any, error) {
		for i := range arguments {
			v, err := arguments[i].argument(e, f, i)
			if err != nil {
				return nil, err
			}
			e.stack[e.base+first+i] = v
		}
		from := e.base + first
		result, err := f.Call(e.Budget, e.stack[from:from+len(arguments)])
		return result, at.locate(err)
	}}, nil
}

func (c *compiler) unknownFunction(name string, at span) *Error {
	if fault := function.Refused(name); fault != nil {
		err := at.errorf("%s", fault.Message)
		err.Hint = fault.Hint
		return err
	}
	if slices.Contains(c.visibleNames(), name) {
		return at.errorf("%s is a value and cannot be called", name)
	}
	err := at.errorf("unknown function %q", value.Excerpt(name))
	if other := closest(name, functionNames()); other != "" {
		return err.hint("did you mean %s(...)?", other)
	}
	return err
}
