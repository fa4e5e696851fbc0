package syntax

import "github.com/expr-lang/expr/ast"

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
