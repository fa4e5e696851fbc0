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
// anything on it is absent. It counts although the parser did, because a tree can share parts: a < b < c holds b twice. Like
// all below, it ends with an error by [value.Must].
func (c *compiler) lower(node ast.Node, lenient bool) Node {
	if c.nodes++; c.nodes > syntax.MaxNodes {
		fail(c.tree.TooLarge())
	}
	at := c.tree.Span(node)
	switch n := node.(type) {
	case *ast.NilNode:
		return c.literal(at, nil)
	case *ast.BoolNode:
		return c.literal(at, n.Value)
	case *ast.IntegerNode:
		return c.literal(at, int64(n.Value))
	case *ast.FloatNode:
		return c.literal(at, n.Value)
	case *ast.StringNode:
		return c.literal(at, n.Value)
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
		fail(c.tree.NoMethod(c.tree.Span(n.Callee)))
	case *ast.ConditionalNode:
		return c.conditional(n, lenient)
	case *ast.VariableDeclaratorNode:
		return c.let(n, lenient)
	case *ast.SequenceNode:
		fail(c.tree.Span(n.Nodes[1]).Errorf("only one value can follow").WithHint("; stands only between let x = 1 and what uses x"))
	}
	fail(at.Errorf("this is not supported in expressions"))
	return nil
}

// fail ends the compilation.
func fail(err *Error) { value.Must(err) }

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

func (c *compiler) list(n *ast.ArrayNode) Node {
	l := &List{Operand: c.operand(c.tree.Span(n), ""), Items: make([]Node, len(n.Nodes))}
	for i, node := range n.Nodes {
		l.Items[i] = c.lower(node, false)
	}
	l.fold(l, l.Items)
	return l
}

func (c *compiler) mapping(n *ast.MapNode) Node {
	m := &Map{Operand: c.operand(c.tree.Span(n), ""), Entries: make([]Entry, len(n.Pairs))}
	seen := make(map[string]bool, len(n.Pairs))
	var parts []Node
	for i, node := range n.Pairs {
		pair, _ := node.(*ast.PairNode)
		key := c.lower(pair.Key, false)
		if name, is := TextOf(key); is {
			if seen[name] {
				fail(key.Written().At.Errorf("the key %q is already there", name))
			}
			seen[name] = true
		}
		m.Entries[i] = Entry{key, c.lower(pair.Value, false)}
		parts = append(parts, key, m.Entries[i].Value)
	}
	m.fold(m, parts)
	return m
}

// fold evaluates a list or a map whose parts are constants.
func (f *folded) fold(n Node, parts []Node) {
	for _, part := range parts {
		if _, constant := Constant(part); !constant {
			return
		}
	}
	f.value, f.constant = n.eval(&Evaluation{Budget: value.NewBudget(0)}), true
}

// name finds what a name means: a variable, or a name of the scope.
func (c *compiler) name(n *ast.IdentifierNode) Node {
	at := c.tree.Span(n)
	for _, let := range slices.Backward(c.lets) {
		if let.Name == n.Value {
			return &Variable{Operand: c.operand(at, n.Value), Let: let}
		}
	}
	slot, found := c.scope.Slot(n.Value)
	if !found {
		fail(c.unknown(at, n.Value))
	}
	if !slices.Contains(c.used, n.Value) {
		c.used = append(c.used, n.Value)
	}
	return &Name{Operand: c.operand(at, n.Value), Name: n.Value, Slot: slot}
}

// let makes a variable, and the expression that uses it. A variable hides nothing, because the reader would take one for
// the other.
func (c *compiler) let(n *ast.VariableDeclaratorNode, lenient bool) Node {
	at := c.tree.Span(n)
	if why := Reserved(n.Name); why != "" {
		fail(at.Errorf("%q is reserved: %s", n.Name, why).WithHint("choose another name"))
	}
	if c.visible(n.Name) {
		fail(at.Errorf("%q is already defined", n.Name).WithHint("choose another name"))
	}
	let := &Let{Name: n.Name, Value: c.lower(n.Value, false), slot: c.reserve(1)}
	c.lets = append(c.lets, let)
	let.Body = c.lower(n.Expr, lenient)
	c.lets = c.lets[:len(c.lets)-1]
	c.release(let.slot)
	body := let.Body.Written()
	let.Operand = c.operand(body.At, body.Text, c.tree.Before(at.Offset), body.Whole)
	return let
}

func (c *compiler) conditional(n *ast.ConditionalNode, lenient bool) Node {
	condition := c.lower(n.Cond, false)
	at, first := condition.Written().At, condition.Written().Whole
	if n.Exp1 == n.Cond {
		fail(at.Errorf("?: needs a value between ? and :").
			WithHint("write x ?? y for a default where x is nil, or default(x, y) where it is empty"))
	}
	yes, no := c.lower(n.Exp1, lenient), c.lower(n.Exp2, lenient)
	if !n.Ternary {
		first = c.tree.Before(first.Offset)
	}
	return &Conditional{c.operand(at, "", first, no.Written().Whole), condition, yes, no}
}

// element makes #, #index and #acc.
func (c *compiler) element(n *ast.PointerNode) Node {
	at := c.tree.Span(n)
	p := c.predicates[len(c.predicates)-1] // The parser refuses # elsewhere.
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
		fail(at.Errorf("only reduce has #acc").WithHint("let acc = #acc; names an outer one"))
	default:
		fail(at.Errorf("unknown #%s", n.Name).WithHint("there are #, #index and, in reduce, #acc"))
	}
	return e
}

// path makes a chain of accesses.
func (c *compiler) path(node ast.Node, lenient bool) Node {
	accesses, root := syntax.Spine(node)
	c.nodes += len(accesses)
	p := &Path{Steps: make([]Step, 0, len(accesses)), Root: c.lower(root, false)}
	switch root := p.Root.(type) {
	case *Name:
		root.begins = true
	case *Variable:
		root.begins = true
	}
	for _, access := range slices.Backward(accesses) {
		s := c.step(access)
		s.Optional = s.Optional || lenient
		p.Steps = append(p.Steps, s)
	}
	for i := range p.Steps {
		p.Steps[i].Owner = p.owner(i)
	}
	c.checkFields(p)
	at := c.tree.Balanced(p.Root.Written().Whole.Offset, c.tree.Span(accesses[0]).End())
	p.Operand = c.operand(at, p.Before(len(p.Steps)))
	return p
}

func (c *compiler) step(access ast.Node) (s Step) {
	s.At = c.tree.Span(access)
	switch n := access.(type) {
	case *ast.MemberNode:
		s.asked, s.Optional = n.Optional, n.Optional
		if key, is := n.Property.(*ast.StringNode); is {
			s.Kind, s.Key, s.At = ByKey, key.Value, c.tree.Span(key)
		} else {
			s.Index = c.lower(n.Property, false)
			s.Kind, s.Key = ByValue, "["+c.indexText(s.Index)+"]"
		}
	case *ast.SliceNode:
		s.Kind, s.Bounds = BySlice, make([]Node, 2)
		for i, bound := range []ast.Node{n.From, n.To} {
			if bound != nil {
				s.Bounds[i] = c.lower(bound, false)
			}
		}
	}
	return s
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
func (c *compiler) checkFields(p *Path) {
	name, ok := p.Root.(*Name)
	first := &p.Steps[0]
	if !ok || first.Kind != ByKey {
		return
	}
	fields, known := c.scope.fields[name.Name]
	if !known || slices.Contains(fields, first.Key) {
		return
	}
	err := first.At.Errorf("%s has no %q", name.Name, value.Excerpt(first.Key))
	if other := document.Suggest(first.Key, fields); other != "" {
		fail(err.WithHint("did you mean %s.%s?", name.Name, other))
	}
	fail(err.WithHint("%s has %s", name.Name, cmp.Or(strings.Join(fields, ", "), "no fields")))
}

func (c *compiler) unary(n *ast.UnaryNode) Node {
	x := c.lower(n.Node, false)
	if operand, is := x.(*Binary); is && operand.Operator == "??" && !operand.parenthesized() {
		fail(operand.At.Errorf("?? beside another operator needs parentheses").WithHint("write %s(x ?? y)", n.Operator))
	}
	u := &Unary{Operand: c.operand(c.tree.Span(n), "", x.Written().Whole), Operator: n.Operator, X: x}
	if v, is := LiteralOf(x); is && n.Operator == "-" && value.KindOf(v)&value.Number != 0 {
		return &Literal{u.Operand, u.eval(&Evaluation{})}
	}
	return u
}

// binary makes an operator with two operands.
func (c *compiler) binary(n *ast.BinaryNode, lenient bool) Node {
	at, defaults := c.tree.Span(n), n.Operator == "??"
	b := &Binary{Operator: n.Operator, row: operators[n.Operator]}
	if b.row == nil {
		fail(at.Errorf("the operator %s is not supported", n.Operator))
	}
	b.Left = c.lower(n.Left, defaults)
	b.Right = c.lower(n.Right, lenient && defaults)
	b.Operand = c.operand(at, "", b.Left.Written().Whole, b.Right.Written().Whole)
	b.Chained = n.Operator == "&&" && c.tree.Excerpt(at) != "&&"
	if n.Operator == "matches" {
		b.pattern, b.cost = patternOf(b.Right)
	}
	b.check()
	return b
}

// check refuses operators beside one another of which the grammar makes something that hardly anybody means.
func (b *Binary) check() {
	if u, is := b.Left.(*Unary); is && u.Negates() && u.Whole.Offset == u.At.Offset {
		switch b.Operator { // not a > b reads (not a) > b, which never makes sense.
		case "<", "<=", ">", ">=", "in", "matches", "contains", "startsWith", "endsWith":
			fail(u.At.Errorf("%s binds tighter than %s", u.Operator, b.Operator).WithHint("write %s (a %s b)", u.Operator, b.Operator))
		}
		u.Compared = b.Operator == "==" || b.Operator == "!="
	}
	if b.Operator == "??" { // A default for what is never nil.
		switch left := b.Left.(type) {
		case *Unary:
			fail(b.At.Errorf("?? has %s to its left, which is never nil", left.Operator).WithHint("write %s(x ?? y)", left.Operator))
		case *Binary:
			if left.Operator != "??" {
				fail(b.At.Errorf("?? has %s to its left, which is never nil", left.Operator).
					WithHint("write x %s (y ?? z), or (x ?? z) %s y", left.Operator, left.Operator))
			}
		}
		return
	}
	for _, operand := range []Node{b.Left, b.Right} {
		if name, _ := Calls(operand); name == "stamp" { // It would fail whenever it is evaluated.
			operand.Written().must(value.ErrStamp)
		}
	}
	// a == b ?? c reads a == (b ?? c). With the operators the other way round it is expr's parser that refuses them. What
	// joins conditions binds so loosely that nobody errs.
	right, is := b.Right.(*Binary)
	loose := slices.Contains([]string{"&&", "||", "and", "or"}, b.Operator)
	if is && right.Operator == "??" && !loose && !right.parenthesized() {
		fail(right.At.Errorf("?? beside another operator needs parentheses").
			WithHint("write (x %s y) ?? z or x %s (y ?? z)", b.Operator, b.Operator))
	}
}

// parenthesized tells whether there are parentheses around it.
func (b *Binary) parenthesized() bool { return b.Whole.Offset < b.Left.Written().Whole.Offset }

// call makes the call of a function by its name.
func (c *compiler) call(name string, at syntax.Span, nodes []ast.Node) Node {
	f, found := function.Lookup(name)
	switch {
	case !found && c.visible(name):
		fail(at.Errorf("%s is a value and cannot be called", name))
	case !found:
		fail(syntax.NoFunction(name, at))
	case name == "desc":
		fail(at.Errorf("desc() only orders a key of sortBy").WithHint("write sortBy(list, [.a, desc(.b)])"))
	}
	value.Must(at.Locate(f.CheckCount(len(nodes))))
	call := &Call{Function: f, Args: make([]Node, len(nodes)), first: c.reserve(len(nodes))}
	for i, node := range nodes {
		if f.Iterates() && i == 1 {
			call.Args[i] = c.predicate(f, at, node)
			continue
		}
		call.Args[i] = c.lower(node, false)
		if v, constant := Constant(call.Args[i]); constant && f.Param(i).Parse != nil { // What it says is read once.
			if call.parsed == nil {
				call.parsed = map[int]any{}
			}
			call.parsed[i] = call.read(nil, i, v)
		}
	}
	c.release(call.first)
	parts := []syntax.Span{c.tree.Next(at)}
	if len(nodes) > 0 {
		parts = append(parts, call.Args[0].Written().Whole) // A pipe puts it before the name.
		if (name == "len" || name == "type") && reaches(call.Args[0]) {
			whole := call.Args[0].Written().Whole
			call.counts = name + "(" + c.tree.Text[whole.Offset:whole.End()] + ")"
		}
	}
	call.Operand = c.operand(at, name+"(...)", parts...)
	return call
}

// reaches reports whether a node gives what is at a path, or a default for it.
func reaches(n Node) bool {
	switch n := n.(type) {
	case *Path:
		return n.Steps[len(n.Steps)-1].Kind != BySlice
	case *Binary:
		return n.Operator == "??" && reaches(n.Left)
	default:
		return false
	}
}

// predicate makes the expression for each element of a list. That of sortBy may be a list of keys, and desc() around a key
// reverses its order.
func (c *compiler) predicate(f *function.Function, at syntax.Span, node ast.Node) Node {
	if len(c.predicates) == maxPredicates {
		fail(at.Errorf("predicates nest deeper than %d levels", maxPredicates).WithHint("move the inner list into a let"))
	}
	if n, ok := node.(*ast.PredicateNode); ok {
		node = n.Node
	}
	p := &Predicate{function: f, element: c.reserve(3)}
	before := c.nodes
	c.predicates = append(c.predicates, p)
	if f.Name == "sortBy" {
		node = p.keys(node)
		if array, is := node.(*ast.ArrayNode); is && len(array.Nodes) == 0 {
			fail(c.tree.Span(node).Errorf("sortBy needs a key"))
		}
	}
	p.Body = c.lower(node, false)
	c.predicates = c.predicates[:len(c.predicates)-1]
	c.release(p.element)
	p.Operand, p.cost = *p.Body.Written(), 1+c.nodes-before
	return p
}

// keys takes desc() away from the keys of sortBy, which may follow variables that they use.
func (p *Predicate) keys(node ast.Node) ast.Node {
	if let, ok := node.(*ast.VariableDeclaratorNode); ok {
		copied := *let
		copied.Expr = p.keys(let.Expr)
		return &copied
	}
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
