package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// guards are what may hold back the writes of an engine, each by its type for who asks it something, and all of them in
// order for the loop.
type guards struct {
	inventory *inventory.Guard // nil where nothing is recorded
	conflicts *conflict.Guard
	breaker   *breaker.Breaker
	limits    *limit.Guard
	all       guard.Chain
}

// newGuards is the list of guards. The limits come last: what they grant counts, and the breaker is not to take a rule that is
// paused for one that has left something unfinished.
func newGuards(e *Engine, spread breaker.Spread) guards {
	o := e.options
	g := guards{
		conflicts: conflict.New(o.Clock, o.Live, e.lookAtObjects, o.Log),
		breaker:   breaker.New(o.Clock, o.Log, spread),
		limits:    limit.NewGuard(o.Clock, limitHost{e}, o.Log),
	}
	if o.Housekeeping.Inventory != nil {
		g.inventory = &inventory.Guard{}
		g.all = append(g.all, g.inventory)
	}
	g.all = append(g.all, g.conflicts, g.breaker, workers.Capacity{Pool: e.workers}, g.limits)
	return g
}

// Quarantined lists the rules that keep failing, in the order of the objects and rules.
func (e *Engine) Quarantined() []breaker.Circuit { return e.guards.breaker.List() }

// QuarantinedObjects counts the objects for which each rule is in quarantine. The zero rule stands for those that could not
// be looked at.
func (e *Engine) QuarantinedObjects() map[plan.Rule]int { return e.guards.breaker.Counts() }

// Contests lists what rules write and others undo again and again, or they themselves, by the objects that are written to.
func (e *Engine) Contests() []conflict.Conflict { return e.guards.conflicts.Conflicts() }

// Paused lists the rules that are paused, in order.
func (e *Engine) Paused() []limit.Pause { return e.guards.limits.All() }

// Resume says which rules somebody asks to resume from now on, besides what their documents say. One that was asked since
// before it paused has to be left out once.
func (e *Engine) Resume(asked []plan.Rule) {
	e.swap.Lock()
	defer e.swap.Unlock()
	e.guards.limits.Ask(asked)
}

// lookAtObjects queues objects, in each version in which they are watched.
func (e *Engine) lookAtObjects(objects []guard.Object) {
	for gvr := range e.active.Load().of {
		for _, object := range objects {
			key := Key{GVR: gvr, Namespace: object.Namespace, Name: object.Name}
			if key.Object() == object {
				e.enqueue(key)
			}
		}
	}
}

// limitHost is what limits need of an engine. It implements [limit.Host].
type limitHost struct{ engine *Engine }

// Count implements [limit.Host].
func (h limitHost) Count(selection plan.Selection) (objects int, all bool) {
	cache := informer.Key(selection)
	all = h.engine.caches.View(cache, "", "").Synced // First: what is synced later may not be counted.
	return h.engine.caches.Count(cache), all
}

// Names implements [limit.Host].
func (h limitHost) Names(selection plan.Selection) []types.NamespacedName {
	return h.engine.caches.Names(informer.Key(selection))
}

// LookAt implements [limit.Host].
func (h limitHost) LookAt(keys []Key) { h.engine.enqueueEach(keys) }

// LookAgain implements [limit.Host].
func (h limitHost) LookAgain(resumed []*rules.Rule) {
	e := h.engine
	for _, rule := range resumed {
		for _, selection := range rule.Watches() {
			e.enqueueAll(informer.Key(selection))
		}
	}
	for _, family := range e.active.Load().families {
		e.enqueueOrphans(family)
	}
	e.enqueueEach(e.memory.keys()) // Among them what is gone.
}

// Save implements [limit.Host].
func (h limitHost) Save() bool {
	if h.engine.house == nil {
		return false
	}
	h.engine.open.keepHouse()
	h.engine.house.wake()
	return true
}

// Paused implements [limit.Host].
func (h limitHost) Paused(pause limit.Pause) {
	if h.engine.options.Paused != nil {
		h.engine.options.Paused(pause)
	}
}

// Resumed implements [limit.Host].
func (h limitHost) Resumed(rule plan.Rule) {
	if h.engine.options.Resumed != nil {
		h.engine.options.Resumed(rule)
	}
}
