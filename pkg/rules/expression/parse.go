package expression

import (
	"errors"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// parse returns the syntax tree of a source. Its errors are those of expr's
// parser in words that say what to write.
func parse(s *source) (ast.Node, error) {
	text := s.knownText()
	tree, err := parser.ParseWithConfig(text, &conf.Config{MaxNodes: maxNodes})
	if err == nil {
		if text != s.text {
			ast.Walk(&tree.Node, renaming{s})
		}
		return tree.Node, nil
	}
	failure := &file.Error{Message: err.Error()}
	errors.As(err, &failure)
	return nil, s.parseError(failure)
}

// The parser reads a predicate only in functions that it knows. This one of ours
// has one too, and so is parsed under the name of another, of the same length and
// with the same parameters.
const (
	ourPredicate   = "groups"
	knownPredicate = "filter"
)

// knownText is the source with names that the parser knows.
func (s *source) knownText() string {
	var text []byte
	for i, t := range s.tokens {
		called := i+1 < len(s.tokens) && s.tokens[i+1].is(lexer.Bracket, "(")
		method := i > 0 && s.tokens[i-1].is(lexer.Operator, ".", "?.")
		if !t.is(lexer.Identifier, ourPredicate) || !called || method {
			continue
		}
		if text == nil {
			text = []byte(s.text)
		}
		copy(text[t.at.offset:], knownPredicate)
	}
	if text == nil {
		return s.text
	}
	return string(text)
}

// renaming gives calls the names that they have in the source.
type renaming struct{ source *source }

func (r renaming) Visit(node *ast.Node) {
	call, ok := (*node).(*ast.BuiltinNode)
	if ok && call.Name == knownPredicate {
		call.Name = r.source.textOf(r.source.span(call.Location()))
	}
}

func (s *source) parseError(failure *file.Error) error {
	at := s.span(failure.Location)
	switch message := failure.Message; {
	case strings.Contains(message, "maximum allowed nodes"):
		return tooLarge(span{0, len(s.text)})
	case strings.Contains(message, "coalesce expressions"):
		return at.errorf("?? beside another operator needs parentheses").
			hint("write (x ?? y) %s z or x ?? (y %s z)", s.textOf(at), s.textOf(at))
	case strings.HasPrefix(message, "invalid"), strings.Contains(message, "literal is too large"):
		return s.numberError(at)
	case strings.HasPrefix(message, "expected at least"):
		return s.missingArguments(at)
	case strings.HasPrefix(message, "wrap predicate"):
		return at.errorf("a predicate with ; needs braces").hint("write filter(list, {let x = .a; x > 1})")
	case strings.HasPrefix(message, "a map key must be"):
		return s.mapKeyError(at)
	case strings.HasPrefix(message, "expected name"):
		// The parser has moved on from the token that it means.
		at = s.tokens[max(0, s.tokenAt(at.offset)-1)].at
		return at.errorf("a field name is missing after the dot").hint(`write .name or ["any text"]`)
	default:
		return s.unexpected(at, failure.Message)
	}
}

func tooLarge(at span) *Error {
	return at.errorf("the expression has more than %d parts", maxNodes).hint("split it with let")
}

func (s *source) textOf(at span) string {
	return value.Excerpt(s.text[at.offset:at.end()])
}

// numberError finds the literal before the place where the parser noticed it.
func (s *source) numberError(at span) error {
	i := s.tokenAt(at.offset)
	for i > 0 && (i == len(s.tokens) || !s.tokens[i].is(lexer.Number) || s.tokens[i].at.offset >= at.offset) {
		i--
	}
	t := s.tokens[i]
	err := t.at.errorf("%s does not fit a 64-bit number", value.Excerpt(t.Value))
	if t.Value == "9223372036854775808" && i > 0 && s.tokens[i-1].is(lexer.Operator, "-") {
		return err.hint("write -9223372036854775807 - 1")
	}
	return err
}

// unexpected words the error about a token that cannot follow the one before it.
func (s *source) unexpected(at span, message string) error {
	i := s.tokenAt(at.offset)
	ended := strings.HasPrefix(message, "unexpected token EOF") || strings.HasPrefix(message, "unexpected end")
	if ended || i == len(s.tokens) {
		return s.endsEarly()
	}
	if err := s.pitfall(i); err != nil {
		return err
	}
	t := s.tokens[i]
	switch {
	case s.behindComma(i):
		return s.superfluous(i)
	case s.startsOperand(i):
		return t.at.errorf("a value is missing before %s", s.textOf(t.at))
	case t.is(lexer.Operator), t.is(lexer.Bracket):
		return t.at.errorf("%s cannot stand here", s.textOf(t.at))
	case t.is(lexer.Identifier, "AND", "OR", "NOT", "IN"):
		return t.at.errorf("%s is no operator", t.Value).hint("write %s", strings.ToLower(t.Value))
	default:
		return t.at.errorf("an operator is missing between %s and %s", s.textOf(s.tokens[i-1].at), s.textOf(t.at))
	}
}

func (s *source) endsEarly() error {
	last := s.tokens[len(s.tokens)-1]
	err := span{last.at.end(), 0}.errorf("the expression ends too early, after %s", s.textOf(last.at))
	if slices.ContainsFunc(s.tokens, func(t token) bool { return t.is(lexer.Operator, "if") }) {
		return err.hint("if needs both branches: if a > 1 { x } else { y }")
	}
	return err
}

// checkTokens refuses what expr would read but this language does not have, and
// what would only fail with an obscure message.
func (s *source) checkTokens() error {
	for i, t := range s.tokens {
		var err *Error
		switch {
		case t.is(lexer.Bytes):
			err = t.at.errorf("there are no byte strings").hint("write the text without b")
		case t.is(lexer.Number):
			err = checkNumber(t)
		case t.is(lexer.Identifier):
			err = s.checkIdentifier(i)
		case t.is(lexer.Operator):
			err = s.checkOperator(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkNumber(t token) *Error {
	if len(t.Value) < 2 || t.Value[0] != '0' || t.Value[1] < '0' || t.Value[1] > '9' {
		return nil
	}
	return t.at.errorf("a number cannot start with 0").
		hint("write %s, or 0o%s for an octal number", strings.TrimLeft(t.Value[:len(t.Value)-1], "0")+t.Value[len(t.Value)-1:], t.Value[1:])
}

func (s *source) checkIdentifier(i int) *Error {
	t := s.tokens[i]
	if !strings.Contains(t.Value, "$") {
		return nil
	}
	switch {
	case t.Value == "$" && i+1 < len(s.tokens) && s.tokens[i+1].is(lexer.Bracket, "{"):
		return t.at.errorf("${ } belongs into templates; this is an expression already").
			hint("leave ${ and } out")
	case t.Value == "$":
		return t.at.errorf("there is no $").hint("write object, as in object.spec")
	case t.Value == "$env":
		return t.at.errorf("there is no $env").hint("write the names themselves, as in object.metadata.name")
	default:
		return t.at.errorf("a name cannot contain $").hint(`write x["a$b"] for such a field`)
	}
}

func (s *source) checkOperator(i int) *Error {
	t := s.tokens[i]
	switch t.Value {
	case "=":
		if i >= 2 && s.tokens[i-2].is(lexer.Operator, "let") {
			return nil
		}
		return s.equalsSign(i)
	case ">":
		return s.greaterSign(i)
	case "&":
		return t.at.errorf("& is no operator").hint("write && for and")
	case "::":
		return t.at.errorf(":: is no operator").hint("write the function's name alone")
	case "|":
		if i+2 < len(s.tokens) && s.tokens[i+1].is(lexer.Identifier) && s.tokens[i+2].is(lexer.Bracket, "(") {
			return nil
		}
		return t.at.errorf("| must lead to a function call").
			hint("write || for or, and list | len() to pass a value on")
	default:
		return nil
	}
}
