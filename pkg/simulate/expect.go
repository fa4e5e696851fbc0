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

// expectable are the lists of a golden, and the fields of their elements.
var expectable = []struct {
	list   string
	fields []string
}{
	{"objects", []string{"object", "now"}},
	{"decisions", []string{"object", "rule", "outcome", "mode", "reason"}},
	{"writes", []string{"object", "rules", "type", "subresource", "manager", "force", "body", "answer"}},
	{"audited", []string{"object", "rules", "type", "subresource", "manager", "force", "body"}},
	{"events", []string{"object", "rule", "type", "reason", "action", "message", "again", "answer"}},
	{"failures", []string{"object", "rules", "error"}},
	{"lookAgainAt", []string{"object", "at"}},
}

// decode is told where it belongs: the case, or a step.
func (e *expectation) decode(n *document.Node) document.Errors {
	errs := n.Decode(document.Optional("has", e.decodeLists(&e.has)), document.Optional("hasNot", e.decodeLists(&e.hasNot)))
	if len(errs)+len(e.elements) == 0 {
		errs = append(errs, n.Errorf("write what it has, or has not, such as has: {events: [{reason: EvenPD}]}", "nothing is expected"))
	}
	return errs
}

func (e *expectation) decodeLists(into *map[string]any) document.Decoder {
	return func(n *document.Node) document.Errors {
		*into, _ = n.Any().(map[string]any)
		var lists []document.Field
		for _, each := range expectable {
			var fields []document.Field
			for _, name := range each.fields {
				fields = append(fields, document.Optional(name, anything))
			}
			lists = append(lists, document.Optional(each.list, func(n *document.Node) document.Errors {
				elements, errs := filled(n)
				for _, element := range elements {
					errs = append(errs, element.Decode(fields...)...)
					if element.Kind() == document.KindMap && len(element.Entries()) == 0 {
						errs = append(errs, element.Errorf("write a part of it, such as "+each.fields[0], "this says nothing"))
					}
				}
				e.elements = append(e.elements, elements...)
				return errs
			}))
		}
		return n.Decode(lists...)
	}
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
