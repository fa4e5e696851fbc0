package syntax

import "github.com/expr-lang/expr/parser/lexer"

// level counts what nests between two brackets.
type level struct {
	open int // The index of the bracket, -1 outside of all.
	// chained operators bind to the right, so that each makes the parser recurse.
	chained int
	// prefixes before the next operand do so too.
	prefixes int
}

// checkNesting pairs the brackets and limits how deep the parser will recurse.
// It must not recurse itself.
func (s *source) checkNesting() error {
	levels, depth := []level{{open: -1}}, 0
	for i := range s.tokens {
		t := &s.tokens[i]
		current := &levels[len(levels)-1]
		before := current.chained + current.prefixes
		switch {
		case t.is(lexer.Bracket, "(", "[", "{"):
			levels = append(levels, level{open: i})
			depth++
		case t.is(lexer.Bracket):
			if err := s.pair(current.open, i); err != nil {
				return err
			}
			depth -= 1 + before
			levels = levels[:len(levels)-1]
			current = &levels[len(levels)-1]
			depth -= current.prefixes
			current.prefixes = 0
		default:
			s.count(current, i)
			depth += current.chained + current.prefixes - before
		}
		if depth > MaxNesting {
			return t.at.Errorf("the expression nests deeper than %d levels", MaxNesting).WithHint("split it with let")
		}
	}
	if open := levels[len(levels)-1].open; open >= 0 {
		return s.tokens[open].at.Errorf("the %s that starts here is not closed", s.tokens[open].Value)
	}
	return nil
}

// pair records that the brackets at two indexes belong together.
func (s *source) pair(open, closing int) error {
	t := &s.tokens[closing]
	if open < 0 {
		return t.at.Errorf("the %s closes nothing", t.Value)
	}
	opening := &s.tokens[open]
	if want := map[string]string{"(": ")", "[": "]", "{": "}"}[opening.Value]; want != t.Value {
		return t.at.Errorf("the %s is closed by a %s", opening.Value, t.Value).
			WithHint("the %s at position %d wants a %s", opening.Value, opening.at.Offset+1, want)
	}
	opening.match, t.match = closing, open
	return nil
}

// count adds token i, which is no bracket, to the level it is on.
func (s *source) count(current *level, i int) {
	t := s.tokens[i]
	switch {
	case t.is(lexer.Operator, ","):
		current.chained, current.prefixes = 0, 0
	case t.is(lexer.Operator, "?", "**", "^", "let", "if", "else"):
		current.chained++
	case t.is(lexer.Operator, "!", "not", "-", "+") && s.startsOperand(i):
		current.prefixes++
	case !t.is(lexer.Operator):
		current.prefixes = 0
	}
}

// startsOperand reports whether an operand begins with token i, rather than ends
// before it.
func (s *source) startsOperand(i int) bool {
	return i == 0 || s.tokens[i-1].is(lexer.Operator) || s.tokens[i-1].is(lexer.Bracket, "(", "[", "{")
}
