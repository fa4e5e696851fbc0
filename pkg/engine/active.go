package engine

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// active is a set of rules in effect.
type active struct {
	*guard.Rules
	needs
	generations
	families  []rules.Family
	leftovers []plan.Leftover // what the rules may leave on objects
	census    *census         // what was found out of parents that nobody watches
}

// needs are the caches that rules need: of what they watch, and of what they read.
type needs struct {
	all     []informer.Key // those that are watched first
	watched map[informer.Key]bool
	of      map[schema.GroupVersionResource][]informer.Key
	// stored lists the caches of a resource whatever the version in which they read it, and those that are filled beside them
	// for pending rules: what is written must be seen there too.
	stored map[schema.GroupResource][]informer.Key
}

// generations count the changes of the rules.
type generations struct {
	generation int
	changedAt  map[informer.Key]int // the last change of rules that are about the objects of a cache
	since      map[plan.Rule]int    // the one with which a rule came
	conditions map[plan.Rule]int    // the last change of the condition of a rule
}

// activate works out which caches a set of rules needs.
func activate(set *rules.Set) *active {
	a := &active{
		Rules: guard.NewRules(set), families: set.Families(), leftovers: set.Leftovers(), census: newCensus(),
		needs: needs{
			watched: map[informer.Key]bool{}, of: map[schema.GroupVersionResource][]informer.Key{},
		},
		generations: generations{changedAt: map[informer.Key]int{}, since: map[plan.Rule]int{}, conditions: map[plan.Rule]int{}},
	}
	for i, key := range slices.Concat(set.Selections(), set.Related()) {
		if !slices.Contains(a.all, key) {
			a.all = append(a.all, key)
			a.of[key.GVR] = append(a.of[key.GVR], key)
		}
		a.watched[key] = a.watched[key] || i < len(set.Selections())
	}
	return a.beside(a.all)
}

// follow numbers the rules as those that come after others, of which some have changed.
func (a *active) follow(before *active, changed []*rules.Rule) {
	a.generation = before.generation + 1
	a.changedAt = maps.Clone(before.changedAt)
	maps.DeleteFunc(a.changedAt, func(cache informer.Key, _ int) bool { return !a.watched[cache] })
	for cache := range a.concerned(changed) {
		a.changedAt[cache] = a.generation
	}
	for _, rule := range a.IDs() {
		a.since[rule] = cmp.Or(before.since[rule], a.generation)
		a.conditions[rule] = cmp.Or(before.conditions[rule], a.generation)
	}
	for _, rule := range changed {
		if a.since[rule.ID] != 0 && !a.SameCondition(before.Set, rule.ID) {
			a.conditions[rule.ID] = a.generation
		}
	}
}

// concerned are the caches with the objects that rules are about.
func (a *active) concerned(changed []*rules.Rule) map[informer.Key]bool {
	out := map[informer.Key]bool{}
	for _, rule := range changed {
		for _, selection := range rule.Watches() {
			for _, cache := range a.of[selection.GVR] {
				if a.watched[cache] && (cache == selection || rule.Lingers()) {
					out[cache] = true
				}
			}
		}
	}
	return out
}

// holding lists the caches that may have an object.
func (a *active) holding(object plan.Object) []informer.Key {
	all := a.stored[object.GVR.GroupResource()]
	elsewhere := func(cache informer.Key) bool { return cache.Namespace != "" && cache.Namespace != object.Namespace }
	if !slices.ContainsFunc(all, elsewhere) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), elsewhere)
}

// beside returns the same while all of these caches run: other rules may wait for some of them.
func (a *active) beside(all []informer.Key) *active {
	out := *a
	out.stored = map[schema.GroupResource][]informer.Key{}
	for _, key := range all {
		of := key.GVR.GroupResource()
		out.stored[of] = append(out.stored[of], key)
	}
	return &out
}

// wants reports whether a cache is needed.
func (a *active) wants(cache informer.Key) bool { return slices.Contains(a.of[cache.GVR], cache) }

// caches lists all of them, those that are watched first.
func (a *active) caches() []informer.Key { return slices.Clone(a.all) }

// sets are those that there are rules of.
func (a *active) sets() map[plan.Rule]bool {
	out := map[plan.Rule]bool{}
	for _, rule := range a.IDs() {
		out[rule.OfSet()] = true
	}
	return out
}
