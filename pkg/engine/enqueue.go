package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// wake has everything looked at that the caches hold by now, and all that they tell from
// now on. Before that nothing is queued: the names of objects that have gone would pile
// up where nobody works on them.
func (e *Engine) wake() {
	if e.awake.Swap(true) {
		return
	}
	e.began = e.options.Clock.Now()
	now := e.active.Load()
	for _, key := range now.all {
		if now.watched[key] {
			e.enqueueAll(key)
		}
	}
	for _, family := range now.families {
		e.enqueueOrphans(family)
	}
}

// Queued is how many objects wait for a worker now.
func (e *Engine) Queued() int { return e.queue.Len() }

func (e *Engine) enqueue(key Key) {
	if !e.awake.Load() {
		return
	}
	e.open.add(key)
	e.queue.Add(key)
}

// hurry has an object that is queued next go before what is only looked at once more.
func (e *Engine) hurry(key Key) {
	if e.lanes != nil && e.awake.Load() {
		e.lanes.Hurry(key)
	}
}

// changed queues objects in no order to which a change matters. fresh says that it is
// one just now.
func (e *Engine) changed(keys []Key, to version, fresh bool) {
	if fresh && e.awake.Load() {
		at := e.options.Clock.Now()
		for _, key := range keys {
			e.news.begin(key, beginning{at, to})
			e.hurry(key)
		}
	}
	e.enqueueEach(keys)
}

func (e *Engine) enqueueAfter(key Key, wait time.Duration) {
	if wait == 0 {
		e.hurry(key)
		e.enqueue(key)
	} else {
		e.queue.AddAfter(key, wait)
	}
}

// lookAgainIn has an object looked at when something is to be tried again that was put off,
// unless that is zero. What is queued for sooner stays.
func (e *Engine) lookAgainIn(key Key, until time.Time) {
	if !until.IsZero() {
		e.queue.AddAfter(key, max(until.Sub(e.options.Clock.Now()), time.Nanosecond))
	}
}

// enqueueEach queues keys that are in no order, which it may sort.
func (e *Engine) enqueueEach(keys []Key) {
	if e.driven() {
		slices.SortFunc(keys, Key.Compare)
	}
	for _, key := range keys {
		e.enqueue(key)
	}
}

func (e *Engine) enqueueAll(key informer.Key) {
	names := e.caches.Names(key)
	if e.driven() {
		slices.SortFunc(names, func(a, b types.NamespacedName) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		})
	}
	for _, name := range names {
		e.enqueue(Key{GVR: key.GVR, Namespace: name.Namespace, Name: name.Name})
	}
}

// inOrder lists the elements of a set, of which the order shows.
func inOrder[T cmp.Ordered](set map[T]bool) []T { return slices.Sorted(maps.Keys(set)) }
