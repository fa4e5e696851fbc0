package operator

import (
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// lacks returns those of the missing permissions that are for what the API server serves. An authorizer knows nothing of whether there
// is a resource: who reads that a right to it is missing looks for the mistake in the wrong place. The lock is held.
func (t *tenant) lacks(missing []plan.Permission) []plan.Permission {
	unknown := map[apischema.GroupResource]bool{}
	if t.set != nil {
		for _, resource := range t.set.Unserved() {
			unknown[resource.GVR.GroupResource()] = resource.Unknown
		}
	}
	return slices.DeleteFunc(slices.Clone(missing), func(p plan.Permission) bool { return unknown[p.Resource] })
}

// unservedBy maps the resources that rules name and the API server does not serve to what says so.
func unservedBy(set *rules.Set) map[apischema.GroupVersionResource]error {
	out := map[apischema.GroupVersionResource]error{}
	for _, resource := range set.Unserved() {
		out[resource.GVR] = resource
	}
	return out
}

// keep notes of which sets nothing is cleaned up because rules of them cannot work, and why.
func (b *book) keep(why map[plan.Rule]error) {
	b.mu.Lock()
	all := slices.Collect(maps.Keys(b.kept))
	b.mu.Unlock()
	for _, set := range all {
		if why[ruleOf(set)] == nil {
			b.note(b.kept, set, nil)
		}
	}
	for set, err := range why {
		b.note(b.kept, keyOf(set), err)
	}
}

// keeps is why nothing is cleaned up of a set, nil where that is done.
func (b *book) keeps(set source.Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[set]
}
