package syntax

import (
	"cmp"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Tree is an expression that was read. It is read only, and safe for concurrent
// use.
type Tree struct {
	Text   string
	Node   ast.Node
	source *source
}

// Parse reads an expression. What is wrong with it is an [*Error].
func Parse(text string) (*Tree, error) {
	s, err := scan(text)
	if err != nil {
		return nil, err
	}
	node, err := parse(s)
	if err != nil {
		return nil, err
	}
	return &Tree{Text: text, Node: node, source: s}, nil
}

// Whole is the span of all of the text.
func (t *Tree) Whole() Span { return Span{0, len(t.Text)} }

// Span is the token that a node is placed at: a literal or a name itself, the name of
// a function or field, the operator between two operands.
func (t *Tree) Span(node ast.Node) Span { return t.source.span(node.Location()) }

// Excerpt is what is written at a span, cut where that is long.
func (t *Tree) Excerpt(at Span) string { return t.source.textOf(at) }

// WithinKey tells whether a name is more likely part of a key such as app-name or
// example.org/name than an operand.
func (t *Tree) WithinKey(at Span) bool { return t.source.withinKey(at) }

// TooLarge is the error that a tree has too many nodes, for who follows parts that it
// shares each time.
func (t *Tree) TooLarge() *Error { return tooLarge(t.Whole()) }

// NoMethod refuses x.f(y), where f is at the span, in the words of what the user
// probably meant.
func (t *Tree) NoMethod(at Span) *Error { return t.source.method(at) }

// Spine lists the accesses of a path from the last to the first, as MemberNode or
// SliceNode, and what the first is on. It looks through the ends of chains: ?. ends
// the whole path, also before [ ].
func Spine(node ast.Node) (accesses []ast.Node, root ast.Node) {
	for {
		switch n := node.(type) {
		case *ast.ChainNode:
			node = n.Node
		case *ast.MemberNode:
			accesses = append(accesses, n)
			node = n.Node
		case *ast.SliceNode:
			accesses = append(accesses, n)
			node = n.Node
		default:
			return accesses, node
		}
	}
}

// Path is the span of a path, from its root to the end of its last access.
func (t *Tree) Path(root, last Span) Span {
	end := t.source.tokens[t.source.tokenAt(last.Offset)]
	if end.is(lexer.Bracket) {
		end = t.source.tokens[end.match]
	}
	return Span{root.Offset, end.at.End() - root.Offset}
}

// CheckBinary refuses operators beside one another of which the grammar makes
// something that hardly anybody means.
func (t *Tree) CheckBinary(n *ast.BinaryNode) error {
	return cmp.Or(t.checkNegation(n), t.checkCoalesce(n))
}

// checkNegation catches not a > b, which reads (not a) > b and never makes sense.
func (t *Tree) checkNegation(n *ast.BinaryNode) error {
	left, ok := n.Left.(*ast.UnaryNode)
	if !ok || left.Operator != "!" && left.Operator != "not" {
		return nil
	}
	switch n.Operator {
	case "<", "<=", ">", ">=", "in", "matches", "contains", "startsWith", "endsWith":
		return t.Span(left).Errorf("%s binds tighter than %s", left.Operator, n.Operator).
			WithHint("write %s (a %s b)", left.Operator, n.Operator)
	default:
		return nil
	}
}

// checkCoalesce catches a == b ?? c, which reads a == (b ?? c). With the operators
// the other way round it is expr's parser that refuses them. What joins conditions
// binds so loosely that nobody errs.
func (t *Tree) checkCoalesce(n *ast.BinaryNode) error {
	if n.Operator == "??" {
		return t.checkFallback(n)
	}
	right, ok := n.Right.(*ast.BinaryNode)
	loose := slices.Contains([]string{"&&", "||", "and", "or"}, n.Operator)
	if !ok || right.Operator != "??" || loose || t.inParentheses(right) {
		return nil
	}
	return t.Span(right).Errorf("?? beside another operator needs parentheses").
		WithHint("write (x %s y) ?? z or x %s (y ?? z)", n.Operator, n.Operator)
}

// CheckUnary catches !a ?? b, of which nobody can tell what it means.
func (t *Tree) CheckUnary(n *ast.UnaryNode) error {
	operand, ok := n.Node.(*ast.BinaryNode)
	if !ok || operand.Operator != "??" || t.inParentheses(operand) {
		return nil
	}
	return t.Span(operand).Errorf("?? beside another operator needs parentheses").WithHint("write %s(x ?? y)", n.Operator)
}

// checkFallback refuses a default for what is never nil.
func (t *Tree) checkFallback(n *ast.BinaryNode) error {
	switch left := n.Left.(type) {
	case *ast.UnaryNode:
		return t.Span(n).Errorf("?? has %s to its left, which is never nil", left.Operator).
			WithHint("write %s(x ?? y)", left.Operator)
	case *ast.BinaryNode:
		if left.Operator == "??" {
			return nil
		}
		return t.Span(n).Errorf("?? has %s to its left, which is never nil", left.Operator).
			WithHint("write x %s (y ?? z), or (x ?? z) %s y", left.Operator, left.Operator)
	default:
		return nil
	}
}

// inParentheses tells whether a parenthesis opens right before a node.
func (t *Tree) inParentheses(node ast.Node) bool {
	first := t.source.tokenAt(t.Span(leftmost(node)).Offset)
	return first > 0 && t.source.tokens[first-1].is(lexer.Bracket, "(")
}

// leftmost returns the node that the source of node begins with.
func leftmost(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.BinaryNode:
			node = n.Left
		case *ast.ChainNode:
			node = n.Node
		case *ast.MemberNode:
			node = n.Node
		case *ast.SliceNode:
			node = n.Node
		case *ast.ConditionalNode:
			node = n.Cond
		case *ast.CallNode:
			node = n.Callee
		default:
			return node
		}
	}
}

// Choice finds where the condition and the two branches of a ?: or an if end, each as the
// byte offset of the token behind it, for [Tree.Clause]; the whole ends before the token
// at end. It is not ok where they cannot be told apart.
func (t *Tree) Choice(n *ast.ConditionalNode, end int) (condition, yes, no int, ok bool) {
	s := t.source
	first, second := s.opening(t.start(n.Exp1)), s.opening(t.start(n.Exp2))
	if first < 0 || second < 0 {
		return 0, 0, 0, false
	}
	offset := func(i int) int { return s.tokens[i].at.Offset }
	text := func(i int) string { return s.tokens[i].Value }
	switch {
	case n.Ternary:
		return offset(first), offset(second), end, text(first) == "?" && text(second) == ":"
	case text(first) == "{" && text(second) == "{":
		return offset(first), offset(s.tokens[first].match), offset(s.tokens[second].match), true
	case text(first) == "{" && text(second) == "else":
		return offset(first), offset(s.tokens[first].match), end, true
	default:
		return 0, 0, 0, false
	}
}

// opening is the token before what starts at an offset and the parentheses around that,
// or -1.
func (s *source) opening(offset int) int {
	i := s.tokenAt(offset) - 1
	for i >= 0 && s.opens(i) {
		i--
	}
	return i
}

// Conjunction returns a node that joins two conditions with &&, unless it is the one
// that the parser makes of a < b < c, which is placed at a comparison.
func (t *Tree) Conjunction(node ast.Node) (n *ast.BinaryNode, is bool) {
	n, is = node.(*ast.BinaryNode)
	if !is {
		return nil, false
	}
	text := t.Excerpt(t.Span(n))
	return n, text == "&&" || text == "and"
}

// Negates reports whether a node is the negation of a condition, and not a part of an
// operator such as `not in`.
func (t *Tree) Negates(n *ast.UnaryNode) bool {
	return (n.Operator == "!" || n.Operator == "not") && t.Span(n).Offset < t.start(n.Node)
}

// Clause finds the text of a node that ends before the token at a byte offset: with
// the parentheses that are its own and without those around several clauses.
func (t *Tree) Clause(node ast.Node, end int) Span {
	s := t.source
	first, last := s.tokenAt(t.start(node)), s.tokenAt(end)-1
	for first > 0 && s.opens(first-1) && s.tokens[first-1].match <= last {
		first--
	}
	for last > first && s.tokens[last].is(lexer.Bracket, ")") && s.tokens[last].match < first {
		last--
	}
	from := s.tokens[first].at.Offset
	return Span{from, s.tokens[last].at.End() - from}
}

func (s *source) opens(i int) bool { return s.tokens[i].is(lexer.Bracket, "(") }

// start returns where the text of a node begins, but for parentheses. Nodes are
// placed at their operator or name.
func (t *Tree) start(node ast.Node) int {
	at := t.Span(node).Offset
	switch n := node.(type) {
	case *ast.BinaryNode:
		return t.start(n.Left)
	case *ast.UnaryNode:
		return min(at, t.start(n.Node))
	case *ast.MemberNode:
		return t.start(n.Node)
	case *ast.SliceNode:
		return t.start(n.Node)
	case *ast.ChainNode:
		return t.start(n.Node)
	case *ast.ConditionalNode:
		return t.startOf(n)
	case *ast.VariableDeclaratorNode:
		return t.startOfLet(at)
	case *ast.BuiltinNode:
		return t.startOfCall(at, n.Arguments)
	case *ast.CallNode:
		return t.startOfCall(at, n.Arguments)
	default:
		return at
	}
}

// startOf finds if before the condition that it introduces.
func (t *Tree) startOf(n *ast.ConditionalNode) int {
	at := t.start(n.Cond)
	if i := t.source.tokenAt(at); !n.Ternary && i > 0 {
		return t.source.tokens[i-1].at.Offset
	}
	return at
}

// startOfLet finds let before the name that it introduces.
func (t *Tree) startOfLet(at int) int {
	if i := t.source.tokenAt(at); i > 0 && t.source.tokens[i-1].Value == "let" {
		return t.source.tokens[i-1].at.Offset
	}
	return at
}

// startOfCall looks at the first argument, which a pipe puts before the name.
func (t *Tree) startOfCall(at int, arguments []ast.Node) int {
	if len(arguments) == 0 {
		return at
	}
	return min(at, t.start(arguments[0]))
}

// Literal returns the value that a node writes, where that is no list and no map: nil,
// a boolean, a text, or a number with or without a sign.
func Literal(node ast.Node) (v any, is bool) {
	switch n := node.(type) {
	case *ast.NilNode:
		return nil, true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.IntegerNode:
		return int64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode:
		return n.Value, true
	case *ast.UnaryNode:
		v, is = Literal(n.Node)
		if n.Operator != "-" || !is || value.KindOf(v)&value.Number == 0 {
			return nil, false
		}
		v, err := value.Negate(v)
		return v, err == nil
	default:
		return nil, false
	}
}
