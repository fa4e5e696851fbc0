package engine

import (
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
	for _, key := range e.related.Concerned(plan.Selection(event.Key), event.Before, event.After) {
		e.enqueue(key)
	}
	for _, key := range e.waiters.at(object.ofAnyVersion()) {
		e.enqueue(key)
	}
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
	for _, asker := range e.related.Asking(plan.Selection(key)) {
		e.enqueue(asker)
	}
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

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) { h.engine.open.listed(key, err) }
