package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// PendingLongest is how long rules wait for caches that are filled beside those of the rules in effect.
const PendingLongest = 5 * time.Second

// loader puts rules into effect, at once or when their caches are complete.
type loader struct {
	*core
	changed chan struct{} // has a value when pending rules may wait for something else

	mu      sync.Mutex // one change of the rules or of what is denied at a time
	pending *active    // rules that wait for their caches, nil for none; guarded by mu
	until   time.Time  // when pending rules wait no more; guarded by mu
}

// set is [Engine.SetRules].
func (l *loader) set(set *rules.Set) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tidying.halt()
	defer l.tidying.resume()
	before, next := l.active.Load(), activate(set)
	if !l.awake.Load() || l.runs() == stepwise || len(before.all) == 0 {
		l.putIntoEffect(next)
		return
	}
	beside := *before
	beside.run(slices.Concat(before.all, others(before, next)))
	l.active.Store(&beside)
	l.synced.want(beside.running)
	l.caches.Want(beside.running, before.keeps.Union(next.keeps), true)
	if len(l.missing(next)) == 0 {
		l.putIntoEffect(next)
		return
	}
	if l.pending == nil { // Who changes rules all the time would never see any of them otherwise.
		l.until = l.options.Clock.Now().Add(PendingLongest)
	}
	l.pending = next
	l.checkPending()
}

// missing are the caches that rules wait for before they take the place of those in effect: those that there are not yet, and
// those that do not keep yet what the rules read. The lock of the rules is held, as by all that follow.
func (l *loader) missing(next *active) []informer.Key {
	before := l.active.Load()
	return slices.DeleteFunc(slices.Clone(next.all), func(key informer.Key) bool {
		if before.filters[key] == nil {
			return !l.synced.get(key).waits()
		}
		return !l.caches.View(key, "", "").Narrow
	})
}

// others are the caches that rules need and those before do not.
func others(before, next *active) []informer.Key {
	return slices.DeleteFunc(slices.Clone(next.all), func(key informer.Key) bool { return before.filters[key] != nil })
}

// putIntoEffect puts rules into effect. Objects are looked at again that rules are about which have changed; the same set once
// more has all of them looked at.
func (l *loader) putIntoEffect(now *active) {
	l.pending = nil
	before := l.active.Load()
	changed := now.Set.Rules()
	if before.Set != now.Set {
		changed = rules.Changes(before.Set, now.Set)
	}
	now.follow(before, changed)
	l.active.Store(now) // First, since the caches may tell something at once.
	again := l.selected(before, changed)
	l.synced.want(now.all)
	l.caches.Want(now.all, now.keeps, false)
	l.guards.limits.Follow(now.Limited, now.sets(), !l.keepsHouse())
	if before.Set != now.Set {
		l.guards.conflicts.Follow(changed)
	}
	concerned := now.concerned(changed)
	l.enqueueAll(func(cache informer.Key) bool { return concerned[cache] }, func(family *rules.Rule) bool {
		return slices.ContainsFunc(changed, func(rule *rules.Rule) bool { return rule.ID == family.ID })
	})
	l.enqueueEach(again)
	l.tracker.check() // Some of the caches may be denied.
}

// selected lists the objects that rules were about which have changed, as long as their caches are there: nobody may
// watch them any more. With them are those that failing rules wait for a change of the rules to try again, and what
// is gone.
func (l *loader) selected(before *active, changed []*rules.Rule) []Key {
	var out []Key
	incomplete := map[schema.GroupVersionResource]bool{}
	for cache := range before.concerned(changed) {
		// First: of a cache that is complete later, the names may be a part.
		incomplete[cache.GVR] = incomplete[cache.GVR] || !l.caches.View(cache, "", "").Synced
		for _, name := range l.caches.Names(cache) {
			out = append(out, Key{GVR: cache.GVR, Namespace: name.Namespace, Name: name.Name})
		}
	}
	for _, rule := range changed {
		for _, selection := range rule.Watches() { // It may have left something of what no cache has.
			incomplete[selection.GVR] = incomplete[selection.GVR] || rule.Lingers()
		}
	}
	for _, key := range l.memory.keys() {
		if key.UID != "" || incomplete[key.GVR] {
			out = append(out, key)
		}
	}
	for _, c := range l.guards.breaker.List() {
		out = append(out, c.Key)
	}
	return out
}

// deny is [Engine.Deny].
func (l *loader) deny(denied map[informer.Key]error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.synced.deny(denied) { // Before the caches, as one may be complete at once.
		l.tidying.halt() // The housekeeper may rely on what the caches have told.
		defer l.tidying.resume()
	}
	l.caches.Deny(denied)
	l.tracker.check()
	l.checkPending()
}

// checkPending has pending rules looked at again.
func (l *loader) checkPending() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// followRules puts pending rules into effect, until the context is done.
func (l *loader) followRules(ctx context.Context) {
	for {
		var late <-chan time.Time
		if left := l.takeOver(); left > 0 {
			late = l.options.Clock.After(left)
		}
		select {
		case <-l.changed:
		case <-late:
		case <-ctx.Done():
			return
		}
	}
}

// takeOver puts pending rules into effect that have waited for long enough. It returns how long others may wait still.
func (l *loader) takeOver() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		return 0
	}
	switch missing, left := l.missing(l.pending), l.until.Sub(l.options.Clock.Now()); {
	case len(missing) > 0 && left > 0:
		return left
	case len(missing) > 0:
		l.options.Log.Warn("rules take effect before all that they read is listed", "informers", slices.Sorted(slices.Values(names(missing))))
		before := l.active.Load() // What lacks fields that the rules read must be gone before they are in effect.
		l.caches.Want(before.running, before.keeps.Union(l.pending.keeps), false)
	}
	l.tidying.halt()
	defer l.tidying.resume()
	l.putIntoEffect(l.pending)
	return 0
}

// pendingRules are those that are pending, nil for none.
func (l *loader) pendingRules() *active {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending
}
