package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// expectation says what must happen in a phase of a case, and what must not, in the form of
// goldens. Its objects are all that are in the cluster then.
type expectation struct {
	has, hasNot map[string]any
	elements    []*document.Node
}

// decode is told where it belongs: the case, or a step.
func (e *expectation) decode(n *document.Node) document.Errors {
	if n == nil {
		return nil
	}
	v, errs := spec.ExpectFields.Read(n)
	e.has, _ = v["has"].Any().(map[string]any)
	e.hasNot, _ = v["hasNot"].Any().(map[string]any)
	for _, n := range []*document.Node{v["has"], v["hasNot"]} {
		lists, wrong := spec.ExpectedFields.Read(n)
		errs = append(errs, wrong...)
		for i, each := range spec.Expectable {
			for _, element := range lists[each.List].Elements() {
				_, wrong := spec.ExpectedFields.Fields[i].Type.Items.Read(element)
				errs = append(errs, wrong...)
				e.elements = append(e.elements, element)
			}
		}
	}
	if len(errs)+len(e.elements) == 0 {
		errs = append(errs, n.Errorf("write what it has, or has not, such as has: {events: [{reason: EvenPD}]}", "nothing is expected"))
	}
	return errs
}

// resolve refuses the names of resources and rules that there are not: an expectation of
// what cannot be says nothing. The name that a set gives a resource stands for its plural.
func (e *expectation) resolve(sets []*spec.Set) (errs document.Errors) {
	var resources, names []string
	plurals := map[string]string{} // by the names that sets give resources
	for _, set := range sets {
		for _, r := range set.Resources {
			resources = append(resources, r.GVR.Resource)
			plurals[r.Name], plurals[inFull(r.GVR)] = r.GVR.Resource, r.GVR.Resource
			plurals[r.GVR.Resource] = r.GVR.Resource
		}
		for _, rule := range set.Rules {
			names = append(names, set.Name+"/"+rule.Name)
		}
	}
	check := func(n *document.Node, what, name string, known []string) {
		if n.Kind() == document.KindString && !slices.Contains(known, name) {
			hint := "they have " + strings.Join(slices.Compact(slices.Sorted(slices.Values(known))), ", ")
			if near := document.Suggest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			errs = append(errs, n.Errorf(hint, "the rules have no %s %q", what, name))
		}
	}
	for _, element := range e.elements {
		object, rule := element.Get("object"), element.Get("rule")
		if name, _, _ := strings.Cut(object.Text(), " "); plurals[name] == "" {
			check(object, "resource", name, resources)
		}
		check(rule, "rule", rule.Text(), names)
		if list := element.Get("rules"); list.Kind() == document.KindList {
			for _, each := range list.Elements() {
				check(each, "rule", each.Text(), names)
			}
		}
	}
	for _, lists := range []map[string]any{e.has, e.hasNot} {
		for list := range lists {
			for _, element := range listAt(lists, list) {
				if name, of, _ := strings.Cut(textAt(element, "object"), " "); plurals[name] != "" {
					element.(map[string]any)["object"] = plurals[name] + " " + of //nolint:forcetypeassert // It has a text.
				}
			}
		}
	}
	return errs
}
