package rules

import (
	"cmp"
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
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
	catalogs := map[apischema.GroupVersionResource]*schema.Catalog{}
	var first *schema.Catalog
	for _, set := range sets {
		first = cmp.Or(first, set.first)
		all = append(all, set.rules...)
		warnings = append(warnings, set.warnings...)
		for gvr, kind := range set.kinds {
			if _, known := kinds[gvr]; !known {
				kinds[gvr], catalogs[gvr] = kind, set.catalog(gvr)
			}
		}
	}
	out := newSet(all)
	out.kinds, out.catalogs, out.first, out.warnings = kinds, catalogs, first, warnings.Sorted()
	return out
}

// Of returns the set of the rules that act as one identity, with what is known of
// their resources and the warnings in their files. It may have no rules.
func (s *Set) Of(identity types.NamespacedName) *Set {
	return s.Only(func(rule *Rule) bool { return rule.Identity() == identity })
}

// ByIdentity returns the same for each identity that has rules.
func (s *Set) ByIdentity() map[types.NamespacedName]*Set {
	all := map[types.NamespacedName][]*Rule{}
	for _, rule := range s.rules {
		all[rule.Identity()] = append(all[rule.Identity()], rule)
	}
	out := make(map[types.NamespacedName]*Set, len(all))
	for identity, own := range all {
		out[identity] = s.of(own)
	}
	return out
}

// Only returns the set of the rules that are to be kept, with the same of them.
func (s *Set) Only(keep func(*Rule) bool) *Set {
	return s.of(slices.DeleteFunc(slices.Clone(s.rules), func(rule *Rule) bool { return !keep(rule) }))
}

// of is the set of some of the rules.
func (s *Set) of(own []*Rule) *Set {
	out := newSet(own)
	out.catalogs, out.first, out.kinds = s.catalogs, s.first, map[apischema.GroupVersionResource]plan.Kind{}
	files := map[string]bool{}
	for _, rule := range own {
		if len(s.warnings) > 0 { // To tell where a rule is takes time.
			files[rule.Place().File] = true
		}
		for _, declared := range rule.set.Resources {
			if kind, known := s.kinds[declared.GVR]; known {
				out.kinds[declared.GVR] = kind
			}
		}
	}
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
