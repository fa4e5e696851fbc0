package rules

import (
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Related lists what the rules read besides the objects they watch, each once: by
// with, by apply and by prune. The slice is shared: read only.
func (s *Set) Related() []plan.Selection { return s.related }

// Kinds says what is known of the resources that the sets declare, which is
// nothing without schemas. The map is shared: read only.
func (s *Set) Kinds() map[apischema.GroupVersionResource]plan.Kind { return s.kinds }

// Holds reports whether a rule puts a finalizer on objects of the resource.
func (s *Set) Holds(gvr apischema.GroupVersionResource) bool {
	return slices.ContainsFunc(s.byGVR[gvr], (*Rule).holds)
}

// Prunes reports whether a rule deletes what it has applied for an object of the
// resource once that is gone.
func (s *Set) Prunes(gvr apischema.GroupVersionResource) bool {
	return slices.ContainsFunc(s.byGVR[gvr], func(r *Rule) bool { return len(r.prunes) > 0 })
}

// Family is the children that a rule prunes, and where their parents are.
type Family struct {
	Rule     plan.Rule
	Parents  []plan.Selection
	Children []plan.Selection
}

// Everything is where parents may be that the rule does not select any more: all
// objects of each resource that it watches.
func (f Family) Everything() []plan.Selection { return unfiltered(f.Rule, f.Parents) }

// Families lists what rules prune, in their order.
func (s *Set) Families() []Family {
	var out []Family
	for _, rule := range s.rules {
		var children []plan.Selection
		for _, declared := range rule.prunes {
			children = append(children, declared.Selections...)
		}
		if children != nil && !rule.suspended() && !rule.audited() {
			out = append(out, Family{rule.ID, rule.selections, children})
		}
	}
	return out
}

// Reads lists the selections of all that a rule watches or reads; one may come twice.
func (r *Rule) Reads() []plan.Selection { return slices.Concat(r.selections, r.reads()) }

// reads lists the selections of all that a rule reads but does not watch.
func (r *Rule) reads() []plan.Selection {
	var out []plan.Selection
	related := r.names.Related()
	for _, name := range slices.Sorted(maps.Keys(related)) {
		out = append(out, related[name].Declaration().Selections...)
	}
	for _, step := range r.allSteps() {
		if applied := step.Applies(); applied != nil {
			out = append(out, applied.Of.Selections...)
		}
	}
	return out
}

// kindsOf looks up the resources that the sets declare.
func kindsOf(sets []*spec.Set, known *schema.Catalog) map[apischema.GroupVersionResource]plan.Kind {
	out := map[apischema.GroupVersionResource]plan.Kind{}
	for _, set := range sets {
		for _, declared := range set.Resources {
			if found := known.Resource(declared.GVR); found != nil {
				out[declared.GVR] = plan.Kind{Name: found.Kind, Namespaced: found.Namespaced}
			}
		}
	}
	return out
}

// Holder is a rule that puts a finalizer on what it selects.
type Holder struct {
	Rule       plan.Rule
	Selections []plan.Selection
}

// Holding lists the rules that hold objects and do not select all of a resource, in
// their order: what they select now may be less than what they hold.
func (s *Set) Holding() []Holder {
	var out []Holder
	for _, rule := range s.rules {
		holder := Holder{rule.ID, rule.selections}
		if rule.holds() && len(holder.Everything()) > 0 {
			out = append(out, holder)
		}
	}
	return out
}

// Everything is what the rule would select without selectors, for each resource of
// which it does not select that.
func (h Holder) Everything() []plan.Selection {
	return slices.DeleteFunc(unfiltered(h.Rule, h.Selections), func(all plan.Selection) bool {
		return slices.Contains(h.Selections, all)
	})
}

// unfiltered is what a rule would select without selectors, each resource once.
func unfiltered(rule plan.Rule, selections []plan.Selection) []plan.Selection {
	var out []plan.Selection
	for _, selection := range selections {
		all := plan.Selection{GVR: selection.GVR, Namespace: rule.Namespace}
		if !slices.Contains(out, all) {
			out = append(out, all)
		}
	}
	return out
}
