package syntax

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Limits on what is read. They are far above what a person writes and keep the
// parser, which is recursive, away from the end of the stack.
const (
	MaxSource  = 16 << 10 // bytes
	MaxNesting = 100
	MaxNodes   = 2000
)

// Room for tokens is made at once for what an expression usually has: one in so many bytes,
// and so many at most.
const (
	tokenLength = 3
	fewTokens   = 31
)

// token is a token of expr's lexer with its place in bytes.
type token struct {
	lexer.Token
	at Span
	// match is the index of the other bracket of a pair.
	match int
}

func (t token) is(kind lexer.Kind, values ...string) bool { return t.Is(kind, values...) }

// source is an expression as text and as tokens that are known to be well
// formed: brackets match and nest no deeper than allowed.
type source struct {
	text   string
	runes  runeOffsets
	tokens []token // Without the final EOF.
}

// scan returns the tokens of text, or what is wrong with them.
func scan(text string) (*source, error) {
	whole := Span{0, len(text)}
	if len(text) > MaxSource {
		return nil, Span{MaxSource, 0}.Errorf("the expression is longer than %d bytes", MaxSource).
			WithHint("split it with let")
	}
	if !utf8.ValidString(text) {
		return nil, whole.Errorf("the expression is not valid UTF-8")
	}
	s := &source{text: text, runes: newRuneOffsets(text)}
	if err := s.lex(); err != nil {
		return nil, err
	}
	if len(s.tokens) == 0 {
		return nil, whole.Errorf("the expression is empty")
	}
	if err := s.checkTokens(); err != nil {
		return nil, err
	}
	if err := s.checkNesting(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *source) lex() error {
	s.tokens = make([]token, 0, min(len(s.text)/tokenLength, fewTokens)+1)
	l := lexer.New()
	l.Reset(file.NewSource(s.text))
	for {
		t, err := l.Next()
		if err != nil {
			return s.lexError(err)
		}
		if t.Kind == lexer.EOF {
			return nil
		}
		s.tokens = append(s.tokens, token{Token: t, at: s.span(t.Location)})
	}
}

// lexError words the lexer's errors, which point at the end of what is wrong.
func (s *source) lexError(err error) error {
	last := 0
	if n := len(s.tokens); n > 0 {
		last = s.tokens[n-1].at.End()
	}
	return wordLexError(s.text, last, s.runes, err)
}

func wordLexError(text string, last int, runes runeOffsets, err error) error {
	failure := &file.Error{Message: err.Error()}
	errors.As(err, &failure)
	at := runes.span(failure.Location, len(text))
	start := last + len(text[last:]) - len(strings.TrimLeft(text[last:], " \t\r\n"))
	switch message := failure.Message; {
	case strings.HasPrefix(message, "literal not terminated"):
		failed := Span{start, 1}.Errorf("the string that starts here has no closing quote")
		if strings.Contains(text[start:], "\n") {
			return failed.WithHint("it ends with its line; for a line break within, write \\n, in a YAML text in double quotes \\\\n")
		}
		return failed
	case strings.HasPrefix(message, "unclosed comment"):
		return Span{start, 2}.Errorf("the comment that starts here is not closed").WithHint("end it with */")
	case strings.HasPrefix(message, "invalid char escape"), strings.HasPrefix(message, "unable to unescape"):
		return at.Errorf("a string has an unknown \\ escape").
			WithHint(`write \\ for a backslash, or put the text between backticks`)
	case strings.HasPrefix(message, "bad number syntax"):
		word := wordAt(text[start:])
		return Span{start, len(word)}.Errorf("%q is not a number", value.Excerpt(word)).
			WithHint(`write quantity("5Gi") for a quantity, duration("5m") for a duration`)
	default:
		return wordCharacter(text, at)
	}
}

// wordAt returns the letters, digits and dots that a text begins with.
func wordAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

func wordCharacter(text string, at Span) *Error {
	character, _ := utf8.DecodeRuneInString(text[at.Offset:])
	err := at.Errorf("the character %q means nothing here", character)
	if strings.ContainsRune("“”‘’„«»", character) {
		return err.WithHint(`write straight quotes, " or '`)
	}
	if character == '~' {
		return err.WithHint(`write x matches "^a+$"`)
	}
	return err
}

func (s *source) span(l file.Location) Span { return s.runes.span(l, len(s.text)) }

// tokenAt returns the index of the first token at or behind a byte offset.
func (s *source) tokenAt(offset int) int {
	i, _ := slices.BinarySearchFunc(s.tokens, offset, func(t token, offset int) int {
		return cmp.Compare(t.at.Offset, offset)
	})
	return i
}

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

// ClosingBrace finds the } that ends the expression at offset. It reads tokens,
// since a brace in a string, a comment or a map ends nothing.
func ClosingBrace(text string, offset int) (int, error) {
	rest := text[offset:]
	l := lexer.New()
	l.Reset(file.NewSource(rest))
	last, depth := 0, 0
	var runes runeCursor
	for {
		t, err := l.Next()
		if err != nil {
			return 0, Shift(wordLexError(rest, last, newRuneOffsets(rest), err), offset)
		}
		if t.Kind == lexer.EOF {
			return 0, unclosed(rest, offset)
		}
		last = runes.byteOffset(rest, t.To)
		switch {
		case t.Is(lexer.Bracket, "{"):
			depth++
		case t.Is(lexer.Bracket, "}") && depth == 0:
			return offset + last - 1, nil
		case t.Is(lexer.Bracket, "}"):
			depth--
		}
	}
}

func unclosed(rest string, offset int) *Error {
	err := Span{offset - 2, 2}.Errorf("the ${ that starts here is not closed")
	if strings.Contains(rest, "//") {
		return err.WithHint("a // comment hides the rest of its line")
	}
	return err.WithHint("end it with }, or write $${ for a literal ${")
}

// runeCursor converts growing places in characters to bytes.
type runeCursor struct{ character, offset int }

func (c *runeCursor) byteOffset(text string, character int) int {
	for ; c.character < character && c.offset < len(text); c.character++ {
		_, size := utf8.DecodeRuneInString(text[c.offset:])
		c.offset += size
	}
	return c.offset
}

// runeOffsets converts the lexer's places, which count characters, to bytes. It is
// nil for ASCII, where they are the same.
type runeOffsets []int

func newRuneOffsets(text string) runeOffsets {
	if utf8.RuneCountInString(text) == len(text) {
		return nil
	}
	var offsets runeOffsets
	for offset := range text {
		offsets = append(offsets, offset)
	}
	return append(offsets, len(text))
}

func (r runeOffsets) span(l file.Location, length int) Span {
	from, to := r.offset(l.From, length), r.offset(l.To, length)
	return Span{from, max(0, to-from)}
}

func (r runeOffsets) offset(character, length int) int {
	if r == nil {
		return min(max(character, 0), length)
	}
	return r[min(max(character, 0), len(r)-1)]
}
