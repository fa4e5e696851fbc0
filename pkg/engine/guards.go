package engine

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// newGuards is the list of guards. The limits come last: what they grant counts, and the breaker is not to take a rule that is
// paused for one that has left something unfinished. Conflicts come right before, as they may read live what is about to be sent.
func newGuards(c *core, pool *workers.Pool, jitter func(time.Duration) time.Duration) guards {
	o := c.options
	g := guards{
		conflicts: conflict.New(o.Clock, o.Live, o.Shared.made, o.Log),
		breaker:   breaker.New(o.Clock, o.Log, jitter),
		limits:    limit.NewGuard(o.Shared.limits, o.Clock, limitHost{c}, o.Observer, o.Log),
	}
	if o.Housekeeping.Inventory != nil {
		g.inventory = &inventory.Guard{}
		g.all = append(g.all, g.inventory)
	}
	g.all = append(g.all, g.breaker, pool, g.conflicts, g.limits)
	return g
}

// limitHost is what limits need of an engine. It implements [limit.Host].
type limitHost struct{ *core }

// Watched implements [limit.Caches].
func (h limitHost) Watched(selections []plan.Selection) (objects int, all bool) {
	all = true
	seen := sets.New[plan.Object]()
	for _, selection := range selections {
		all = h.caches.View(selection, "", "").Synced && all // First: what is synced later may not be counted.
		if len(selections) == 1 {
			return h.caches.Count(selection), all
		}
		for _, name := range h.caches.Names(selection) {
			seen.Insert(plan.Object{GVR: selection.GVR, Namespace: name.Namespace, Name: name.Name})
		}
	}
	return seen.Len(), all
}

// takeOverLongest is how long the caches of a new leader may take to show what the leader before has done. One that takes longer is listed
// anew: its API server may send no bookmarks, and then nothing but a list tells how far the cache has come.
const takeOverLongest = 90 * time.Second

// HasTakenOver implements [limit.Caches]. Of versions that cannot be compared it is never known, so they are left out.
func (h limitHost) HasTakenOver(selections []plan.Selection) bool {
	all := true
	for _, cache := range selections {
		version := h.caches.Version(cache)
		_, err := resourceversion.CompareResourceVersion(version, version)
		switch {
		case !h.caches.View(cache, "", "").Synced:
			all = false
		case err != nil:
		case !h.hasTakenOver([]plan.Read{{From: []plan.Selection{cache}}}):
			if all = false; h.age(h.began) > takeOverLongest {
				h.caches.Relist(cache)
			}
		}
	}
	return all
}

// LookAt implements [limit.Host].
func (h limitHost) LookAt(keys []Key) { h.enqueueEach(keys) }

// LookAgain implements [limit.Host].
func (h limitHost) LookAgain(selections []plan.Selection) {
	h.enqueueAll(func(cache informer.Key) bool { return slices.Contains(selections, cache) }, func(*rules.Rule) bool { return true })
	h.enqueueEach(h.memory.keys()) // Among them what is gone.
}

// Save implements [limit.Host].
func (h limitHost) Save() {
	if h.keepsHouse() {
		h.tracker.keepHouse()
		h.tidying.wake()
	}
}
