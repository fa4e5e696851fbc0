package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
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

// expected judges a case by what it expects itself.
func (c *Case) expected(end ending, result *Result) document.Errors {
	for i := range len(c.Steps) + 1 {
		expect, phase, prefix := c.expect, end.story.Phase, ""
		if i > 0 {
			expect, phase, prefix = c.Steps[i-1].expect, end.story.Steps[i-1].Phase, fmt.Sprintf("after %q, ", c.Steps[i-1])
		}
		tree, err := golden.Tree(phase)
		if err != nil {
			return document.Errors{c.node.Errorf("", "%v", err)}
		}
		happened, _ := tree.(map[string]any)
		objects := []any{}
		for _, name := range slices.Sorted(maps.Keys(end.states[i])) {
			if now, is := end.states[i][name].(map[string]any); is {
				objects = append(objects, map[string]any{"object": name, "now": now})
			}
		}
		happened["objects"] = objects
		fail := func(element any, line string) {
			result.Status = Fail
			result.Differences = append(result.Differences, prefix+line)
			for _, s := range behind(end.story, i, textAt(element, "rule"), textAt(element, "object")) {
				if !slices.ContainsFunc(result.suspects, func(o suspect) bool { return s.rule == o.rule && s.evaluation == o.evaluation }) {
					s.of = prefix + line
					result.suspects = append(result.suspects, s)
				}
			}
		}
		for _, each := range expectable {
			for _, element := range listAt(expect.has, each.list) {
				for _, line := range compare.Missing([]any{element}, happened[each.list]) {
					line = strings.TrimPrefix(strings.TrimPrefix(line, "[0]"), ": ")
					fail(element, tell(each.list, element, element, []string{strings.TrimPrefix(line, ".")})[0])
				}
			}
			for _, element := range listAt(expect.hasNot, each.list) {
				if slices.ContainsFunc(listAt(happened, each.list), func(have any) bool { return len(compare.Missing(element, have)) == 0 }) {
					fail(element, titleOf(each.list, element)+"want nothing like "+compare.Show(element))
				}
			}
		}
	}
	return nil
}

// behind are the rules that have made an object what it is after a phase: the first that decided about it there, or else those of the
// last request to it until then. A rule or an object of no name is any.
func behind(story Story, phase int, rule, object string) (out []suspect) {
	for i := phase; i >= 0 && rule+object != ""; i-- {
		of := story.Phase
		if i > 0 {
			of = story.Steps[i-1].Phase
		}
		for _, d := range of.Decisions {
			if i == phase && (rule == "" || rule == d.Rule) && (object == "" || object == d.Object) {
				return []suspect{{rule: d.Rule, phase: i, evaluation: d.Evaluation}}
			}
		}
		for _, w := range slices.Backward(of.Writes) {
			if object != w.Object || rule != "" && !slices.Contains(w.Rules, rule) {
				continue
			}
			for _, r := range w.Rules {
				out = append(out, suspect{rule: r, phase: i, evaluation: w.Evaluation})
			}
			return out
		}
	}
	return nil
}
