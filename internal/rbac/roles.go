// Package rbac writes the rights that rules need as roles of Kubernetes, which a person
// can review: least, merged where that widens nothing, and with the rules that need them.
package rbac

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Grant is what an account needs.
type Grant struct {
	// Account is the ServiceAccount that the roles are bound to, empty to bind them to none.
	Account types.NamespacedName
	// Needs may have a right more than once, each time for other rules.
	Needs []rules.Need
}

// name is that of all roles and bindings of the grant. A colon can be in no name of an
// account or a namespace, so that two accounts never share one.
func (g Grant) name() string {
	if g.Account == (types.NamespacedName{}) {
		return "dyncontroller-rules"
	}
	return "dyncontroller:" + g.Account.Namespace + ":" + g.Account.Name
}

// role is what a grant takes in one namespace, or with an empty one in all of the cluster.
type role struct {
	namespace string
	rules     []*rule
}

// rule is one of a role: all of its verbs on all of its resources.
type rule struct {
	group     string
	resources []string // with their subresource, sorted
	names     []string // of objects, sorted, none for all; then there is one resource
	verbs     []string
	needed    map[string]map[string]bool // by verb, the rules that need it
}

// roles are those of the grant, the one of the cluster first.
func (g Grant) roles() []role {
	merged := map[string]map[string]*rule{} // by namespace and what may be merged
	for object, verbs := range byObject(needed(g.Needs)) {
		in := merged[object.namespace]
		if in == nil {
			in = map[string]*rule{}
			merged[object.namespace] = in
		}
		key := object.mergeable(verbs)
		if in[key] == nil {
			in[key] = &rule{group: object.group, verbs: slices.SortedFunc(maps.Keys(verbs), compareVerbs), needed: map[string]map[string]bool{}}
		}
		in[key].add(object, verbs)
	}
	out := make([]role, 0, len(merged))
	for _, namespace := range slices.Sorted(maps.Keys(merged)) {
		one := role{namespace: namespace}
		for _, r := range merged[namespace] {
			one.rules = append(one.rules, r)
		}
		slices.SortFunc(one.rules, (*rule).compare)
		out = append(out, one)
	}
	return out
}

// needed are the rights with the rules that need them, but for those that a wider one
// includes: the rules need that one.
func needed(needs []rules.Need) map[plan.Permission]map[string]bool {
	all := map[plan.Permission]bool{}
	for _, need := range needs {
		all[need.Permission] = true
	}
	out := map[plan.Permission]map[string]bool{}
	for _, need := range needs {
		p := widest(need.Permission, all)
		if out[p] == nil {
			out[p] = map[string]bool{}
		}
		for _, id := range need.Rules {
			out[p][id.String()] = true
		}
	}
	return out
}

// widest is the widest of all rights that includes the right.
func widest(p plan.Permission, all map[plan.Permission]bool) plan.Permission {
	everywhere, anyName := p, p
	everywhere.Namespace, anyName.Name = "", ""
	anything := everywhere
	anything.Name = ""
	for _, wider := range []plan.Permission{anything, everywhere, anyName} {
		if all[wider] {
			return wider
		}
	}
	return p
}

// object is what verbs are about.
type object struct{ namespace, group, resource, name string }

// byObject are the verbs for each object, and the rules that need them.
func byObject(needed map[plan.Permission]map[string]bool) map[object]map[string]map[string]bool {
	out := map[object]map[string]map[string]bool{}
	for p, of := range needed {
		resource := p.Resource.Resource
		if p.Subresource != "" {
			resource += "/" + p.Subresource
		}
		on := object{namespace: p.Namespace, group: p.Resource.Group, resource: resource, name: p.Name}
		if out[on] == nil {
			out[on] = map[string]map[string]bool{}
		}
		out[on][p.Verb] = of
	}
	return out
}

// mergeable is the same for objects in a namespace that can be in one rule, without that
// it allows more: resources with the same verbs, or the objects of a resource.
func (o object) mergeable(verbs map[string]map[string]bool) string {
	parts := append([]string{o.group}, slices.Sorted(maps.Keys(verbs))...)
	if o.name != "" {
		parts = append(parts, "", o.resource)
	}
	return strings.Join(parts, "\x00")
}

// add merges an object in, which has the same verbs.
func (r *rule) add(o object, verbs map[string]map[string]bool) {
	r.resources = with(r.resources, o.resource)
	if o.name != "" {
		r.names = with(r.names, o.name)
	}
	for verb, of := range verbs {
		if r.needed[verb] == nil {
			r.needed[verb] = map[string]bool{}
		}
		maps.Copy(r.needed[verb], of)
	}
}

// with adds to a sorted list what is not in it.
func with(sorted []string, one string) []string {
	at, found := slices.BinarySearch(sorted, one)
	if found {
		return sorted
	}
	return slices.Insert(sorted, at, one)
}

func (r *rule) compare(other *rule) int {
	return cmp.Or(
		cmp.Compare(r.group, other.group),
		slices.Compare(r.resources, other.resources),
		slices.Compare(r.names, other.names),
		slices.CompareFunc(r.verbs, other.verbs, compareVerbs),
	)
}

// compareVerbs orders verbs as people write them: what reads, then what writes.
func compareVerbs(a, b string) int {
	usual := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	return cmp.Or(cmp.Compare(slices.Index(usual, a), slices.Index(usual, b)), cmp.Compare(a, b))
}
