package syntax

import (
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
)

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
