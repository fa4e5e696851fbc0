package body

import (
	"slices"

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
	if v.Code == document.CodeTypeMismatch && n.Kind() == document.KindString && Unmarked(n.Text(), d.context.Scope, true) {
		v.Hint = "write " + Marked(n.Text())
	}
	return n.Errorf(v.Hint, "%s", v.Message).Coded(v.Code)
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
