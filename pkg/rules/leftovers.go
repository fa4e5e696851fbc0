package rules

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Leftovers lists what the rules may leave on objects, known from the rules
// alone, sorted and each once. Rules that are suspended or audited are among them:
// they leave nothing new, and what they left before stays theirs.
func (s *Set) Leftovers() []plan.Leftover {
	var out []plan.Leftover
	for _, rule := range s.rules {
		out = append(out, rule.leftovers()...)
	}
	slices.SortFunc(out, plan.Leftover.Compare)
	return out
}

func (r *Rule) leftovers() []plan.Leftover {
	found := map[plan.Leftover]plan.Leftover{}
	for _, leftover := range r.leaves() {
		leftover.Rule, leftover.Account = r.ID, r.Identity()
		for _, leftover.Namespace = range r.namespaces(leftover.GVR) {
			if before, twice := found[leftover.Thing()]; twice {
				leftover = both(before, leftover)
			}
			found[leftover.Thing()] = leftover
		}
	}
	out := make([]plan.Leftover, 0, len(found))
	for _, leftover := range found {
		out = append(out, leftover)
	}
	return out
}

// leaves is what the parts of the rule leave, without the rule and the namespace.
func (r *Rule) leaves() (out []plan.Leftover) {
	if r.holds() {
		for _, gvr := range r.watched {
			out = append(out, plan.Leftover{GVR: gvr, Kind: plan.LeftFinalizer})
		}
	}
	for _, step := range r.effects().steps {
		out = append(out, step.Leaves...)
	}
	return out
}

// both is the one leftover that two parts of a rule leave. Where one of them orphans
// its fields none may be removed: who applied which cannot be told. The actions of a
// rule prune the children of a resource together, and the older of two versions is
// the first to go.
func both(a, b plan.Leftover) plan.Leftover {
	if version.CompareKubeAwareVersionStrings(b.GVR.Version, a.GVR.Version) > 0 {
		a.GVR = b.GVR
	}
	if b.Release == plan.OrphanFields {
		a.Release = b.Release
	}
	a.Prune = a.Prune || b.Prune
	return a
}

// namespaces are those in which the set of the rule may write to a resource: ""
// alone for everywhere.
func (r *Rule) namespaces(of schema.GroupVersionResource) (out []string) {
	for _, declared := range declarations(r.set) {
		if declared.GVR.GroupResource() != of.GroupResource() {
			continue
		}
		for _, selection := range declared.Selections {
			if selection.Namespace == "" {
				return []string{""}
			}
			if !slices.Contains(out, selection.Namespace) {
				out = append(out, selection.Namespace)
			}
		}
	}
	return out
}
