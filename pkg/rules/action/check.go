package action

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Checking is what an action is checked with: types in the place of values.
type Checking struct {
	body.Context
	Schemas  *schema.Catalog
	Declared relation.Declarations
	Watched  *schema.Resource // nil where nothing is known of it
}

// Check returns what the schemas show to be wrong with the step.
func (s *Step) Check(c Checking) document.Errors {
	var errs document.Errors
	if s.each != nil {
		list, listErrs := s.each.list.Type(c.Context)
		errs = append(errs, listErrs...)
		if wrong := s.each.checkList(list); wrong != nil {
			errs = append(errs, wrong)
		}
		c.Names = loopTypes{outer: c.Names, first: s.each.slot, element: list.Items()}
		c.Scope = s.each.outer.Extend(s.each.name, indexName)
	}
	holding, whenErrs := s.when.CheckCondition(c.Context)
	errs = append(errs, whenErrs...)
	c.Context = holding
	return append(errs, s.action.Check(c)...)
}

// checkList wants a list, or nothing for an empty one.
func (f *each) checkList(list typing.Type) *document.Error {
	if !list.Known() || list.Kinds()&(value.List|value.Nil) != 0 {
		return nil
	}
	return f.node.Errorf(listHint, "forEach wants a list, have %s", list).Coded(document.CodeTypeMismatch)
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

// resources returns those that a target can be of, nil among them for one of which
// nothing is known.
func (c Checking) resources(of *target) []*schema.Resource {
	if of.node == nil {
		return []*schema.Resource{c.Watched}
	}
	objects := c.Facts.Apply(of.slot, c.Names.Type(of.slot, c.Facts))
	if objects.Kinds()&value.List != 0 {
		objects = objects.Items()
	}
	known := objects.Schema()
	all := []*schema.Resource{c.Watched}
	for _, declaration := range c.Declared {
		all = append(all, c.Schemas.Resource(declaration.GVR))
	}
	i := slices.IndexFunc(all, func(r *schema.Resource) bool { return r != nil && known != nil && r.Type == known })
	if i < 0 {
		return []*schema.Resource{nil}
	}
	return all[i : i+1]
}

func isMap(v any) bool { return value.KindOf(v) == value.Map }

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
	case built && closed, slices.ContainsFunc(element.Literals(), isMap):
		return document.Errors{of.node.Errorf("a target comes from with as it is, or through filter, find, sortBy or take",
			"%s is not an object that was read, but made by an expression", of.name).Coded(document.CodeTypeMismatch)}
	default:
		return nil
	}
}
