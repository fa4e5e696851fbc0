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
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// active is a set of rules in effect.
type active struct {
	*guard.Rules
	needs
	generations
	families  []*rules.Rule
	leftovers []plan.Leftover // what the rules may leave on objects
	census    *census         // what was found out of parents that nobody watches
}

// needs are the caches that rules need: of what they watch, and of what they read.
type needs struct {
	all     []informer.Key // those that are watched first
	watched map[informer.Key]bool
	filters map[informer.Key]plan.Filter // those of all, parsed once: an object may be in one of hundreds of caches
	of      map[schema.GroupVersionResource][]informer.Key
	keeps   informer.Keeps // what the rules read and write
	// running are all, and those that are filled beside them for pending rules: what is written must be seen there too.
	running   []informer.Key
	runningOf map[schema.GroupResource][]informer.Key
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
		Rules: guard.NewRules(set), families: set.Families(), leftovers: set.Leftovers(), census: &census{},
		needs: needs{
			watched: map[informer.Key]bool{}, filters: map[informer.Key]plan.Filter{},
			of: map[schema.GroupVersionResource][]informer.Key{},
		},
		generations: generations{changedAt: map[informer.Key]int{}, since: map[plan.Rule]int{}, conditions: map[plan.Rule]int{}},
	}
	for i, key := range slices.Concat(set.Selections(), set.Related()) {
		if a.filters[key] == nil {
			a.filters[key] = key.Parse().Admits
			a.all = append(a.all, key)
			a.of[key.GVR] = append(a.of[key.GVR], key)
		}
		a.watched[key] = a.watched[key] || i < len(set.Selections())
	}
	a.keeps = keepsOf(set)
	a.run(a.all)
	return a
}

// run has these caches run.
func (n *needs) run(caches []informer.Key) {
	n.running, n.runningOf = caches, map[schema.GroupResource][]informer.Key{}
	for _, cache := range caches {
		of := cache.GVR.GroupResource()
		n.runningOf[of] = append(n.runningOf[of], cache)
	}
}

// keepsOf are what caches keep for a set of rules.
func keepsOf(set *rules.Set) informer.Keeps {
	out := informer.Keeps{}
	for _, access := range set.Footprint().All() {
		out[access.Resource] = projection.New(access.Kept())
	}
	return out
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

// holding lists the caches that may have an object, whatever the version in which they read it.
func (a *active) holding(object plan.Object) (out []informer.Key) {
	for _, cache := range a.runningOf[object.GVR.GroupResource()] {
		if cache.Namespace == "" || cache.Namespace == object.Namespace {
			out = append(out, cache)
		}
	}
	return out
}

// compared is what of an object is compared when it was written. Caches of another version, and of rules that wait to take effect, may
// select by fields of their own.
func (n *needs) compared(gvr schema.GroupVersionResource) *projection.Fields {
	other := func(cache informer.Key) bool {
		return cache.GVR != gvr || cache.FieldSelector != "" && n.filters[cache] == nil
	}
	if slices.ContainsFunc(n.runningOf[gvr.GroupResource()], other) {
		return nil
	}
	return n.keeps[gvr]
}

// admits reports whether an object is among what a cache lists.
func (a *active) admits(cache informer.Key, object map[string]any) bool {
	if filter := a.filters[cache]; filter != nil {
		return filter(object)
	}
	return cache.Admits(object) // Only rules that wait to take effect want it.
}

// sees reports whether the rules find an object where they have looked for it.
func (a *active) sees(unseen *plan.Unseen, object map[string]any) bool {
	return slices.ContainsFunc(unseen.From, func(s plan.Selection) bool { return a.admits(s, object) })
}

// sets are those that there are rules of.
func (a *active) sets() map[plan.Rule]bool {
	out := map[plan.Rule]bool{}
	for _, rule := range a.IDs() {
		out[rule.OfSet()] = true
	}
	return out
}
