package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// maxPredicates is how deep predicates nest.
const maxPredicates = 4

// compiler makes nodes of expr's tree. Variables, predicate elements and arguments get fixed places on the stack, so that
// evaluating allocates nothing for them.
type compiler struct {
	tree       *syntax.Tree
	scope      *Scope
	used       []string
	lets       []*Let
	predicates []*Predicate
	// next is the first free place of the stack, most the largest it ever was.
	next, most int
	nodes      int
}

// reserve returns the first of n places; release gives back all from there.
func (c *compiler) reserve(n int) (first int) {
	first = c.next
	c.next += n
	c.most = max(c.most, c.next)
	return first
}

func (c *compiler) release(first int) { c.next = first }

// lower makes the node of a node of the tree. What stands on the left of ?? is lenient: a path there is nil as soon as
// anything on it is absent. It counts although the parser did, because a tree can share parts: a < b < c holds b twice.
func (c *compiler) lower(node ast.Node, lenient bool) (Node, error) {
	if c.nodes++; c.nodes > syntax.MaxNodes {
		return nil, c.tree.TooLarge()
	}
	at := c.tree.Span(node)
	switch n := node.(type) {
	case *ast.NilNode:
		return c.literal(at, nil), nil
	case *ast.BoolNode:
		return c.literal(at, n.Value), nil
	case *ast.IntegerNode:
		return c.literal(at, int64(n.Value)), nil
	case *ast.FloatNode:
		return c.literal(at, n.Value), nil
	case *ast.StringNode:
		return c.literal(at, n.Value), nil
	case *ast.ArrayNode:
		return c.list(n)
	case *ast.MapNode:
		return c.mapping(n)
	case *ast.IdentifierNode:
		return c.name(n)
	case *ast.PointerNode:
		return c.element(n)
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		return c.path(node, lenient)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n, lenient)
	case *ast.BuiltinNode:
		return c.call(n.Name, at, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(callee.Value, c.tree.Span(callee), n.Arguments)
		}
		return nil, c.tree.NoMethod(c.tree.Span(n.Callee))
	case *ast.ConditionalNode:
		return c.conditional(n, lenient)
	case *ast.VariableDeclaratorNode:
		return c.let(n, lenient)
	case *ast.SequenceNode:
		return nil, c.tree.Span(n.Nodes[1]).Errorf("only one value can follow").
			WithHint("; stands only between let x = 1 and what uses x")
	default:
		return nil, at.Errorf("this is not supported in expressions")
	}
}

// all makes several nodes, in order.
func (c *compiler) all(nodes []ast.Node) ([]Node, error) {
	out := make([]Node, len(nodes))
	for i, node := range nodes {
		var err error
		if out[i], err = c.lower(node, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// operand returns what is written of a node: messages place it at a token, and its text is that and its parts, with the brackets
// of which it has one, and the parentheses around it.
func (c *compiler) operand(at syntax.Span, text string, parts ...syntax.Span) Operand {
	from, to := at.Offset, at.End()
	for _, part := range parts {
		from, to = min(from, part.Offset), max(to, part.End())
	}
	return Operand{At: at, Text: text, Whole: c.tree.Parenthesized(c.tree.Balanced(from, to))}
}

func (c *compiler) literal(at syntax.Span, v any) *Literal {
	return &Literal{c.operand(at, ""), v}
}

func (c *compiler) list(n *ast.ArrayNode) (Node, error) {
	items, err := c.all(n.Nodes)
	if err != nil {
		return nil, err
	}
	l := &List{Operand: c.operand(c.tree.Span(n), ""), Items: items}
	return l, l.fold(l, items)
}

// fold evaluates a list or a map whose parts are constants.
func (f *folded) fold(n Node, parts []Node) (err error) {
	for _, part := range parts {
		if _, constant := Constant(part); !constant {
			return nil
		}
	}
	f.value, err = n.eval(&Evaluation{Budget: NewBudget(0)})
	f.constant = true
	return err
}

func (c *compiler) mapping(n *ast.MapNode) (Node, error) {
	m := &Map{Operand: c.operand(c.tree.Span(n), ""), Entries: make([]Entry, len(n.Pairs))}
	seen := make(map[string]bool, len(n.Pairs))
	var parts []Node
	for i, node := range n.Pairs {
		pair, ok := node.(*ast.PairNode)
		if !ok {
			return nil, c.tree.Span(node).Errorf("this is not supported in expressions")
		}
		key, err := c.lower(pair.Key, false)
		if err != nil {
			return nil, err
		}
		if name, is := TextOf(key); is {
			if seen[name] {
				return nil, key.Written().At.Errorf("the key %q is already there", name)
			}
			seen[name] = true
		}
		v, err := c.lower(pair.Value, false)
		if err != nil {
			return nil, err
		}
		m.Entries[i] = Entry{key, v}
		parts = append(parts, key, v)
	}
	return m, m.fold(m, parts)
}

// name finds what a name means: a variable, or a name of the scope.
func (c *compiler) name(n *ast.IdentifierNode) (Node, error) {
	at := c.tree.Span(n)
	for _, let := range slices.Backward(c.lets) {
		if let.Name == n.Value {
			return &Variable{Operand: c.operand(at, n.Value), Let: let}, nil
		}
	}
	slot, found := c.scope.Slot(n.Value)
	if !found {
		return nil, c.unknown(at, n.Value)
	}
	if !slices.Contains(c.used, n.Value) {
		c.used = append(c.used, n.Value)
	}
	return &Name{Operand: c.operand(at, n.Value), Name: n.Value, Slot: slot}, nil
}

// let makes a variable, and the expression that uses it. A variable hides nothing, because the reader would take one for
// the other.
func (c *compiler) let(n *ast.VariableDeclaratorNode, lenient bool) (Node, error) {
	at := c.tree.Span(n)
	if why := Reserved(n.Name); why != "" {
		return nil, at.Errorf("%q is reserved: %s", n.Name, why).WithHint("choose another name")
	}
	if c.visible(n.Name) {
		return nil, at.Errorf("%q is already defined", n.Name).WithHint("choose another name")
	}
	v, err := c.lower(n.Value, false)
	if err != nil {
		return nil, err
	}
	let := &Let{Name: n.Name, Value: v, slot: c.reserve(1)}
	c.lets = append(c.lets, let)
	let.Body, err = c.lower(n.Expr, lenient)
	c.lets = c.lets[:len(c.lets)-1]
	c.release(let.slot)
	if err != nil {
		return nil, err
	}
	body := let.Body.Written()
	let.Operand = c.operand(body.At, body.Text, c.tree.Before(at.Offset), body.Whole)
	return let, nil
}

func (c *compiler) conditional(n *ast.ConditionalNode, lenient bool) (Node, error) {
	condition, err := c.lower(n.Cond, false)
	if err != nil {
		return nil, err
	}
	at := condition.Written().At
	if n.Exp1 == n.Cond {
		return nil, at.Errorf("?: needs a value between ? and :").
			WithHint("write x ?? y for a default where x is nil, or default(x, y) where it is empty")
	}
	yes, err := c.lower(n.Exp1, lenient)
	if err != nil {
		return nil, err
	}
	no, err := c.lower(n.Exp2, lenient)
	if err != nil {
		return nil, err
	}
	first := condition.Written().Whole
	if !n.Ternary {
		first = c.tree.Before(first.Offset)
	}
	return &Conditional{c.operand(at, "", first, no.Written().Whole), condition, yes, no}, nil
}

// element makes #, #index and #acc.
func (c *compiler) element(n *ast.PointerNode) (Node, error) {
	at := c.tree.Span(n)
	if len(c.predicates) == 0 { // The parser has refused it already.
		return nil, at.Errorf("# means nothing outside of a predicate")
	}
	p := c.predicates[len(c.predicates)-1]
	e := &Element{Operand: c.operand(at, "#"+n.Name), Name: n.Name}
	if n.Name != "" { // The name is a token of its own.
		e.Operand = c.operand(at, e.Text, c.tree.Next(at))
	}
	switch reduces := p.function.Name == "reduce"; {
	case n.Name == "":
		e.slot = p.element
	case n.Name == "index":
		e.slot, p.readsIndex = p.element+1, true
	case n.Name == "acc" && reduces:
		e.slot = p.element + 2
	case n.Name == "acc":
		return nil, at.Errorf("only reduce has #acc").WithHint("let acc = #acc; names an outer one")
	default:
		return nil, at.Errorf("unknown #%s", n.Name).WithHint("there are #, #index and, in reduce, #acc")
	}
	return e, nil
}

// path makes a chain of accesses.
func (c *compiler) path(node ast.Node, lenient bool) (Node, error) {
	accesses, root := syntax.Spine(node)
	c.nodes += len(accesses)
	p := &Path{Steps: make([]Step, 0, len(accesses))}
	var err error
	if name, is := root.(*ast.IdentifierNode); is {
		p.Root, err = c.name(name)
	} else {
		p.Root, err = c.lower(root, false)
	}
	if err != nil {
		return nil, err
	}
	switch root := p.Root.(type) {
	case *Name:
		root.begins = true
	case *Variable:
		root.begins = true
	}
	for _, access := range slices.Backward(accesses) {
		s, err := c.step(access)
		if err != nil {
			return nil, err
		}
		s.Optional = s.Optional || lenient
		p.Steps = append(p.Steps, s)
	}
	for i := range p.Steps {
		p.Steps[i].Owner = p.owner(i)
	}
	if err := c.checkFields(p); err != nil {
		return nil, err
	}
	at := c.tree.Balanced(p.Root.Written().Whole.Offset, c.tree.Span(accesses[0]).End())
	p.Operand = c.operand(at, p.Before(len(p.Steps)))
	return p, nil
}

func (c *compiler) step(access ast.Node) (s Step, err error) {
	s.At = c.tree.Span(access)
	switch n := access.(type) {
	case *ast.MemberNode:
		s.asked, s.Optional = n.Optional, n.Optional
		if key, is := n.Property.(*ast.StringNode); is {
			s.Kind, s.Key, s.At = ByKey, key.Value, c.tree.Span(key)
		} else if s.Index, err = c.lower(n.Property, false); err == nil {
			s.Kind, s.Key = ByValue, "["+c.indexText(s.Index)+"]"
		}
	case *ast.SliceNode:
		s.Kind, s.Bounds = BySlice, &[2]Node{}
		for i, bound := range []ast.Node{n.From, n.To} {
			if bound != nil && err == nil {
				s.Bounds[i], err = c.lower(bound, false)
			}
		}
	}
	return s, err
}

// indexText is how messages write an index.
func (c *compiler) indexText(index Node) string {
	at := index.Written()
	if _, literal := index.(*Literal); literal {
		return c.tree.Text[at.Whole.Offset:at.Whole.End()]
	}
	if at.Text != "" {
		return at.Text
	}
	return "..."
}

// checkFields refuses a field that a name surely lacks, such as a misspelt
// parameter.
func (c *compiler) checkFields(p *Path) error {
	name, ok := p.Root.(*Name)
	first := &p.Steps[0]
	if !ok || first.Kind != ByKey {
		return nil
	}
	fields, known := c.scope.fields[name.Name]
	if !known || slices.Contains(fields, first.Key) {
		return nil
	}
	err := first.At.Errorf("%s has no %q", name.Name, value.Excerpt(first.Key))
	if other := document.Suggest(first.Key, fields); other != "" {
		return err.WithHint("did you mean %s.%s?", name.Name, other)
	}
	if len(fields) == 0 {
		return err.WithHint("the set has no %s", name.Name)
	}
	return err.WithHint("%s has %s", name.Name, strings.Join(fields, ", "))
}

func (c *compiler) unary(n *ast.UnaryNode) (Node, error) {
	at := c.tree.Span(n)
	x, err := c.lower(n.Node, false)
	if err != nil {
		return nil, err
	}
	if operand, is := x.(*Binary); is && operand.Operator == "??" && !operand.parenthesized() {
		return nil, operand.At.Errorf("?? beside another operator needs parentheses").WithHint("write %s(x ?? y)", n.Operator)
	}
	u := &Unary{c.operand(at, "", x.Written().Whole), n.Operator, x}
	if v, is := LiteralOf(x); is && n.Operator == "-" && value.KindOf(v)&value.Number != 0 {
		v, err := value.Negate(v)
		return &Literal{u.Operand, v}, at.Locate(err)
	}
	return u, nil
}

// binary makes an operator with two operands.
func (c *compiler) binary(n *ast.BinaryNode, lenient bool) (Node, error) {
	at, defaults := c.tree.Span(n), n.Operator == "??"
	b := &Binary{Operator: n.Operator, row: operators[n.Operator]}
	if b.row == nil {
		return nil, at.Errorf("the operator %s is not supported", n.Operator)
	}
	var err error
	if b.Left, err = c.lower(n.Left, defaults); err != nil {
		return nil, err
	}
	if b.Right, err = c.lower(n.Right, lenient && defaults); err != nil {
		return nil, err
	}
	b.Operand = c.operand(at, "", b.Left.Written().Whole, b.Right.Written().Whole)
	b.Chained = n.Operator == "&&" && c.tree.Excerpt(at) != "&&"
	if n.Operator == "matches" {
		b.pattern, b.cost, err = patternOf(b.Right)
	}
	return b, cmp.Or(err, b.check())
}

// check refuses operators beside one another of which the grammar makes something that hardly anybody means.
func (b *Binary) check() error {
	if u, is := b.Left.(*Unary); is && u.Negates() && u.Whole.Offset == u.At.Offset {
		switch b.Operator { // not a > b reads (not a) > b, which never makes sense.
		case "<", "<=", ">", ">=", "in", "matches", "contains", "startsWith", "endsWith":
			return u.At.Errorf("%s binds tighter than %s", u.Operator, b.Operator).WithHint("write %s (a %s b)", u.Operator, b.Operator)
		}
	}
	if b.Operator == "??" {
		return b.checkLeft()
	}
	for _, operand := range []Node{b.Left, b.Right} {
		if name, _ := Calls(operand); name == "stamp" { // It would fail whenever it is evaluated.
			return operand.Written().At.Errorf("%s", value.ErrStamp.Message)
		}
	}
	// a == b ?? c reads a == (b ?? c). With the operators the other way round it is expr's parser that refuses them. What
	// joins conditions binds so loosely that nobody errs.
	right, is := b.Right.(*Binary)
	loose := slices.Contains([]string{"&&", "||", "and", "or"}, b.Operator)
	if !is || right.Operator != "??" || loose || right.parenthesized() {
		return nil
	}
	return right.At.Errorf("?? beside another operator needs parentheses").
		WithHint("write (x %s y) ?? z or x %s (y ?? z)", b.Operator, b.Operator)
}

// checkLeft refuses a default for what is never nil.
func (b *Binary) checkLeft() error {
	switch left := b.Left.(type) {
	case *Unary:
		return b.At.Errorf("?? has %s to its left, which is never nil", left.Operator).WithHint("write %s(x ?? y)", left.Operator)
	case *Binary:
		if left.Operator == "??" {
			return nil
		}
		return b.At.Errorf("?? has %s to its left, which is never nil", left.Operator).
			WithHint("write x %s (y ?? z), or (x ?? z) %s y", left.Operator, left.Operator)
	default:
		return nil
	}
}

// parenthesized tells whether there are parentheses around it.
func (b *Binary) parenthesized() bool { return b.Whole.Offset < b.Left.Written().Whole.Offset }

// call makes the call of a function by its name.
func (c *compiler) call(name string, at syntax.Span, nodes []ast.Node) (Node, error) {
	f, found := function.Lookup(name)
	switch {
	case !found && c.visible(name):
		return nil, at.Errorf("%s is a value and cannot be called", name)
	case !found:
		return nil, syntax.NoFunction(name, at)
	case name == "desc":
		return nil, at.Errorf("desc() only orders a key of sortBy").WithHint("write sortBy(list, [.a, desc(.b)])")
	}
	if err := f.CheckCount(len(nodes)); err != nil {
		return nil, at.Locate(err)
	}
	call := &Call{Function: f, Args: make([]Node, len(nodes)), first: c.reserve(len(nodes))}
	defer c.release(call.first)
	for i, node := range nodes {
		var err error
		if f.Iterates() && i == 1 {
			call.Args[i], err = c.predicate(f, at, node)
		} else if call.Args[i], err = c.lower(node, false); err == nil {
			err = call.parse(i)
		}
		if err != nil {
			return nil, err
		}
	}
	parts := []syntax.Span{c.tree.Next(at)}
	if len(nodes) > 0 {
		parts = append(parts, call.Args[0].Written().Whole) // A pipe puts it before the name.
		p, is := call.Args[0].(*Path)
		call.counts = is && (name == "len" || name == "type") && p.Steps[len(p.Steps)-1].Kind != BySlice
	}
	call.Operand = c.operand(at, name+"(...)", parts...)
	return call, nil
}

// parse reads once what a constant argument says. What is wrong with it is an error already.
func (c *Call) parse(i int) error {
	v, constant := Constant(c.Args[i])
	if !constant || c.Function.Param(i).Parse == nil {
		return nil
	}
	parsed, err := c.read(nil, i, v)
	if err != nil {
		return err
	}
	if c.parsed == nil {
		c.parsed = map[int]any{}
	}
	c.parsed[i] = parsed
	return nil
}

// predicate makes the expression for each element of a list. That of sortBy may be a list of keys, and desc() around a key
// reverses its order.
func (c *compiler) predicate(f *function.Function, at syntax.Span, node ast.Node) (Node, error) {
	if len(c.predicates) == maxPredicates {
		return nil, at.Errorf("predicates nest deeper than %d levels", maxPredicates).
			WithHint("move the inner list into a let")
	}
	if n, ok := node.(*ast.PredicateNode); ok {
		node = n.Node
	}
	p := &Predicate{function: f, element: c.reserve(3)}
	defer c.release(p.element)
	before := c.nodes
	c.predicates = append(c.predicates, p)
	defer func() { c.predicates = c.predicates[:len(c.predicates)-1] }()
	if f.Name == "sortBy" {
		node = p.keys(node)
		if array, is := node.(*ast.ArrayNode); is && len(array.Nodes) == 0 {
			return nil, c.tree.Span(node).Errorf("sortBy needs a key")
		}
	}
	var err error
	if p.Body, err = c.lower(node, false); err != nil {
		return nil, err
	}
	p.Operand, p.cost = *p.Body.Written(), 1+c.nodes-before
	return p, nil
}

// keys takes desc() away from the keys of sortBy.
func (p *Predicate) keys(node ast.Node) ast.Node {
	keys := []ast.Node{node}
	array, several := node.(*ast.ArrayNode)
	if several {
		keys = slices.Clone(array.Nodes)
	}
	p.Several, p.Descending = several, make([]bool, len(keys))
	for i, key := range keys {
		call, ok := key.(*ast.CallNode)
		if !ok || len(call.Arguments) != 1 {
			continue
		}
		if callee, ok := call.Callee.(*ast.IdentifierNode); ok && callee.Value == "desc" {
			keys[i], p.Descending[i] = call.Arguments[0], true
		}
	}
	if !several {
		return keys[0]
	}
	list := &ast.ArrayNode{Nodes: keys}
	list.SetLocation(array.Location())
	return list
}
