package compare

import (
	"fmt"
	"slices"
	"strings"
)

// mostCells bounds the work of finding out what was added to a list and what removed.
const mostCells = 1 << 22

// Pair is an element of each of two lists that are about the same thing, or of one of
// them alone: then the index in the other is -1.
type Pair struct{ Want, Have int }

// Index is the one by which a difference names the element.
func (p Pair) Index() int {
	if p.Want >= 0 {
		return p.Want
	}
	return p.Have
}

// Align pairs the elements of two lists, as [Diff] does: by what they are about if all of
// them tell, so that one more does not shift all others, and else by their indexes.
func Align(want, have []any) []Pair {
	left, named := identities(want)
	right, alsoNamed := identities(have)
	start := 0
	for start < min(len(want), len(have)) && named && alsoNamed && left[start] == right[start] {
		start++
	}
	var out []Pair
	for i := range start {
		out = append(out, Pair{i, i})
	}
	if !named || !alsoNamed || (len(want)-start)*(len(have)-start) > mostCells {
		return append(out, byIndex(start, len(want), len(have))...)
	}
	for _, p := range common(left[start:], right[start:]) {
		if p.Want >= 0 {
			p.Want += start
		}
		if p.Have >= 0 {
			p.Have += start
		}
		out = append(out, p)
	}
	return out
}

func byIndex(start, want, have int) []Pair {
	var out []Pair
	for i := start; i < max(want, have); i++ {
		p := Pair{i, i}
		if i >= want {
			p.Want = -1
		}
		if i >= have {
			p.Have = -1
		}
		out = append(out, p)
	}
	return out
}

// common pairs a longest common subsequence, in order, with the rest between.
func common(left, right []string) []Pair {
	lengths := commonLengths(left, right)
	var out []Pair
	i, j := 0, 0
	for i < len(left) && j < len(right) {
		switch {
		case left[i] == right[j]:
			out = append(out, Pair{i, j})
			i, j = i+1, j+1
		case lengths[i+1][j] >= lengths[i][j+1]:
			out = append(out, Pair{i, -1})
			i++
		default:
			out = append(out, Pair{-1, j})
			j++
		}
	}
	for ; i < len(left); i++ {
		out = append(out, Pair{i, -1})
	}
	for ; j < len(right); j++ {
		out = append(out, Pair{-1, j})
	}
	return out
}

// commonLengths has, for each two of their ends, how many elements these have in common.
func commonLengths(left, right []string) [][]int {
	out := make([][]int, len(left)+1)
	for i := range out {
		out[i] = make([]int, len(right)+1)
	}
	for i, one := range slices.Backward(left) {
		for j, other := range slices.Backward(right) {
			if one == other {
				out[i][j] = out[i+1][j+1] + 1
			} else {
				out[i][j] = max(out[i+1][j], out[i][j+1])
			}
		}
	}
	return out
}

// identities says of each element what it is about, if all of them tell.
func identities(list []any) (out []string, all bool) {
	for _, element := range list {
		text := about(element)
		if text == "" {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}

// about says what an element is about, empty where it does not tell.
func about(element any) string {
	var text strings.Builder
	fields, _ := element.(map[string]any)
	for _, key := range identity(element) {
		fmt.Fprintf(&text, "%s %v\n", key, fields[key])
	}
	return text.String()
}

// listKeys are the fields by which elements of lists are told apart, in goldens and in Kubernetes, the surest first.
var listKeys = [][]string{
	{"object", "rule"},
	{"object"},
	{"step"},
	{"uid"},
	{"mountPath"},
	{"containerPort", "protocol"},
	{"port", "protocol"},
	{"name"},
	{"type"},
	{"key", "effect"},
	{"ip"},
}

// identity lists the keys by which a map tells what it is about, none for anything else.
func identity(element any) []string {
	fields, _ := element.(map[string]any)
	for _, keys := range listKeys {
		known := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return fields[key] == nil })
		switch {
		case len(known) == 0 || known[0] != keys[0] || keys[0] == "object" && len(known) < len(keys):
		case !slices.ContainsFunc(known, func(key string) bool { return !tells(fields[key]) }):
			return known
		}
	}
	return nil
}

// tells reports whether a value may be the name of something.
func tells(value any) bool {
	switch value.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return value != ""
}
