package rules

import (
	"reflect"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// SameCondition reports whether a rule is in both sets and matches the same
// objects in both: since when it holds is the same then, whatever it does.
func (s *Set) SameCondition(other *Set, id plan.Rule) bool {
	here, there := s.rule(id), other.rule(id)
	return here != nil && there != nil && reflect.DeepEqual(here.condition(), there.condition())
}

// Watches reports whether a rule watches one of the selections.
func (s *Set) Watches(id plan.Rule, selections []plan.Selection) bool {
	rule := s.rule(id)
	return rule != nil && rule.watches(selections)
}

func (s *Set) rule(id plan.Rule) *Rule {
	at := slices.IndexFunc(s.rules, func(r *Rule) bool { return r.ID == id })
	if at < 0 {
		return nil
	}
	return s.rules[at]
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
