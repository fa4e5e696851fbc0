package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

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
	left, right := names(want), names(have)
	if slices.Contains(left, "") || slices.Contains(right, "") {
		for _, all := range [][]string{left, right} {
			for i := range all {
				all[i] = strconv.Itoa(i)
			}
		}
	}
	return match(left, right)
}

// match pairs the texts that two lists have in common, in order.
func match(left, right []string) (out []Pair) {
	i, j := 0, 0
	for _, d := range append(lcs.DiffLines(left, right), lcs.Diff{Start: len(left), End: len(left)}) {
		for ; i < d.Start; i, j = i+1, j+1 {
			out = append(out, Pair{i, j})
		}
		for ; i < d.End; i++ {
			out = append(out, Pair{i, -1})
		}
		for ; j < d.ReplEnd; j++ {
			out = append(out, Pair{-1, j})
		}
	}
	return out
}

// names says of each element what it is about.
func names(list []any) []string {
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = about(element)
	}
	return out
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
