package syntax

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// lexMistakes are the errors of the lexer by the beginning of what it says, each with the length of what it is about.
var lexMistakes = []struct {
	says          string
	length        int
	message, hint string
}{
	{"literal not terminated", 1, "the string that starts here has no closing quote", `close it on its line; write a line break as \n, and as \\n within double quotes of YAML`},
	{"unclosed comment", 2, "the comment that starts here is not closed", "end it with */"},
	{"invalid char escape", 1, `the string that starts here has an unknown \ escape`, backslash},
	{"unable to unescape", 1, `the string that starts here has an unknown \ escape`, backslash},
}

const backslash = `write \\ for a backslash, or put the text between backticks`

// lexError words an error of the lexer, which points at the end of what is wrong: it starts behind the last token.
func (t *Tree) lexError(err error) *Error {
	start := 0
	if n := len(t.tokens); n > 0 {
		start = t.tokens[n-1].at.End()
	}
	rest := strings.TrimLeft(t.Text[start:], " \t\r\n")
	start = len(t.Text) - len(rest)
	failure := &file.Error{Message: err.Error()}
	errors.As(err, &failure)
	for _, m := range lexMistakes {
		if strings.HasPrefix(failure.Message, m.says) {
			return Span{start, m.length}.Errorf("%s", m.message).WithHint("%s", m.hint)
		}
	}
	if strings.HasPrefix(failure.Message, "bad number syntax") {
		other := func(r rune) bool { return r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		word := strings.FieldsFunc(rest, other)[0]
		return Span{start, len(word)}.Errorf("%q is not a number", value.Excerpt(word)).
			WithHint(`write quantity("5Gi") for a quantity, duration("5m") for a duration`)
	}
	character, size := utf8.DecodeRuneInString(rest)
	failed := Span{start, size}.Errorf("the character %q means nothing here", character)
	switch {
	case strings.ContainsRune("“”‘’„«»", character):
		return failed.WithHint(`write straight quotes, " or '`)
	case character == '~':
		return failed.WithHint(`write x matches "^a+$"`)
	default:
		return failed
	}
}

func (t *Tree) unclosed() *Error {
	err := Span{-2, 2}.Errorf("the ${ that starts here is not closed")
	if strings.Contains(t.Text, "//") {
		return err.WithHint("a // comment hides the rest of its line")
	}
	return err.WithHint("end it with }, or write $${ for a literal ${")
}

// TooLarge is the error that a tree has too many nodes, for who follows parts that it
// shares each time.
func (t *Tree) TooLarge() *Error {
	return t.Whole().Errorf("the expression has more than %d parts", MaxNodes).WithHint("split it with let")
}

// parseError words an error of the parser.
func (t *Tree) parseError(failure *file.Error) *Error {
	at := t.span(failure.Location)
	i := t.tokenAt(at.Offset)
	switch message := failure.Message; {
	case strings.Contains(message, "maximum allowed nodes"):
		return t.TooLarge()
	case strings.Contains(message, "coalesce expressions"):
		return at.Errorf("?? beside another operator needs parentheses").
			WithHint("write (x ?? y) %s z or x ?? (y %s z)", t.Excerpt(at), t.Excerpt(at))
	case strings.HasPrefix(message, "invalid"), strings.Contains(message, "literal is too large"):
		return t.numberError(i)
	case strings.HasPrefix(message, "expected at least"):
		return t.withSignature(at.Errorf("arguments are missing here"), i)
	case strings.HasPrefix(message, "wrap predicate"):
		return at.Errorf("a predicate with ; needs braces").WithHint("write filter(list, {let x = .a; x > 1})")
	case strings.HasPrefix(message, "a map key must be") && i == 1 && t.tokens[0].Value == "{" && t.tokens[1].Value == "{":
		return Span{0, at.End()}.Errorf("there are no {{ }} here").WithHint("write what is in them alone, as in object.spec.replicas")
	case strings.HasPrefix(message, "a map key must be"):
		return at.Errorf("a map key cannot start with %s", t.Excerpt(at)).
			WithHint(`write a name, a string in quotes, or an expression in parentheses, as in {a: 1, "b-c": 2, (x): 3}`)
	case strings.HasPrefix(message, "expected name"):
		at = t.tokens[max(0, i-1)].at // The parser has moved on from the token that it means.
		return at.Errorf("a field name is missing after the dot").WithHint(`write .name or ["any text"], and ?. for what may be absent`)
	case strings.HasPrefix(message, "unexpected token EOF"), strings.HasPrefix(message, "unexpected end"):
		return t.unexpected(len(t.tokens))
	default:
		return t.unexpected(i)
	}
}

// numberError finds the literal before the place where the parser noticed it.
func (t *Tree) numberError(i int) *Error {
	i--
	for i > 0 && !t.tokens[i].is(lexer.Number) {
		i--
	}
	return t.tokens[i].at.Errorf("%s does not fit a 64-bit number", value.Excerpt(t.tokens[i].Value))
}

// pitfalls are what people write who know other languages: the token that the parser does not take, and what stands before or
// behind it without a space, if that matters.
var pitfalls = []struct{ before, token, behind, message, hint string }{
	{"==", "=", "", "=== is no operator", "write =="},
	{"!=", "=", "", "!== is no operator", "write !="},
	{"", "=", ">", "=> is no operator", "write the condition with # for the element, as in any(list, # > 1)"},
	{"", "=", "", "= compares nothing", "write == to compare, or let x = 1; to name a value"},
	{"<", ">", "", "<> is no operator", "write !="},
	{"", "&", "", "& is no operator", "write && for and"},
	{"$", "{", "", "${ } belongs into templates; this is an expression already", "leave ${ and } out"},
	{"[", "*", "", "* is no index", "write map(list, .name) for a field of every element"},
	{"[", "]", "", "an index is missing before ]", "write map(list, .name) for a field of every element, or list[0] for the first"},
	{"[", "?", "", "there are no filters in brackets", `write filter(list, .name == "x")`},
	{"", "let", "", "let cannot stand here", "write let x = 1; x + 1, in parentheses if need be"},
	{"", "AND", "", "AND is no operator", "write and"},
	{"", "OR", "", "OR is no operator", "write or"},
	{"", "NOT", "", "NOT is no operator", "write not"},
	{"", "IN", "", "IN is no operator", "write in"},
}

// unexpected words the error about token i, or about the end, which cannot follow what is before it.
func (t *Tree) unexpected(i int) *Error {
	for _, j := range []int{i - 1, i - 2} {
		if j > 0 && t.tokens[j].is(lexer.Operator, "|") {
			return t.tokens[j].at.Errorf("| must lead to a function call").WithHint("write || for or, and list | len() to pass a value on")
		}
	}
	if i == len(t.tokens) {
		last := t.tokens[i-1].at
		return Span{last.End(), 0}.Errorf("the expression ends too early, after %s", t.Excerpt(last)).WithHint("%s", t.half())
	}
	for _, p := range pitfalls {
		before := p.before == "" || t.joined(i-1) && t.tokens[i-1].Value == p.before
		behind := p.behind == "" || t.joined(i) && t.tokens[i+1].Value == p.behind
		if before && behind && t.tokens[i].Value == p.token && t.tokens[i].Kind != lexer.String {
			return t.tokens[i].at.Errorf("%s", p.message).WithHint("%s", p.hint)
		}
	}
	return t.misplaced(i)
}

// misplaced explains a token by what it is, and by what is before it.
func (t *Tree) misplaced(i int) *Error {
	token, starts := t.tokens[i], i == 0 || t.tokens[i-1].is(lexer.Operator) || t.tokens[i-1].is(lexer.Bracket, "(", "[", "{")
	text := t.Excerpt(token.at)
	switch {
	case token.is(lexer.Operator, "#"), token.is(lexer.Operator, ".") && starts:
		return t.noElement(i)
	case token.is(lexer.Operator, "contains", "startsWith", "endsWith", "matches") && starts:
		return token.at.Errorf("%s is an operator and no function", text).WithHint("write x %s y", text)
	case token.is(lexer.Operator, ":") && i >= 2 && t.tokens[i-2].is(lexer.Bracket, "{"):
		return t.tokens[i-2].at.Errorf("these braces belong to the predicate, not to a map").
			WithHint("a map as the result needs its own: map(list, {{%s: ...}})", t.Excerpt(t.tokens[i-1].at))
	case token.is(lexer.Bracket, "(") && !starts:
		return token.at.Errorf("only a function can be called, by its name").WithHint("write name(...)")
	case i > 0 && t.tokens[i-1].is(lexer.Operator, ",") && !token.is(lexer.Operator):
		return t.withSignature(token.at.Errorf("%s cannot stand here", text), i)
	case starts:
		return token.at.Errorf("a value is missing before %s", text)
	case token.is(lexer.Operator), token.is(lexer.Bracket):
		return token.at.Errorf("%s cannot stand here", text).WithHint("%s", t.half())
	}
	return missingOperator(token.at.Errorf("an operator is missing between %s and %s", t.Excerpt(t.tokens[i-1].at), text), text)
}

// missingOperator gives an error a hint by the word that is where an operator has to be.
func missingOperator(err *Error, text string) *Error {
	word := strings.ReplaceAll(strings.ToLower(text), "_", "")
	if hint := function.Instead(word); hint != "" {
		return err.WithHint("%s", hint)
	}
	if near := document.Suggest(word, []string{"startsWith", "endsWith", "contains", "matches"}); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err
}

// half is a hint where only one branch of ?: is written, or "".
func (t *Tree) half() string {
	written := map[string]bool{}
	for _, token := range t.tokens {
		written[token.Value] = true
	}
	switch {
	case written["if"]:
		return "if needs both branches: if a > 1 { x } else { y }"
	case written["?"] && !written[":"]:
		return "?: needs both branches: a > 1 ? x : y; a condition alone is joined with &&"
	default:
		return ""
	}
}

// noElement explains # and .name outside of a predicate, also in what would be one, were the function known to the parser.
func (t *Tree) noElement(i int) *Error {
	if name, called := t.callAround(i); called {
		if before := t.tokenAt(name.at.Offset) - 1; before >= 0 && t.tokens[before].is(lexer.Operator, ".", "?.") {
			return t.NoMethod(name.at)
		}
		if _, found := function.Lookup(name.Value); !found {
			return NoFunction(name.Value, name.at)
		}
	}
	if t.tokens[i].Value == "." {
		return t.tokens[i].at.Errorf("an expression cannot start with a dot here").
			WithHint("write object.spec...; .name alone is a field of the element inside filter(list, .name == 1)")
	}
	return t.tokens[i].at.Errorf("# is the element of a list and means nothing here").
		WithHint("use it inside a predicate, as in filter(list, # > 1)")
}

// withSignature gives an error about an argument the call of the function as a hint, where the parser knows its parameters.
func (t *Tree) withSignature(err *Error, i int) *Error {
	if name, called := t.callAround(i); called {
		if f, found := function.Lookup(name.Value); found && f.Iterates() {
			return err.WithHint("write %s, with # for the element", f.Signature())
		}
	}
	return err
}

// callAround returns the name of the innermost call that token i is in.
func (t *Tree) callAround(i int) (name token, called bool) {
	for i--; i > 0; i-- {
		switch token := t.tokens[i]; {
		case token.is(lexer.Bracket, ")", "]", "}"):
			i = token.match
		case token.is(lexer.Bracket, "(") && t.tokens[i-1].is(lexer.Identifier):
			return t.tokens[i-1], true
		case token.is(lexer.Bracket):
			return name, false
		}
	}
	return name, false
}

// joined reports whether token i and the next follow each other without a space.
func (t *Tree) joined(i int) bool {
	return i >= 0 && i+1 < len(t.tokens) && t.tokens[i].at.End() == t.tokens[i+1].at.Offset
}

// WithinKey tells whether a name is more likely part of a key such as app-name or
// example.org/name than an operand.
func (t *Tree) WithinKey(at Span) bool {
	i := t.tokenAt(at.Offset) - 1
	return i > 0 && t.tokens[i].is(lexer.Operator, "-", "/") && t.joined(i) && t.joined(i-1)
}

// BesideStatus tells whether an operand is compared with the status of what a call gives or a name stands for, as that of condition(...).
func (t *Tree) BesideStatus(at Span) bool {
	i := t.tokenAt(at.Offset) - 1
	return i > 2 && t.tokens[i].is(lexer.Operator, "==", "!=") && t.tokens[i-1].is(lexer.Identifier, "status") &&
		t.tokens[i-2].is(lexer.Operator, ".", "?.") &&
		(t.tokens[i-3].is(lexer.Bracket, ")") || t.tokens[i-3].Kind == lexer.Identifier && t.tokens[i-3].Value != "object" && (i == 3 || !t.tokens[i-4].is(lexer.Operator, ".", "?.")))
}

// NoMethod refuses x.f(y), where f is at the span, in the words of what the user
// probably meant.
func (t *Tree) NoMethod(at Span) *Error {
	err := at.Errorf("values have no methods")
	name := t.Excerpt(at)
	if f, found := function.Lookup(name); found && f.Iterates() {
		return err.WithHint("write %s, with # for the element", f.Signature())
	} else if found && len(f.Params) > 1 {
		return err.WithHint("write %s", f.Signature())
	} else if found {
		return err.WithHint("write %s(x)", name)
	}
	if hint := function.Instead(name); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err.WithHint("call a function with the value as its argument: f(x)")
}

// NoFunction explains a name that is not in the table.
func NoFunction(name string, at Span) *Error {
	err := at.Errorf("unknown function %q", value.Excerpt(name))
	if hint := function.Instead(name); hint != "" {
		return err.WithHint("%s", hint)
	}
	if other := ClosestFunction(name); other != "" {
		return err.WithHint("did you mean %s(...)?", other)
	}
	return err
}

// ClosestFunction returns the function that a misspelt name most likely means, or "".
func ClosestFunction(name string) string {
	var names []string
	for _, f := range function.All() {
		names = append(names, f.Name)
	}
	return document.Suggest(name, names)
}
