package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
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
	if !fresh && !h.caches.View(event.Key, "", "").Synced {
		return // Synced queues what is there by then, and who has asked.
	}
	var concerned []Key
	if now.watched[event.Key] {
		concerned = append(concerned, object)
		gone := object
		if gone.UID = event.Before.UID(); gone.UID != "" && gone.UID != event.After.UID() && now.Prunes(object.GVR) {
			concerned = append(concerned, gone)
		}
	}
	if h.related.Asked(event.Key) {
		concerned = append(concerned, h.related.Concerned(event.Key, event.Before.Fields(), event.After.Fields())...)
	}
	if event.Before == nil {
		concerned = append(concerned, h.orphaned(now, event)...)
	}
	if event.Touched() && !now.keeps[event.Key.GVR].HasVersion() { // No rule reads what has changed.
		concerned = slices.DeleteFunc(concerned, func(key Key) bool {
			record := h.memory.known(key)
			return record != nil && !record.waits.Load()
		})
	}
	h.changed(concerned, fresh)
}

// orphaned is the parent of a child that has come, if no cache has it.
func (h handler) orphaned(now *active, event informer.Event) (parents []Key) {
	if !h.awake.Load() { // Who wakes looks for all orphans.
		return nil
	}
	for _, family := range now.families {
		if !slices.Contains(family.Children(), event.Key) {
			continue
		}
		child := event.After.Fields()
		if uid := plan.Label(child, plan.LabelOwnerUID); uid != "" && plan.Label(child, plan.LabelSet) == family.ID.SetID() && plan.Label(child, plan.LabelRule) == family.ID.Name {
			parents = append(parents, h.orphans(family, func(*rules.Rule) []types.UID { return []types.UID{types.UID(uid)} })...)
		}
	}
	return parents
}

// Synced implements [informer.Handler]. Objects that were passed over while the
// cache was incomplete are looked at now, and so are those that asked it.
func (h handler) Synced(key informer.Key) {
	known := h.synced.get(key)
	if h.again(key, known.listed || known.anew); known.listed || known.anew { // What nobody remembers is searched for.
		h.tidying.anew.Store(true)
	}
	h.synced.change(key, func(s *cacheState) { *s = cacheState{listed: true} })
	h.tidying.wake()
	h.tracker.check()
	h.loader.checkPending()
}

// Widened implements [informer.Handler].
func (h handler) Widened(key informer.Key) {
	h.again(key, true)
	h.loader.checkPending()
}

// again has all objects of a cache looked at, and those that asked it. A cache that has begun anew has told no event of what
// happened meanwhile: known objects may be gone, or not be selected any more.
func (h handler) again(key informer.Key, anew bool) {
	now := h.active.Load()
	isIt := func(cache informer.Key) bool { return cache == key && now.watched[key] }
	h.enqueueAll(isIt, func(family *rules.Rule) bool {
		return slices.Contains(family.Watches(), key) || slices.Contains(family.Children(), key)
	})
	h.enqueueEach(h.related.Asking(key))
	if anew {
		h.enqueueEach(slices.DeleteFunc(h.memory.keys(), func(known Key) bool { return known.GVR != key.GVR }))
	}
}

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) {
	h.synced.change(key, func(s *cacheState) { s.err = err })
	h.tracker.check()
	h.loader.checkPending()
}
