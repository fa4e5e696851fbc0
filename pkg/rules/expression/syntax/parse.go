package syntax

import (
	"cmp"
	"errors"
	"fmt"
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
	tree, err := parser.ParseWithConfig(text, &conf.Config{MaxNodes: MaxNodes})
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
		copy(text[t.at.Offset:], knownPredicate)
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
		return tooLarge(Span{0, len(s.text)})
	case strings.Contains(message, "coalesce expressions"):
		return at.Errorf("?? beside another operator needs parentheses").
			WithHint("write (x ?? y) %s z or x ?? (y %s z)", s.textOf(at), s.textOf(at))
	case strings.HasPrefix(message, "invalid"), strings.Contains(message, "literal is too large"):
		return s.numberError(at)
	case strings.HasPrefix(message, "expected at least"):
		return s.missingArguments(at)
	case strings.HasPrefix(message, "wrap predicate"):
		return at.Errorf("a predicate with ; needs braces").WithHint("write filter(list, {let x = .a; x > 1})")
	case strings.HasPrefix(message, "a map key must be"):
		return s.mapKeyError(at)
	case strings.HasPrefix(message, "expected name"):
		// The parser has moved on from the token that it means.
		at = s.tokens[max(0, s.tokenAt(at.Offset)-1)].at
		return s.missingName(at)
	default:
		return s.unexpected(at, failure.Message)
	}
}

func tooLarge(at Span) *Error {
	return at.Errorf("the expression has more than %d parts", MaxNodes).WithHint("split it with let")
}

func (s *source) textOf(at Span) string {
	return value.Excerpt(s.text[at.Offset:at.End()])
}

// numberError finds the literal before the place where the parser noticed it.
func (s *source) numberError(at Span) error {
	i := s.tokenAt(at.Offset)
	for i > 0 && (i == len(s.tokens) || !s.tokens[i].is(lexer.Number) || s.tokens[i].at.Offset >= at.Offset) {
		i--
	}
	t := s.tokens[i]
	err := t.at.Errorf("%s does not fit a 64-bit number", value.Excerpt(t.Value))
	if t.Value == "9223372036854775808" && i > 0 && s.tokens[i-1].is(lexer.Operator, "-") {
		return err.WithHint("write -9223372036854775807 - 1")
	}
	return err
}

// unexpected words the error about a token that cannot follow the one before it.
func (s *source) unexpected(at Span, message string) error {
	i := s.tokenAt(at.Offset)
	ended := strings.HasPrefix(message, "unexpected token EOF") || strings.HasPrefix(message, "unexpected end")
	if ended || i == len(s.tokens) {
		return s.endsEarly()
	}
	if err := cmp.Or(s.pitfall(i), s.brackets(i), s.percent(i)); err != nil {
		return err
	}
	t := s.tokens[i]
	switch {
	case s.behindComma(i):
		return s.superfluous(i)
	case s.startsOperand(i):
		return t.at.Errorf("a value is missing before %s", s.textOf(t.at))
	case t.is(lexer.Operator), t.is(lexer.Bracket):
		return t.at.Errorf("%s cannot stand here", s.textOf(t.at)).WithHint("%s", s.half())
	case t.is(lexer.Identifier, "AND", "OR", "NOT", "IN"):
		return t.at.Errorf("%s is no operator", t.Value).WithHint("write %s", strings.ToLower(t.Value))
	case t.is(lexer.Identifier):
		return s.misspeltOperator(i)
	default:
		return t.at.Errorf("an operator is missing between %s and %s", s.textOf(s.tokens[i-1].at), s.textOf(t.at))
	}
}

func (s *source) endsEarly() error {
	last := s.tokens[len(s.tokens)-1]
	err := Span{last.at.End(), 0}.Errorf("the expression ends too early, after %s", s.textOf(last.at))
	switch {
	case s.percent(len(s.tokens)) != nil:
		return s.percent(len(s.tokens))
	case s.has("if"):
		return err.WithHint("if needs both branches: if a > 1 { x } else { y }")
	default:
		return err.WithHint("%s", s.half())
	}
}

// Error says what is wrong with an expression or its evaluation, and where.
type Error struct {
	// Offset and Length are the bytes of the source that Message is about. Length is
	// 0 where something is missing at the end of the source.
	Offset, Length int
	Message        string
	// Hint says what to write instead; it may be empty.
	Hint string
	// Code names the kind of the mistake for tools, where whoever found it told it from
	// others; package document lists them.
	Code  string
	cause error
}

// longestText bounds a message, and a hint: both repeat names and values, which are
// as long as their authors like.
const longestText = 800

func bounded(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "..."
}

// Error returns the message and the hint on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns what led to the error, such as an exhausted budget, or nil.
func (e *Error) Unwrap() error { return e.cause }

// WithHint gives e, which it returns, a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = bounded(fmt.Sprintf(format, args...))
	return e
}

// Because gives e, which it returns, what led to it.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Shift moves an error about an expression to where that is in a text.
func Shift(err error, offset int) error {
	if located, ok := errors.AsType[*Error](err); ok {
		return located.Shifted(offset)
	}
	return err
}

// Shifted returns e for a source that starts with offset more bytes.
func (e *Error) Shifted(offset int) *Error {
	moved := *e
	moved.Offset += offset
	return &moved
}

// Span is a piece of the source in bytes.
type Span struct{ Offset, Length int }

// End is the offset behind the span.
func (s Span) End() int { return s.Offset + s.Length }

// Errorf returns an error about the span.
func (s Span) Errorf(format string, args ...any) *Error {
	return &Error{Offset: s.Offset, Length: s.Length, Message: bounded(fmt.Sprintf(format, args...))}
}

// Locate gives err, if there is one, a place. What already has one keeps it.
func (s Span) Locate(err error) error {
	if err == nil {
		return nil
	}
	if _, located := errors.AsType[*Error](err); located {
		return err
	}
	if fault, ok := errors.AsType[*value.Fault](err); ok {
		return &Error{Offset: s.Offset, Length: s.Length, Message: bounded(fault.Message), Hint: bounded(fault.Hint), cause: err}
	}
	return &Error{Offset: s.Offset, Length: s.Length, Message: bounded(err.Error()), cause: err}
}
