package expression

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// callNode compiles a call that expr does not know as a builtin.
func (c *compiler) callNode(n *ast.CallNode) (code, error) {
	if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
		return c.call(callee.Value, c.tree.Span(callee), n.Arguments)
	}
	return code{}, c.tree.NoMethod(c.tree.Span(n.Callee))
}

// call compiles a call of a function by its name.
func (c *compiler) call(name string, at syntax.Span, nodes []ast.Node) (code, error) {
	f, found := function.Lookup(name)
	if !found {
		return code{}, c.unknownFunction(name, at)
	}
	if name == "desc" {
		return code{}, at.Errorf("desc() only orders a key of sortBy").WithHint("write sortBy(list, [.a, desc(.b)])")
	}
	if err := f.CheckCount(len(nodes)); err != nil {
		return code{}, at.Locate(err)
	}
	if f.Iterates() {
		return c.iteration(f, at, nodes)
	}
	first := c.reserve(len(nodes))
	defer c.release(first)
	tracing := c.tracing
	counts := (name == "len" || name == "type") && isPath(nodes[0])
	c.tracing = tracing && !counts
	arguments, err := c.arguments(f, 0, nodes)
	c.tracing = tracing
	if err != nil {
		return code{}, err
	}
	call := code{at: at, text: name + "(...)", eval: func(e *Evaluation) (any, error) {
		for i := range arguments {
			v, err := arguments[i].argument(e, f, i)
			if err != nil {
				return nil, err
			}
			e.stack[e.base+first+i] = v
		}
		from := e.base + first
		result, err := f.Call(e.Instant, e.Budget, e.stack[from:from+len(arguments)])
		return result, at.Locate(err)
	}}
	if counts { // What is only counted may be there without what is in it, so the count is told, or the kind.
		told := call
		told.text = name + "(" + arguments[0].text + ")"
		call.eval = c.traced(told).eval
	}
	return call, nil
}

// isPath reports whether a node is a path into an object.
func isPath(node ast.Node) bool {
	switch node.(type) {
	case *ast.MemberNode, *ast.ChainNode:
		return true
	default:
		return false
	}
}

// arguments compiles arguments of f from the one at first on. What constants say
// is read now, once, and what is wrong with it is an error already.
func (c *compiler) arguments(f *function.Function, first int, nodes []ast.Node) ([]code, error) {
	codes, _, err := c.all(nodes)
	if err != nil {
		return nil, err
	}
	for i := range codes {
		if !codes[i].constant || !f.Param(first+i).Parses() {
			continue
		}
		v, err := codes[i].read(nil, f, first+i, codes[i].value)
		if err != nil {
			return nil, err
		}
		codes[i].value = v
	}
	return codes, nil
}

// argument evaluates an argument and checks that f takes its kind.
func (v *code) argument(e *Evaluation, f *function.Function, i int) (any, error) {
	if v.constant && f.Param(i).Parses() {
		return v.value, nil
	}
	result, err := v.eval(e)
	if err != nil {
		return nil, err
	}
	return v.read(e.Budget, f, i, result)
}

// read checks the kind of an argument and reads the form that f wants.
func (v *code) read(b *Budget, f *function.Function, i int, argument any) (any, error) {
	p := f.Param(i)
	if value.KindOf(argument)&p.Kinds == 0 {
		return nil, v.wants(f.Name, p.Kinds, argument)
	}
	if !p.Parses() {
		return argument, nil
	}
	parsed, err := p.Parse(b, argument)
	return parsed, v.at.Locate(err)
}

func (c *compiler) unknownFunction(name string, at syntax.Span) *Error {
	if c.visible(name) {
		return at.Errorf("%s is a value and cannot be called", name)
	}
	return syntax.NoFunction(name, at)
}
