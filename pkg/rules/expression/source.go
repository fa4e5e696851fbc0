package expression

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

// Limits on what is compiled. They are far above what a person writes and keep
// the parser, which is recursive, away from the end of the stack.
const (
	maxSource     = 16 << 10
	maxNesting    = 100
	maxNodes      = 2000
	maxPredicates = 4
	maxPattern    = 256
)

// token is a token of expr's lexer with its place in bytes.
type token struct {
	lexer.Token
	at span
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
	whole := span{0, len(text)}
	if len(text) > maxSource {
		return nil, span{maxSource, 0}.errorf("the expression is longer than %d bytes", maxSource).
			hint("split it with let")
	}
	if !utf8.ValidString(text) {
		return nil, whole.errorf("the expression is not valid UTF-8")
	}
	s := &source{text: text, runes: newRuneOffsets(text)}
	if err := s.lex(); err != nil {
		return nil, err
	}
	if len(s.tokens) == 0 {
		return nil, whole.errorf("the expression is empty")
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
		last = s.tokens[n-1].at.end()
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
		return span{start, 1}.errorf("the string that starts here has no closing quote")
	case strings.HasPrefix(message, "unclosed comment"):
		return span{start, 2}.errorf("the comment that starts here is not closed").hint("end it with */")
	case strings.HasPrefix(message, "invalid char escape"), strings.HasPrefix(message, "unable to unescape"):
		return at.errorf("a string has an unknown \\ escape").
			hint(`write \\ for a backslash, or put the text between backticks`)
	case strings.HasPrefix(message, "bad number syntax"):
		word := wordAt(text[start:])
		return span{start, len(word)}.errorf("%q is not a number", value.Excerpt(word)).
			hint(`write quantity("5Gi") for a quantity, duration("5m") for a duration`)
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

func wordCharacter(text string, at span) *Error {
	character, _ := utf8.DecodeRuneInString(text[at.offset:])
	err := at.errorf("the character %q means nothing here", character)
	if strings.ContainsRune("“”‘’„«»", character) {
		return err.hint(`write straight quotes, " or '`)
	}
	if character == '~' {
		return err.hint(`write x matches "^a+$"`)
	}
	return err
}

func (s *source) span(l file.Location) span { return s.runes.span(l, len(s.text)) }

// tokenAt returns the index of the first token at or behind a byte offset.
func (s *source) tokenAt(offset int) int {
	i, _ := slices.BinarySearchFunc(s.tokens, offset, func(t token, offset int) int {
		return cmp.Compare(t.at.offset, offset)
	})
	return i
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
		if depth > maxNesting {
			return t.at.errorf("the expression nests deeper than %d levels", maxNesting).hint("split it with let")
		}
	}
	if open := levels[len(levels)-1].open; open >= 0 {
		return s.tokens[open].at.errorf("the %s that starts here is not closed", s.tokens[open].Value)
	}
	return nil
}

// pair records that the brackets at two indexes belong together.
func (s *source) pair(open, closing int) error {
	t := &s.tokens[closing]
	if open < 0 {
		return t.at.errorf("the %s closes nothing", t.Value)
	}
	opening := &s.tokens[open]
	if want := map[string]string{"(": ")", "[": "]", "{": "}"}[opening.Value]; want != t.Value {
		return t.at.errorf("the %s is closed by a %s", opening.Value, t.Value).
			hint("the %s at position %d wants a %s", opening.Value, opening.at.offset+1, want)
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

func (r runeOffsets) span(l file.Location, length int) span {
	from, to := r.offset(l.From, length), r.offset(l.To, length)
	return span{from, max(0, to-from)}
}

func (r runeOffsets) offset(character, length int) int {
	if r == nil {
		return min(max(character, 0), length)
	}
	return r[min(max(character, 0), len(r)-1)]
}
