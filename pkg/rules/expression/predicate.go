package expression

import (
	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// predicate is where the innermost # and its companions are on the stack while an
// expression is evaluated for each element of a list.
type predicate struct {
	element, index, accumulator int
	// reduces says that there is an accumulator, readsIndex that #index occurs.
	reduces, readsIndex bool
}

// iterationSize is what running a predicate allocates, in bytes.
const iterationSize = 256

// pointer compiles #, #index and #acc.
func (c *compiler) pointer(n *ast.PointerNode) (code, error) {
	at := c.tree.Span(n)
	if len(c.predicates) == 0 { // The parser has refused it already.
		return code{}, at.Errorf("# means nothing outside of a predicate")
	}
	p := &c.predicates[len(c.predicates)-1]
	var slot int
	switch {
	case n.Name == "":
		slot = p.element
	case n.Name == "index":
		slot, p.readsIndex = p.index, true
	case n.Name == "acc" && p.reduces:
		slot = p.accumulator
	case n.Name == "acc":
		return code{}, at.Errorf("only reduce has #acc").WithHint("let acc = #acc; names an outer one")
	default:
		return code{}, at.Errorf("unknown #%s", n.Name).WithHint("there are #, #index and, in reduce, #acc")
	}
	return code{at: at, text: "#" + n.Name, eval: func(e *Evaluation) (any, error) {
		return e.stack[e.base+slot], nil
	}}, nil
}

// body is a compiled predicate.
type body struct {
	predicate
	code
	// user takes the results, which must be of those kinds.
	user  string
	kinds value.Kind
	// cost is the steps that evaluating it once takes.
	cost       int
	descending []bool
	several    bool
}

// iteration is a compiled call with a predicate, which may be left out.
type iteration struct {
	function *function.Function
	at       syntax.Span
	list     code
	each     *body
	rest     []code
}

func (c *compiler) iteration(f *function.Function, at syntax.Span, nodes []ast.Node) (code, error) {
	it := &iteration{function: f, at: at}
	var err error
	if it.list, err = c.compile(nodes[0]); err != nil {
		return code{}, err
	}
	if len(nodes) > 1 {
		if it.each, err = c.predicate(f, at, nodes[1]); err != nil {
			return code{}, err
		}
		if it.rest, err = c.arguments(f, 2, nodes[2:]); err != nil {
			return code{}, err
		}
	}
	return code{at: at, text: f.Name + "(...)", eval: it.eval}, nil
}

func (it *iteration) eval(e *Evaluation) (any, error) {
	if err := e.Budget.Bytes(iterationSize); err != nil {
		return nil, it.at.Locate(err)
	}
	run := &function.Iteration{Function: it.function.Name, Budget: e.Budget}
	list, err := it.list.argument(e, it.function, 0)
	if err != nil {
		return nil, err
	}
	run.List, _ = list.([]any)
	for i := range it.rest {
		v, err := it.rest[i].argument(e, it.function, 2+i)
		if err != nil {
			return nil, err
		}
		run.Rest = append(run.Rest, v)
	}
	if it.each != nil {
		it.each.prepare(e, run, it.at)
	}
	result, err := it.function.Iterate(run)
	return result, it.at.Locate(err)
}

// prepare hands the predicate to an iteration.
func (b *body) prepare(e *Evaluation, it *function.Iteration, at syntax.Span) {
	it.Descending, it.SeveralKeys = b.descending, b.several
	it.Predicate = func(i int, element, accumulator any) (any, error) {
		if err := e.Budget.Steps(b.cost); err != nil {
			return nil, at.Locate(err)
		}
		e.stack[e.base+b.element] = element
		e.stack[e.base+b.accumulator] = accumulator
		if b.readsIndex {
			e.stack[e.base+b.index] = int64(i) // Boxing allocates.
		}
		result, err := b.eval(e)
		if err != nil {
			return nil, err
		}
		if value.KindOf(result)&b.kinds == 0 {
			return nil, b.wants(b.user, b.kinds, result)
		}
		return result, nil
	}
}

// predicate compiles the expression for each element.
func (c *compiler) predicate(f *function.Function, at syntax.Span, node ast.Node) (*body, error) {
	if len(c.predicates) == maxPredicates {
		return nil, at.Errorf("predicates nest deeper than %d levels", maxPredicates).
			WithHint("move the inner list into a let")
	}
	if n, ok := node.(*ast.PredicateNode); ok {
		node = n.Node
	}
	first := c.reserve(3)
	defer c.release(first)
	b := &body{user: f.Name, kinds: f.Param(1).Kinds, predicate: predicate{
		element: first, index: first + 1, accumulator: first + 2, reduces: f.Name == "reduce",
	}}
	before := c.nodes
	c.predicates = append(c.predicates, b.predicate)
	var err error
	b.code, err = c.sortKeys(f, b, node)
	b.readsIndex = c.predicates[len(c.predicates)-1].readsIndex
	c.predicates = c.predicates[:len(c.predicates)-1]
	if err != nil {
		return nil, err
	}
	b.cost = 1 + c.nodes - before
	return b, nil
}

// sortKeys compiles a predicate; that of sortBy may be a list of keys, and desc()
// around a key reverses its order.
func (c *compiler) sortKeys(f *function.Function, b *body, node ast.Node) (code, error) {
	if f.Name != "sortBy" {
		return c.compile(node)
	}
	nodes := []ast.Node{node}
	array, several := node.(*ast.ArrayNode)
	if several {
		nodes = array.Nodes
	}
	if len(nodes) == 0 {
		return code{}, c.tree.Span(node).Errorf("sortBy needs a key")
	}
	keys := make([]ast.Node, len(nodes))
	b.descending, b.several = make([]bool, len(nodes)), several
	for i, key := range nodes {
		keys[i] = key
		if call, ok := key.(*ast.CallNode); ok && isDesc(call) {
			keys[i], b.descending[i] = call.Arguments[0], true
		}
	}
	if !several {
		return c.compile(keys[0])
	}
	list := &ast.ArrayNode{Nodes: keys}
	list.SetLocation(array.Location())
	return c.compile(list)
}

func isDesc(n *ast.CallNode) bool {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	return ok && callee.Value == "desc" && len(n.Arguments) == 1
}
