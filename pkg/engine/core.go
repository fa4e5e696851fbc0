package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/dependencies"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// core is what all parts of an engine share.
type core struct {
	options Options
	mode    atomic.Int32 // a [mode]; set before anything runs
	active  atomic.Pointer[active]
	cluster
	queue
	memory  memory
	guards  guards
	related *dependencies.Index[Key]
	timers  timers
	synced  syncedCaches
	tidying *tidying
}

// mode is how long an engine runs.
type mode int32

const (
	forever      mode = iota
	untilSettled      // it gives up what does not settle soon, and waits for no timer
	stepwise          // its caller takes each turn and wants it to be predictable; for the rest it settles
)

// runs is how long the engine runs.
func (c *core) runs() mode { return mode(c.mode.Load()) }

// keepsHouse reports whether what rules leave is recorded and cleaned up.
func (c *core) keepsHouse() bool { return c.options.Housekeeping.Inventory != nil }

// log has the fixed keys of an object.
func (c *core) log(key Key) *slog.Logger { return key.Log(c.options.Log) }

// wake has everything looked at that the caches hold by now, and all that they tell from
// now on. Before that nothing is queued: the names of objects that have gone would pile
// up where nobody works on them.
func (c *core) wake() {
	if c.awake.Swap(true) {
		return
	}
	c.began = c.options.Clock.Now()
	now := c.active.Load()
	c.enqueueAll(func(cache informer.Key) bool { return now.watched[cache] }, func(*rules.Rule) bool { return true })
}

// enqueueAll queues all objects of some caches of the rules in effect, and the orphans of some families.
func (c *core) enqueueAll(caches func(informer.Key) bool, families func(*rules.Rule) bool) {
	now := c.active.Load()
	for _, cache := range now.all {
		if !caches(cache) {
			continue
		}
		var keys []Key
		for _, name := range c.caches.Names(cache) {
			keys = append(keys, Key{GVR: cache.GVR, Namespace: name.Namespace, Name: name.Name})
		}
		c.enqueueEach(keys)
	}
	for _, family := range now.families {
		if families(family) {
			c.enqueueEach(c.orphans(family, c.parentsOf))
		}
	}
}

// orphans are those parents of children that no cache has: they went while nobody watched, or before a request that was taken for lost had made
// the child. Before all caches that would show it are complete, none is known.
func (c *core) orphans(family *rules.Rule, parents func(*rules.Rule) []types.UID) (out []Key) {
	unsynced := func(cache informer.Key) bool { return !c.caches.View(cache, "", "").Synced }
	if slices.ContainsFunc(slices.Concat(family.Watches(), family.Children()), unsynced) {
		return nil
	}
	for _, uid := range parents(family) {
		key := Key{GVR: family.Watches()[0].GVR, UID: uid}
		if gone, err := c.nowhere([]*rules.Rule{family}, key); gone && err == nil {
			out = append(out, key)
		}
	}
	return out
}

// incomplete reports whether objects of a cache may still have to be queued for the first
// time.
func (c *core) incomplete(cache informer.Key) bool {
	return !c.synced.get(cache).listed || !c.caches.View(cache, "", "").Synced
}

// setTimer has an object looked at at a moment, instead of at the one that was set before; the zero time is for never. What
// comes soon is left to the queue. There it stays, which costs a look.
func (c *core) setTimer(key Key, at time.Time) {
	c.timers.set(key, at.Round(0)) // Of the wall clock alone.
	if c.runs() == forever && !at.IsZero() && at.Sub(c.options.Clock.Now().Round(0)) <= nap {
		c.timers.set(key, time.Time{})
		c.enqueueAt(Due{key, at})
	}
}

// followTimers queues what is due until the context is done.
func (c *core) followTimers(ctx context.Context) {
	ticker := c.options.Clock.NewTicker(nap)
	defer ticker.Stop()
	for {
		c.queueDue()
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// queueDue queues what comes soon.
func (c *core) queueDue() {
	for _, due := range c.timers.take(c.options.Clock.Now().Add(nap)) {
		c.enqueueAt(due)
	}
}

// guards are what may hold back the writes of an engine, each by its type for who asks it something, and all of them in
// order for the loop.
type guards struct {
	inventory *inventory.Guard // nil where nothing is recorded
	conflicts *conflict.Guard
	breaker   *breaker.Breaker
	limits    *limit.Guard
	all       guard.Chain
}
