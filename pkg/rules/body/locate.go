package body

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// locate finds what a violation is about, or what it is in where an expression wrote
// it.
func (d *draft) locate(n *document.Node, v schema.Violation) *document.Error {
	for i, step := range v.Path {
		next := below(n, step)
		if next == nil {
			break
		}
		if key, is := step.(string); is && i == len(v.Path)-1 && v.Code == document.CodeUnknownField {
			next = n.Key(key)
		}
		n = next
	}
	return n.Errorf(d.hint(n, v), "%s", v.Message).Coded(v.Code)
}

// hint says what to write instead, which depends on how it is written.
func (d *draft) hint(n *document.Node, v schema.Violation) string {
	switch {
	case v.Code == document.CodeUnknownField:
		return cmp.Or(nested(n.Text()), v.Hint)
	case v.Code != document.CodeTypeMismatch:
		return v.Hint
	case n.Kind() == document.KindString && Unmarked(n.Text(), d.context.Scope, true):
		return "write " + Marked(n.Text())
	case n.Kind() == document.KindBool && strings.HasPrefix(v.Hint, quotes):
		return quotes + strconv.Quote(n.Text()) // True is as a rule not meant to be true.
	default:
		return v.Hint
	}
}

// quotes begins the hint for what has to be a text.
const quotes = "put it in quotes: "

// nested writes a path in the place of a key as maps, and is "" for other keys.
func nested(key string) string {
	first, rest, dotted := strings.Cut(key, ".")
	switch first {
	case "spec", "status", "metadata":
	default:
		dotted = false
	}
	if !dotted || rest == "" || len(key) > longestUnmarked {
		return ""
	}
	keys := strings.Split(rest, ".")
	return "write " + first + ": {" + strings.Join(keys, ": {") + ": ..." + strings.Repeat("}", len(keys))
}

func below(n *document.Node, step any) *document.Node {
	switch step := step.(type) {
	case string:
		return n.Get(step)
	case int:
		if elements := n.Elements(); step < len(elements) {
			return elements[step]
		}
	}
	return nil
}

// misspelt reports a field that is missing because it is there under a name that is a
// little different. To say that once is enough.
func misspelt(missing schema.Violation, all []schema.Violation) bool {
	if missing.Code != document.CodeMissingField || missing.Field == "" {
		return false
	}
	return slices.ContainsFunc(all, func(v schema.Violation) bool {
		return v.Code == document.CodeUnknownField && v.Field == missing.Field && slices.Equal(v.Path[:len(v.Path)-1], missing.Path)
	})
}
