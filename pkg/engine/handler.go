package engine

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// handler queues what the caches tell.
type handler struct {
	*core
	loader *loader
}

// Changed implements [informer.Handler]: the object itself is looked at, and whoever
// asked about it.
func (h handler) Changed(event informer.Event) {
	now := h.active.Load()
	object := Key{GVR: event.Key.GVR, Namespace: event.Namespace, Name: event.Name}
	fresh := h.synced.get(event.Key).listed // Otherwise it is among those that are listed first.
	if now.watched[event.Key] {
		h.changed([]Key{object}, fresh)
		gone := object
		if gone.UID = uidOf(event.Before); gone.UID != "" && gone.UID != uidOf(event.After) && now.Prunes(object.GVR) {
			h.changed([]Key{gone}, fresh)
		}
	}
	h.changed(h.related.Concerned(event.Key, event.Before, event.After), fresh)
}

// Synced implements [informer.Handler]. Objects that were passed over while the
// cache was incomplete are looked at now, and so are those that asked it.
func (h handler) Synced(key informer.Key) {
	now := h.active.Load()
	isIt := func(cache informer.Key) bool { return cache == key && now.watched[key] }
	h.enqueueAll(isIt, func(family rules.Family) bool {
		return slices.Contains(slices.Concat(family.Parents, family.Children), key)
	})
	h.enqueueEach(h.related.Asking(key))
	if known := h.synced.get(key); known.listed || known.anew {
		// It has begun anew. What happened meanwhile was told by no event: known objects may be gone, or not be selected any more,
		// and what nobody remembers is searched for.
		h.enqueueEach(slices.DeleteFunc(h.memory.keys(), func(known Key) bool { return known.GVR != key.GVR }))
		h.tidying.anew.Store(true)
	}
	h.synced.change(key, func(s *cacheState) { *s = cacheState{listed: true} })
	h.tidying.wake()
	h.tracker.check()
	h.loader.checkPending()
}

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) {
	h.synced.change(key, func(s *cacheState) { s.failures, s.err = s.failures+1, err })
	h.tracker.check()
	h.loader.checkPending()
}
