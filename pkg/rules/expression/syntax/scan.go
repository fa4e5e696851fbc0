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
