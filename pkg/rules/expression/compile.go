package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// evaluator computes a node of the tree.
type evaluator func(e *Evaluation) (any, error)

// code is a compiled node.
type code struct {
	eval evaluator
	at   syntax.Span
	// text is how messages call the value: a path as it was written, or "".
	text string
	// constant says that the value is known already.
	constant bool
	value    any
}

// Limits on what is compiled, beside those on what is read.
const (
	maxPredicates = 4
	maxPattern    = 256
)

// local is a variable of let.
type local struct {
	name string
	slot int
}

// compiler turns a tree into closures. Variables, predicate elements and
// arguments have fixed places on the stack, so that evaluating allocates
// nothing for them.
type compiler struct {
	tree       *syntax.Tree
	scope      *Scope
	used       []string
	locals     []local
	predicates []predicate
	// next is the first free place, most the largest it ever was.
	next, most int
	nodes      int
	// tracing has paths and names tell what they read; clauses counts conditions.
	tracing bool
	clauses int
}

// reserve returns the first of n places; release gives back all from there.
func (c *compiler) reserve(n int) (first int) {
	first = c.next
	c.next += n
	c.most = max(c.most, c.next)
	return first
}

func (c *compiler) release(first int) { c.next = first }

// compile counts nodes although the parser did, because a tree can share parts:
// a < b < c holds b twice.
func (c *compiler) compile(node ast.Node) (code, error) {
	if c.nodes++; c.nodes > syntax.MaxNodes {
		return code{}, c.tree.TooLarge()
	}
	switch n := node.(type) {
	case *ast.IdentifierNode:
		root, err := c.identifier(n)
		return c.traced(root), err
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		return c.path(node, false)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.BuiltinNode:
		return c.call(n.Name, c.tree.Span(n), n.Arguments)
	case *ast.CallNode:
		return c.callNode(n)
	case *ast.ConditionalNode:
		return c.conditional(n, c.compile)
	case *ast.VariableDeclaratorNode:
		return c.let(n, c.compile)
	default:
		return c.literal(node)
	}
}

// identifier compiles a variable or a name of the scope.
func (c *compiler) identifier(n *ast.IdentifierNode) (code, error) {
	at, name := c.tree.Span(n), n.Value
	for _, l := range slices.Backward(c.locals) {
		if l.name == name {
			slot := l.slot
			return code{at: at, text: name, eval: func(e *Evaluation) (any, error) {
				return e.stack[e.base+slot], nil
			}}, nil
		}
	}
	slot, found := c.scope.Slot(name)
	if !found {
		return code{}, c.unknown(at, name)
	}
	if !slices.Contains(c.used, name) {
		c.used = append(c.used, name)
	}
	return code{at: at, text: name, eval: func(e *Evaluation) (any, error) {
		v, err := e.Names.Value(slot)
		if err != nil {
			return nil, at.Errorf("%s has no value: %v", name, err).Because(err)
		}
		return v, nil
	}}, nil
}

// let compiles a variable and, with body, the expression that uses it.
func (c *compiler) let(n *ast.VariableDeclaratorNode, body func(ast.Node) (code, error)) (code, error) {
	if err := c.checkLocal(n.Name, c.tree.Span(n)); err != nil {
		return code{}, err
	}
	v, err := c.compile(n.Value)
	if err != nil {
		return code{}, err
	}
	slot := c.reserve(1)
	c.locals = append(c.locals, local{n.Name, slot})
	inner, err := body(n.Expr)
	c.locals = c.locals[:len(c.locals)-1]
	c.release(slot)
	if err != nil {
		return code{}, err
	}
	return code{at: inner.at, text: inner.text, eval: func(e *Evaluation) (any, error) {
		result, err := v.eval(e)
		if err != nil {
			return nil, err
		}
		e.stack[e.base+slot] = result
		return inner.eval(e)
	}}, nil
}

// checkLocal refuses to hide a name, because the reader would take one for the
// other.
func (c *compiler) checkLocal(name string, at syntax.Span) error {
	if why := Reserved(name); why != "" {
		return at.Errorf("%q is reserved: %s", name, why).WithHint("choose another name")
	}
	if c.visible(name) {
		return at.Errorf("%q is already defined", name).WithHint("choose another name")
	}
	return nil
}

// conditional compiles a condition whose branches are compiled by branch.
func (c *compiler) conditional(n *ast.ConditionalNode, branch func(ast.Node) (code, error)) (code, error) {
	condition, err := c.compile(n.Cond)
	if err != nil {
		return code{}, err
	}
	if n.Exp1 == n.Cond {
		return code{}, condition.at.Errorf("?: needs a value between ? and :").
			WithHint("write x ?? y for a default where x is nil, or default(x, y) where it is empty")
	}
	yes, err := branch(n.Exp1)
	if err != nil {
		return code{}, err
	}
	no, err := branch(n.Exp2)
	if err != nil {
		return code{}, err
	}
	return code{at: condition.at, eval: chosen(condition, yes, no)}, nil
}

// chosen evaluates a condition, and then one of two branches.
func chosen(condition, yes, no code) evaluator {
	return func(e *Evaluation) (any, error) {
		ok, err := condition.boolean(e, "a condition")
		if err != nil {
			return nil, err
		}
		if ok {
			return yes.eval(e)
		}
		return no.eval(e)
	}
}
