package rules

import (
	"cmp"
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Join returns one set of all rules of the sets, in their order of precedence. Nil
// sets are passed over. No rule may be in two of them, which is for the caller to
// see to: it would be carried out twice. What two sets know of a resource is taken
// from the first.
func Join(sets ...*Set) *Set {
	sets = slices.DeleteFunc(slices.Clone(sets), func(s *Set) bool { return s == nil })
	var all []*Rule
	var warnings document.Errors
	kinds := map[apischema.GroupVersionResource]plan.Kind{}
	for _, set := range sets {
		all = append(all, set.rules...)
		warnings = append(warnings, set.warnings...)
		for gvr, kind := range set.kinds {
			if _, known := kinds[gvr]; !known {
				kinds[gvr] = kind
			}
		}
	}
	out := newSet(all)
	out.kinds, out.warnings = kinds, warnings.Sorted()
	for _, set := range sets {
		out.schemas = append(out.schemas, set.schemas...)
	}
	return out
}

// Of returns the set of the rules that act as one identity, with what is known of
// their resources and the warnings in their files. It may have no rules.
func (s *Set) Of(identity types.NamespacedName) *Set {
	return s.Only(func(rule *Rule) bool { return rule.Identity() == identity })
}

// Only returns the set of the rules that are to be kept, with the same of them.
func (s *Set) Only(keep func(*Rule) bool) *Set {
	var own []*Rule
	files := map[string]bool{}
	kinds := map[apischema.GroupVersionResource]plan.Kind{}
	for _, rule := range s.rules {
		if !keep(rule) {
			continue
		}
		own = append(own, rule)
		files[rule.Place().File] = true
		for _, declared := range rule.set.Resources {
			if kind, known := s.kinds[declared.GVR]; known {
				kinds[declared.GVR] = kind
			}
		}
	}
	out := newSet(own)
	out.kinds, out.schemas = kinds, s.schemas
	for _, warning := range s.warnings {
		if files[warning.File] {
			out.warnings = append(out.warnings, warning)
		}
	}
	return out
}

// Identities lists the ServiceAccounts that the rules act as, sorted. The empty one
// is among them where rules act as the process itself.
func (s *Set) Identities() []types.NamespacedName {
	found := map[types.NamespacedName]bool{}
	for _, rule := range s.rules {
		found[rule.Identity()] = true
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
