package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// unknown is the error that a name means nothing.
func (c *compiler) unknown(at syntax.Span, name string) *Error {
	within := len(c.predicates) > 0 // Then most likely the field of the element is meant.
	if _, found := function.Lookup(name); found {
		err := at.Errorf("%s is a function", name)
		if within {
			return err.WithHint("write %s(...), or .%s for that field of the element", name, name)
		}
		return err.WithHint("write %s(...)", name)
	}
	err := at.Errorf("unknown name %q", value.Excerpt(name))
	if c.scope.hints[name] == "" && c.tree.WithinKey(at) {
		return err.WithHint(`a key with - or / in it is written as in object.metadata.labels["a.b/c-d"]`)
	}
	hint := cmp.Or(c.scope.hints[name], function.Instead(name))
	names := c.scope.Names()
	for _, let := range c.lets {
		names = append(names, let.Name)
	}
	other := document.Suggest(name, names)
	switch {
	case hint != "" && (!within || !strings.HasPrefix(hint, "write object.")):
		return err.WithHint("%s", hint)
	case within:
		return err.WithHint("write .%s for that field of the element", name)
	case other != "":
		return err.WithHint("did you mean %q?", other)
	}
	if other := syntax.ClosestFunction(name); other != "" {
		return err.WithHint("did you mean the function %s(...)?", other)
	}
	return err.WithHint("a text needs quotes of its own; a key with - or / is written [\"...\"]")
}

// visible is whether a name means something already.
func (c *compiler) visible(name string) bool {
	_, found := c.scope.Slot(name)
	return found || slices.ContainsFunc(c.lets, func(l *Let) bool { return l.Name == name })
}
