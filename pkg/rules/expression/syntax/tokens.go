package syntax

import (
	"strings"

	"github.com/expr-lang/expr/parser/lexer"
)

// checkTokens refuses what expr would read but this language does not have, and
// what would only fail with an obscure message.
func (s *source) checkTokens() error {
	for i, t := range s.tokens {
		var err *Error
		switch {
		case t.is(lexer.Bytes):
			err = t.at.Errorf("there are no byte strings").WithHint("write the text without b")
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
	return t.at.Errorf("a number cannot start with 0").
		WithHint("write %s, or 0o%s for an octal number", strings.TrimLeft(t.Value[:len(t.Value)-1], "0")+t.Value[len(t.Value)-1:], t.Value[1:])
}

func (s *source) checkIdentifier(i int) *Error {
	t := s.tokens[i]
	if !strings.Contains(t.Value, "$") {
		return nil
	}
	switch {
	case t.Value == "$" && i+1 < len(s.tokens) && s.tokens[i+1].is(lexer.Bracket, "{"):
		return t.at.Errorf("${ } belongs into templates; this is an expression already").
			WithHint("leave ${ and } out")
	case t.Value == "$":
		return t.at.Errorf("there is no $").WithHint("write object, as in object.spec")
	case t.Value == "$env":
		return t.at.Errorf("there is no $env").WithHint("write the names themselves, as in object.metadata.name")
	default:
		return t.at.Errorf("a name cannot contain $").WithHint(`write x["a$b"] for such a field`)
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
		return t.at.Errorf("& is no operator").WithHint("write && for and")
	case "::":
		return t.at.Errorf(":: is no operator").WithHint("write the function's name alone")
	case "|":
		if i+2 < len(s.tokens) && s.tokens[i+1].is(lexer.Identifier) && s.tokens[i+2].is(lexer.Bracket, "(") {
			return nil
		}
		return t.at.Errorf("| must lead to a function call").
			WithHint("write || for or, and list | len() to pass a value on")
	default:
		return nil
	}
}
