package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// Caches is what the engine needs of [informer.Set].
type Caches interface {
	Seen
	// Want runs exactly these caches, but for those that are denied.
	Want(keys []informer.Key) error
	// Deny drops those of the wanted caches that are denied, and runs the others. When it
	// returns nothing of what was dropped is shown, nor told to be complete.
	Deny(denied map[informer.Key]error) error
	Stop()
}

// Seen is what caches show of the cluster.
type Seen interface {
	relation.Source
	Listed
	Following
	View(key informer.Key, namespace, name string) informer.View
}

// Following is how far caches follow the API server.
type Following interface {
	// Version is the resourceVersion up to which a cache is complete, empty where it
	// is not synced.
	Version(key informer.Key) string
	// Fresh reports whether a cache shows all that the API server had at a moment less than
	// [informer.MaxStaleness] ago, and returns that moment. It does not wait.
	Fresh(key informer.Key) (at time.Time, fresh bool)
	// Relist has a cache listed anew that was found to lack something.
	Relist(key informer.Key)
}

// Listed is which objects are in a cache.
type Listed interface {
	Names(key informer.Key) []types.NamespacedName
	// Count is how many objects a cache has; it is asked often.
	Count(key informer.Key) int
}

// Live reads from the API server itself, past the caches.
type Live interface {
	// Get returns nil where there is no such object.
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
	Read(ctx context.Context, q plan.Read) ([]map[string]any, error)
	// List visits the objects of a selection; one may be visited twice.
	List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error
}

// active is a set of rules in effect, with the caches that it needs.
type active struct {
	set   *rules.Set
	rules *guard.Rules
	// generation counts the changes of the rules. changedAt has that of the last change of rules that are about the
	// objects of a cache, since that with which each rule came, and conditions that of the last change of its condition.
	generation int
	changedAt  map[informer.Key]int
	since      map[plan.Rule]int
	conditions map[plan.Rule]int
	watched    map[informer.Key]bool
	all        []informer.Key               // those that are watched first
	filters    map[informer.Key]plan.Filter // those of all, parsed once
	// of lists the caches of each resource.
	of map[schema.GroupVersionResource][]informer.Key
	// stored lists them whatever the version in which they read it, and those that are
	// filled beside them for rules to come: what is written must be seen there too.
	stored   map[schema.GroupResource][]informer.Key
	families []rules.Family
	// leftovers are what the rules may leave on objects.
	leftovers []plan.Leftover
	sets      map[plan.Rule]bool // that there are
	// census has what was found out of parents that nobody watches.
	census *census
}

// activate works out which caches a set of rules needs: of what it watches, and of
// what it reads.
func activate(set *rules.Set) *active {
	a := &active{
		set: set, rules: guard.NewRules(set), families: set.Families(), leftovers: set.Leftovers(), sets: map[plan.Rule]bool{},
		changedAt: map[informer.Key]int{}, since: map[plan.Rule]int{}, conditions: map[plan.Rule]int{}, watched: map[informer.Key]bool{},
		filters: map[informer.Key]plan.Filter{}, of: map[schema.GroupVersionResource][]informer.Key{},
		stored: map[schema.GroupResource][]informer.Key{}, census: newCensus(),
	}
	for _, rule := range set.Rules() {
		a.sets[rule.ID.OfSet()] = true
	}
	add := func(selection plan.Selection) informer.Key {
		key := informer.Key(selection)
		if a.filters[key] == nil {
			a.filters[key] = selection.Filter()
			a.all = append(a.all, key)
			a.of[key.GVR] = append(a.of[key.GVR], key)
			a.stored[key.GVR.GroupResource()] = append(a.stored[key.GVR.GroupResource()], key)
		}
		return key
	}
	for _, selection := range set.Selections() {
		a.watched[add(selection)] = true
	}
	for _, selection := range set.Related() {
		add(selection)
	}
	return a
}

// follow numbers the rules as those that come after others, of which some have changed.
func (a *active) follow(before *active, changed []*rules.Rule) {
	a.generation = before.generation + 1
	a.changedAt = maps.Clone(before.changedAt)
	maps.DeleteFunc(a.changedAt, func(cache informer.Key, _ int) bool { return !a.watched[cache] })
	for cache := range a.concerned(changed) {
		a.changedAt[cache] = a.generation
	}
	for _, rule := range a.set.IDs() {
		a.since[rule] = cmp.Or(before.since[rule], a.generation)
		a.conditions[rule] = cmp.Or(before.conditions[rule], a.generation)
	}
	for _, rule := range changed {
		if a.since[rule.ID] != 0 && !a.set.SameCondition(before.set, rule.ID) {
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
				if a.watched[cache] && (cache == informer.Key(selection) || rule.Lingers()) {
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

// admits reports whether an object is among what a cache lists.
func (a *active) admits(cache informer.Key, object map[string]any) bool {
	if filter := a.filters[cache]; filter != nil {
		return filter(object)
	}
	return plan.Selection(cache).Admits(object) // Only rules that wait to take effect want it.
}

// beside returns the same with caches that other rules wait for.
func (a *active) beside(others []informer.Key) *active {
	out := *a
	out.stored = map[schema.GroupResource][]informer.Key{}
	for _, key := range slices.Concat(a.all, others) {
		of := key.GVR.GroupResource()
		out.stored[of] = append(out.stored[of], key)
	}
	return &out
}

// wants reports whether a cache is needed.
func (a *active) wants(cache informer.Key) bool { return slices.Contains(a.of[cache.GVR], cache) }

// caches lists all of them, those that are watched first.
func (a *active) caches() []informer.Key { return slices.Clone(a.all) }
