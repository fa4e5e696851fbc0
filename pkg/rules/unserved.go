package rules

import (
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Unserved is a resource that rules name, and that the API server did not serve when they were compiled. It may come. It is an
// error that says so.
type Unserved struct {
	GVR apischema.GroupVersionResource
	// Near is what may have been meant, the zero value for nothing.
	Near apischema.GroupVersionResource
	// Unknown says that no other version of it is served either.
	Unknown bool
	// Rules are those that name it, in their order.
	Rules []plan.Rule
}

// Error says it to the author of the rules.
func (u Unserved) Error() string {
	text := "the API server has no resource " + plan.ResourceName(u.GVR)
	if u.Near != (apischema.GroupVersionResource{}) {
		text += "; did you mean " + plan.ResourceName(u.Near) + "?"
	}
	return text
}

// Unserved lists the resources that rules watch, read or write, and that the API server did not serve when they were compiled,
// in the order of the sets. It is nil without schemas. The slice is shared: read only.
func (s *Set) Unserved() []Unserved {
	if s.unserved == nil {
		return nil
	}
	return s.unserved()
}

// findUnserved has it found out once it is asked for.
func (s *Set) findUnserved(declared []apischema.GroupVersionResource, catalogs map[apischema.GroupVersionResource]*schema.Catalog) {
	if len(declared) == 0 {
		return
	}
	s.unserved = sync.OnceValue(func() (out []Unserved) {
		for _, gvr := range declared {
			one := Unserved{GVR: gvr, Unknown: !catalogs[gvr].HasVersion(gvr.GroupResource())}
			for _, rule := range s.rules {
				if rule.Uses(gvr) {
					one.Rules = append(one.Rules, rule.ID)
				}
			}
			if one.Near, _ = catalogs[gvr].Closest(gvr); len(one.Rules) > 0 {
				out = append(out, one)
			}
		}
		return out
	})
}

// Uses reports whether the rule watches, reads or writes objects of a resource.
func (r *Rule) Uses(gvr apischema.GroupVersionResource) bool {
	return r.Footprint().Lookup(gvr) != nil || slices.ContainsFunc(r.Related(), func(s plan.Selection) bool { return s.GVR == gvr })
}

// Resources lists those that the rule watches, reads or writes, as its set declares them.
func (r *Rule) Resources() (out []apischema.GroupVersionResource) {
	for _, declared := range r.set.Resources {
		if r.Uses(declared.GVR) {
			out = append(out, declared.GVR)
		}
	}
	return distinct(out)
}

// Replaces reports whether the rule may take the place of one that has left something: it has its name, or is of the same set and
// leaves the like, on whatever resource. As long as the rule cannot work, that resource may be a mistake.
func (r *Rule) Replaces(leftover plan.Leftover) bool {
	like := func(l plan.Leftover) bool { return l.Kind == leftover.Kind }
	return r.ID == leftover.Rule || r.ID.OfSet() == leftover.Rule.OfSet() && slices.ContainsFunc(r.leftovers(), like)
}
