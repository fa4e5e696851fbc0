package action

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Checking is what an action is checked with: types in the place of values.
type Checking struct {
	template.Context
	Schemas  *schema.Catalog
	Declared lookup.Declarations
	Watched  *schema.Resource // nil where nothing is known of it
}

// Check returns what the schemas show to be wrong with the step.
func (s *Step) Check(c Checking) document.Errors {
	var errs document.Errors
	if s.each != nil {
		list, listErrs := s.each.List.Check(c.Context, schema.Field{}, schema.Whole)
		errs = append(errs, listErrs...)
		if wrong := s.each.checkList(list); wrong != nil {
			errs = append(errs, wrong)
		}
		c.Names = loopTypes{outer: c.Names, first: s.each.slot, element: list.Items()}
		c.Scope = s.each.scope
	}
	holding, whenErrs := s.when.CheckCondition(c.Context)
	errs = append(errs, whenErrs...)
	c.Context = holding
	return append(errs, s.action.Check(c)...)
}

// checkList wants a list, or nothing for an empty one.
func (f *each) checkList(list typing.Type) *document.Error {
	if kinds := list.Kinds() &^ value.Nil; !list.Known() || kinds == 0 || kinds&value.List != 0 {
		return nil
	}
	return f.List.Node().Errorf(listHint, "forEach wants a list, have %s", list).Coded(document.CodeTypeMismatch)
}

// loopTypes is [loop] for types.
type loopTypes struct {
	outer   check.Names
	first   int
	element typing.Type
}

// Type implements [check.Names].
func (l loopTypes) Type(slot int, facts *typing.Facts) typing.Type {
	switch slot {
	case l.first:
		return l.element
	case l.first + 1:
		return typing.Of(value.Int)
	default:
		return l.outer.Type(slot, facts)
	}
}

// Definition implements [check.Names].
func (l loopTypes) Definition(slot int) *expression.Program {
	if slot == l.first || slot == l.first+1 {
		return nil
	}
	return l.outer.Definition(slot)
}

// resource returns that of a target, nil where it is not certain: several may have objects of one type.
func (c Checking) resource(of *target) (found *schema.Resource) {
	if of.node == nil {
		return c.Watched
	}
	objects := c.Facts.Apply(of.slot, c.Names.Type(of.slot, c.Facts))
	if objects.Kinds()&value.List != 0 {
		objects = objects.Items()
	}
	known := objects.Schema()
	if known == nil {
		return nil
	}
	if c.Watched != nil && c.Watched.Type == known {
		found = c.Watched
	}
	for _, declaration := range c.Declared {
		r := c.Schemas.Resource(declaration.GVR)
		switch {
		case r == nil || r.Type != known:
		case found != nil && found.GroupVersionResource != r.GroupVersionResource:
			return nil
		default:
			found = r
		}
	}
	return found
}

// checkTarget refuses a target that is surely no object that was read.
func (c Checking) checkTarget(of *target) document.Errors {
	if of.node == nil {
		return nil
	}
	objects := c.Names.Type(of.slot, c.Facts)
	element, kinds := objects, objects.Kinds()
	if kinds&value.List != 0 {
		element = objects.Items()
		kinds |= element.Kinds()
	}
	switch _, closed, built := element.Built(); {
	case !objects.Known():
		return nil
	case kinds&(value.Map|value.Nil) == 0:
		return document.Errors{of.node.Errorf("write object, or a name of with, forEach or let", "a target is an object or a list of objects, %s is %s",
			of.name, objects).Coded(document.CodeTypeMismatch)}
	case built && closed, element.Schema() != nil && !element.Whole() && element.Kinds()&^value.Nil == value.Map:
		return document.Errors{of.node.Errorf("a target comes from with as it is, or through filter, find, sortBy or take",
			"%s is no object that was read, but a part of one, or a new map", of.name).Coded(document.CodeTypeMismatch)}
	default:
		return nil
	}
}
