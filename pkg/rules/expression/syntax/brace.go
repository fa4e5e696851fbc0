package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

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
