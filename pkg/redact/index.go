package redact

import (
	"slices"
	"strings"
)

// span is a part of a text, from its first byte to the one after its last.
type span struct{ from, to int }

// most is how many bytes are compared in one text. Only a text that is made to keep us busy
// needs more.
const most = 1 << 28

// index finds values in a text, in a time that hardly depends on how many there are.
type index struct {
	sorted []string
	// within has for each value the longest other one that it begins with, or -1.
	within []int
	starts map[[shortest]byte]bool
}

func newIndex(known, except map[string]bool) *index {
	x := &index{starts: map[[shortest]byte]bool{}}
	for value := range known {
		if !except[value] {
			x.sorted = append(x.sorted, value)
			x.starts[[shortest]byte([]byte(value[:shortest]))] = true
		}
	}
	slices.Sort(x.sorted)
	x.within = make([]int, len(x.sorted))
	for i, value := range x.sorted {
		x.within[i] = x.from(i-1, value)
	}
	return x
}

// from is the first of a value and those within it that the text begins with, or -1.
func (x *index) from(i int, text string) int {
	for i >= 0 && !strings.HasPrefix(text, x.sorted[i]) {
		i = x.within[i]
	}
	return i
}

// spans are where values of at least so many bytes are in a text. Those that overlap are
// one. Without ok, it was too much to look for.
func (x *index) spans(text string, atLeast int) (out []span, ok bool) {
	left, text := most, folded(text)
	for i := 0; i+shortest <= len(text); i++ {
		if !x.starts[[shortest]byte([]byte(text[i:i+shortest]))] {
			continue
		}
		length, work := x.longest(text[i:])
		if left -= work; left < 0 {
			return nil, false
		}
		switch last := len(out) - 1; {
		case length < atLeast:
		case last >= 0 && i < out[last].to:
			out[last].to = max(out[last].to, i+length)
		default:
			out = append(out, span{i, i + length})
		}
	}
	return out, true
}

// longest is the length of the longest value that the text begins with, zero for none, and
// how many bytes were compared at most. All values that the text begins with are before it
// in order, and the nearest of them begins with the others.
func (x *index) longest(text string) (length, work int) {
	at, _ := slices.BinarySearchFunc(x.sorted, text, func(value, text string) int {
		work += min(len(value), len(text))
		return strings.Compare(value, text)
	})
	if at < len(x.sorted) && x.sorted[at] == text {
		return len(text), work
	}
	if at = x.from(at-1, text); at < 0 {
		return 0, work
	}
	return len(x.sorted[at]), work
}
