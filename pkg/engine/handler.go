package engine

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
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
	if now.watched[event.Key] {
		e.enqueue(object)
		if uid := replaced(event); uid != "" && now.set.Prunes(object.GVR) {
			gone := object
			gone.UID = uid
			e.enqueue(gone)
		}
	}
	e.enqueueEach(e.related.Concerned(plan.Selection(event.Key), event.Before, event.After))
	e.enqueueEach(e.waiters.at(object.ofAnyVersion()))
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
	e.told.add(key)
	for _, family := range now.families {
		if isOf(family, key) {
			e.enqueueOrphans(family)
		}
	}
	if e.house != nil {
		e.house.wake()
	}
	e.open.listed(key, nil)
}

// told are the caches of which all objects have been queued that they had when they
// became complete. Their stores are complete before that. The zero value has none. It
// is safe for concurrent use.
type told struct {
	mu sync.Mutex
	of map[informer.Key]bool // guarded by mu
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
	maps.DeleteFunc(t.of, func(key informer.Key, _ bool) bool { return !slices.Contains(keys, key) })
}

// untold reports whether objects of a cache may still have to be queued for the first
// time.
func (e *Engine) untold(cache informer.Key) bool {
	return !e.told.has(cache) || !e.caches.View(cache, "", "").Synced
}

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) { h.engine.open.listed(key, err) }
