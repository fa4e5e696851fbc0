package template

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Draft returns what is known of the value of a template before it is evaluated: [schema.Unknown] is what an expression decides, and
// what the parser has reported.
func Draft(n *document.Node) any {
	switch kind := n.Kind(); {
	case kind == document.KindMap:
		out := make(map[string]any)
		for _, entry := range n.Entries() {
			if templated(entry.Key) {
				out[schema.SomeKeys] = schema.Unknown{}
			} else {
				out[entry.Key.Text()] = Draft(entry.Value)
			}
		}
		return out
	case kind == document.KindList:
		out := []any{}
		for _, element := range n.Elements() {
			out = append(out, Draft(element))
		}
		return out
	case templated(n):
		return schema.Unknown{}
	default:
		return n.Value()
	}
}

func templated(n *document.Node) bool {
	return n.Kind() == document.KindInvalid || strings.Contains(n.Text(), "${")
}

// Lookup follows a path in a draft. It returns nil for what is absent, and [schema.Unknown] for what may be there; there says that the
// field is written, even if its value is unknown.
func Lookup(draft any, path ...string) (v any, there bool) {
	for _, key := range path {
		fields, isMap := draft.(map[string]any)
		if !isMap {
			return unknownOrNil(draft), false
		}
		if draft, there = fields[key]; !there {
			return unknownOrNil(fields[schema.SomeKeys]), false
		}
	}
	return draft, true
}

func unknownOrNil(v any) any {
	if _, unknown := v.(schema.Unknown); unknown {
		return v
	}
	return nil
}
