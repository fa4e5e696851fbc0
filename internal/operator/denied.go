package operator

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// denied are the caches of the rules that may not be had, and why.
func (t *tenant) denied() map[informer.Key]error {
	if err := t.gate.err(); err != nil {
		return t.refused(err)
	}
	out := maps.Clone(t.large)
	if out == nil {
		out = map[informer.Key]error{}
	}
	for _, key := range t.caches() {
		for _, missing := range t.verdict.Missing {
			if reads(missing, key) {
				out[key] = fmt.Errorf("%s may not %s", accountName(t.account), missing)
				break
			}
		}
	}
	return out
}

// refused denies all caches.
func (t *tenant) refused(err error) map[informer.Key]error {
	out := map[informer.Key]error{}
	for _, key := range t.caches() {
		out[key] = err
	}
	return out
}

// caches are those that the rules want, and those that stay in effect until the others
// have their caches.
func (t *tenant) caches() []informer.Key {
	if t.set == nil {
		return nil
	}
	all := map[informer.Key]bool{}
	for _, set := range []*rules.Set{t.set, t.engine.Rules()} {
		for _, selection := range slices.Concat(set.Selections(), set.Related()) {
			all[informer.Key(selection)] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}

// reads reports whether a cache cannot be filled, or kept, without a permission.
func reads(p plan.Permission, key informer.Key) bool {
	return (p.Verb == "list" || p.Verb == "watch") && p.Subresource == "" &&
		p.Resource == key.GVR.GroupResource() && p.Namespace == key.Namespace &&
		(p.Name == "" || key.FieldSelector == "metadata.name="+p.Name)
}
