package engine

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// handler queues what the caches tell.
type handler struct{ engine *Engine }

// Changed implements [informer.Handler]: the object itself is looked at, whoever
// asked about it, and whoever waits for it.
func (h handler) Changed(event informer.Event) {
	e := h.engine
	now := e.active.Load()
	object := Key{GVR: event.Key.GVR, Namespace: event.Namespace, Name: event.Name}
	to := version{object.Object(), versionOf(event.After)}
	fresh := e.told.has(event.Key) // Otherwise it is among those that are listed first.
	if now.watched[event.Key] {
		e.changed([]Key{object}, to, fresh)
		if uid := replaced(event); uid != "" && now.set.Prunes(object.GVR) {
			gone := object
			gone.UID = uid
			e.changed([]Key{gone}, to, fresh)
		}
	}
	e.changed(e.related.Concerned(plan.Selection(event.Key), event.Before, event.After), to, fresh)
	e.changed(e.waiters.at(object.Object()), to, fresh)
}

// replaced is the uid of the object that the cache does not have any more, empty
// where it has the same.
func replaced(event informer.Event) types.UID {
	if before := uidOf(event.Before); before != uidOf(event.After) {
		return before
	}
	return ""
}

// Synced implements [informer.Handler]. Objects that were passed over while the
// cache was incomplete are looked at now, and so are those that asked it.
func (h handler) Synced(key informer.Key) {
	e := h.engine
	now := e.active.Load()
	if now.watched[key] {
		e.enqueueAll(key)
	}
	e.enqueueEach(e.related.Asking(plan.Selection(key)))
	if e.told.renewed(key) || e.told.has(key) { // It has begun anew.
		e.lookAgain(key)
	}
	e.told.add(key)
	// Rules that have taken effect meanwhile may have been told that it is not complete.
	for _, family := range e.active.Load().families {
		if isOf(family, key) {
			e.enqueueOrphans(family)
		}
	}
	if e.house != nil {
		e.house.wake()
	}
	e.open.listed(key, nil)
	e.next.without(key)
}

// told are the caches of which all objects have been queued that they had when they
// became complete. Their stores are complete before that. The zero value has none. It
// is safe for concurrent use.
type told struct {
	mu sync.Mutex
	of map[informer.Key]bool // guarded by mu
	// anew are those that had been denied, and are not complete again yet.
	anew map[informer.Key]bool // guarded by mu
}

func (t *told) add(key informer.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[informer.Key]bool{}
	}
	t.of[key] = true
}

func (t *told) has(key informer.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[key]
}

// keep forgets all caches but these: one that is wanted again begins anew.
func (t *told) keep(keys []informer.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range []map[informer.Key]bool{t.of, t.anew} {
		maps.DeleteFunc(of, func(key informer.Key, _ bool) bool { return !slices.Contains(keys, key) })
	}
}

// drop forgets caches that are denied.
func (t *told) drop(keys map[informer.Key]error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range keys {
		delete(t.of, key)
		delete(t.anew, key)
	}
}

// renew notes that a cache begins anew which had been denied.
func (t *told) renew(key informer.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.anew == nil {
		t.anew = map[informer.Key]bool{}
	}
	t.anew[key] = true
}

// renewed reports that once, when the cache is complete.
func (t *told) renewed(key informer.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	anew := t.anew[key]
	delete(t.anew, key)
	return anew
}

// lookAgain is for a cache that is complete after it had been denied, or out of date. What happened
// meanwhile was told by no event: known objects may be gone, or not be selected any
// more, and what nobody remembers is searched for.
func (e *Engine) lookAgain(cache informer.Key) {
	e.enqueueEach(slices.DeleteFunc(e.memory.keys(), func(key Key) bool { return key.GVR != cache.GVR }))
	if e.house != nil {
		e.house.searchAgain()
	}
}

// untold reports whether objects of a cache may still have to be queued for the first
// time.
func (e *Engine) untold(cache informer.Key) bool {
	return !e.told.has(cache) || !e.caches.View(cache, "", "").Synced
}

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) {
	h.engine.open.listed(key, err)
	if write.Classify(err) == write.Terminal {
		h.engine.next.without(key)
	}
}
