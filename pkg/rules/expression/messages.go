package expression

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// unknown is the error that a name means nothing.
func (c *compiler) unknown(at syntax.Span, name string) *Error {
	if _, found := function.Lookup(name); found {
		err := at.Errorf("%s is a function", name)
		if len(c.predicates) > 0 {
			return err.WithHint("write %s(...), or .%s for that field of the element", name, name)
		}
		return err.WithHint("write %s(...)", name)
	}
	if function.Reserved(name) {
		fault := function.Refused(name)
		return at.Errorf("%s", fault.Message).WithHint("%s", fault.Hint)
	}
	err := at.Errorf("unknown name %q", value.Excerpt(name))
	if hint := c.scope.hints[name]; hint != "" {
		return err.WithHint("%s", hint)
	}
	if c.tree.WithinKey(at) {
		return err.WithHint(`a key with - or / in it is written as in object.metadata.labels["a.b/c-d"]`)
	}
	hint := habit(name)
	if len(c.predicates) > 0 && strings.HasPrefix(hint, "write object") {
		hint = "" // More likely the field of the element is meant.
	}
	if hint != "" {
		return err.WithHint("%s", hint)
	}
	if len(c.predicates) > 0 {
		return err.WithHint("write .%s for that field of the element%s", name, c.orClosest(name))
	}
	if other := document.Suggest(name, slices.Collect(c.visibleNames())); other != "" {
		return err.WithHint("did you mean %q?", other)
	}
	if other := syntax.ClosestFunction(name); other != "" {
		return err.WithHint("did you mean the function %s(...)?", other)
	}
	return err.WithHint("a text needs quotes of its own; a key with - or / is written [\"...\"]")
}

// orClosest adds a name to a hint.
func (c *compiler) orClosest(name string) string {
	if other := document.Suggest(name, slices.Collect(c.visibleNames())); other != "" {
		return ", or did you mean " + strconv.Quote(other) + "?"
	}
	return ""
}

// habit is what to write instead of a name that means something elsewhere, or "".
func habit(name string) string {
	switch name {
	case "null", "None", "undefined", "NULL", "Nil":
		return "write nil"
	case "True", "TRUE", "yes", "on":
		return "write true"
	case "False", "FALSE", "no", "off":
		return "write false"
	case "self", "this":
		return "write object"
	case "oldObject", "request", "operation":
		return "rules see objects as they are stored, and no requests: write object for what is there now"
	case "index", "idx":
		return "only an action with forEach has an index, and a predicate #index"
	case "apiVersion", "kind", "metadata", "spec", "status":
		return "write object." + name
	case "name", "namespace", "labels", "annotations":
		return "write object.metadata." + name
	default:
		return ""
	}
}

// visibleNames are what an identifier could mean, inner names first.
func (c *compiler) visibleNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, l := range slices.Backward(c.lets) {
			if !yield(l.Name) {
				return
			}
		}
		c.scope.visit(yield)
	}
}

// visible is whether a name means something already.
func (c *compiler) visible(name string) bool {
	_, found := c.scope.Slot(name)
	return found || slices.ContainsFunc(c.lets, func(l *Let) bool { return l.Name == name })
}
