package rules

import (
	"reflect"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// SameCondition reports whether a rule is in both sets and matches the same
// objects in both: since when it holds is the same then, whatever it does.
func (s *Set) SameCondition(other *Set, id plan.Rule) bool {
	here, there := s.byID[id], other.byID[id]
	return here != nil && there != nil && reflect.DeepEqual(here.condition(), there.condition())
}

// Changes lists the rules of both sets that are not the same in both: those that are new, those that are gone, and
// both versions of those that want something else. Where the rules that stay have another order, these are all rules:
// the order decides conflicts.
func Changes(before, after *Set) []*Rule {
	was := make(map[plan.Rule]*Rule, len(before.rules))
	for _, rule := range before.rules {
		was[rule.ID] = rule
	}
	schemas := map[apischema.GroupVersionResource]bool{}
	sameSchema := func(gvr apischema.GroupVersionResource) bool {
		same, known := schemas[gvr]
		if !known {
			same = before.sameSchema(after, gvr)
			schemas[gvr] = same
		}
		return same
	}
	var out, stay []*Rule
	for _, rule := range after.rules {
		switch earlier := was[rule.ID]; {
		case earlier == nil:
			out = append(out, rule)
		case !rule.same(earlier, sameSchema):
			out = append(out, earlier, rule)
		default:
			stay = append(stay, earlier)
		}
		delete(was, rule.ID)
	}
	for _, rule := range before.rules {
		switch {
		case was[rule.ID] != nil:
			out = append(out, rule)
		case len(stay) > 0 && stay[0] == rule:
			stay = stay[1:]
		}
	}
	if len(stay) > 0 {
		return slices.Concat(before.rules, after.rules)
	}
	return out
}

// same reports whether the rule wants the same as it did before.
func (r *Rule) same(before *Rule, sameSchema func(apischema.GroupVersionResource) bool) bool {
	return (r == before || r.Digest() == before.Digest()) &&
		!slices.ContainsFunc(r.set.Resources, func(declared spec.Resource) bool { return !sameSchema(declared.GVR) })
}

// Watches reports whether a rule watches one of the selections.
func (s *Set) Watches(id plan.Rule, selections []plan.Selection) bool {
	rule := s.byID[id]
	return rule != nil && rule.watches(selections)
}

// Watching lists the rules that watch one of the selections, which are of one resource.
func (s *Set) Watching(selections []plan.Selection) []plan.Rule {
	var out []plan.Rule
	for _, rule := range s.byGVR[selections[0].GVR] {
		if rule.watches(selections) {
			out = append(out, rule.ID)
		}
	}
	return out
}

// condition is what decides whether the rule matches, as it was written.
func (r *Rule) condition() []any {
	out := []any{r.set.Resources, r.params, written(r.set.Let)}
	for _, field := range []string{"watch", "with", "let", "when"} {
		out = append(out, r.source.Node().Get(field).Any())
	}
	return out
}

func written(definitions []spec.Definition) map[string]any {
	out := map[string]any{}
	for _, d := range definitions {
		out[d.Name] = d.Value.Any()
	}
	return out
}
