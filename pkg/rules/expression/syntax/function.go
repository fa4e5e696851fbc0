package syntax

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// method refuses x.f(y), in the words of what the user probably meant.
func (s *source) method(at Span) *Error {
	err := at.Errorf("values have no methods")
	name := s.textOf(at)
	switch name {
	case "contains", "startsWith", "endsWith", "matches":
		return err.WithHint("write x %s y", name)
	}
	if f, found := function.Lookup(name); found && f.Iterates() {
		return err.WithHint("write %s, with # for the element", f.Signature())
	} else if found {
		return err.WithHint("write %s(x)", name)
	}
	if fault := function.Refused(name); fault != nil && fault.Hint != "" {
		return err.WithHint("%s", fault.Hint)
	}
	return err.WithHint("call a function with the value as its argument: f(x)")
}

// NoFunction explains a name that is not in the table.
func NoFunction(name string, at Span) *Error {
	if fault := function.Refused(name); fault != nil {
		err := at.Errorf("%s", fault.Message)
		err.Hint = fault.Hint
		return err
	}
	err := at.Errorf("unknown function %q", value.Excerpt(name))
	if other := ClosestFunction(name); other != "" {
		return err.WithHint("did you mean %s(...)?", other)
	}
	return err
}

// ClosestFunction returns the function that a misspelt name most likely means, or "".
func ClosestFunction(name string) string {
	var names []string
	for _, f := range function.All() {
		names = append(names, f.Name)
	}
	return document.Suggest(name, names)
}
