package redact

import (
	"cmp"
	"slices"
	"strings"
)

// span is a part of a text, from its first byte to the one after its last.
type span struct{ from, to int }

// most is how many bytes are compared in one text. Only a text that is made to keep us busy
// needs more.
const most = 1 << 28

// index finds values in a text. It has them by how they begin, the longest first.
type index map[[shortest]byte][]string

func newIndex(known, except map[string]bool) index {
	x := index{}
	for value := range known {
		if start := [shortest]byte([]byte(value[:shortest])); !except[value] {
			x[start] = append(x[start], value)
		}
	}
	for _, values := range x {
		slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return x
}

// spans are where values of at least so many bytes are in a text, as they are or quoted, and in upper case after they were quoted. Those
// that overlap are one. Without ok, it was too much to look for.
func (x index) spans(text string, atLeast int) (out []span, ok bool) {
	out, ok = x.find(text, atLeast)
	for _, escaped := range []string{text, folded(text)} {
		for r, quoted := (reading{text: escaped}).unquoted(); ok && quoted; r, quoted = r.unquoted() {
			var found []span
			found, ok = x.find(r.text, atLeast)
			for _, in := range found {
				out = append(out, span{r.at(in.from), r.at(in.to)})
			}
		}
	}
	return joined(out), ok
}

// find is the same for values as they are.
func (x index) find(text string, atLeast int) (out []span, ok bool) {
	left, text := most, folded(text)
	for i := 0; i+shortest <= len(text); i++ {
		length := 0
		for _, value := range x[[shortest]byte([]byte(text[i:i+shortest]))] {
			if left -= min(len(value), len(text)-i); left < 0 {
				return nil, false
			}
			if strings.HasPrefix(text[i:], value) {
				length = len(value)
				break
			}
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

// joined are spans in order, of which those that overlap are one.
func joined(all []span) (out []span) {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, at := range all {
		if last := len(out) - 1; last >= 0 && at.from < out[last].to {
			out[last].to = max(out[last].to, at.to)
		} else {
			out = append(out, at)
		}
	}
	return out
}
