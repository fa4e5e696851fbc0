package limit

import (
	"container/list"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// window has the objects for which a rule has written, or is writing. It is not for
// concurrent use, and never has more than were let in.
type window struct {
	entries map[types.UID]*entry
	written *list.List // of *entry, the oldest first
	// unstored counts the objects that a next process would not know of, or not for long.
	unstored int
}

// entry is an object in a window.
type entry struct {
	object types.UID
	at     time.Time // of the last write that took effect
	// reserved is how many writes are under way.
	reserved int
	place    *list.Element // among those written, nil where none took effect
	// stored is which of its writes is stored, storing which is being, both zero for none.
	stored, storing time.Time
	restored        bool // object is the mark of it
	unstored        bool // it counts for window.unstored
}

func newWindow() window { return window{entries: map[types.UID]*entry{}, written: list.New()} }

// find returns the entry of an object, which may be from an earlier process.
func (w *window) find(object types.UID) *entry {
	if e := w.entries[object]; e != nil {
		return e
	}
	e := w.entries[mark(object)]
	if e == nil || !e.restored {
		return nil
	}
	delete(w.entries, e.object)
	e.object, e.restored = object, false
	w.entries[object] = e
	return e
}

// nameOf is what an object is called where it is stored.
func (w *window) nameOf(e *entry) types.UID {
	if e.restored {
		return e.object
	}
	return mark(e.object)
}

// restore adds an object by its mark, which is newer than all that are there.
func (w *window) restore(object types.UID, at time.Time) {
	e := &entry{object: object, at: at, stored: at, restored: true}
	if before := w.entries[object]; before != nil {
		w.written.Remove(before.place)
	}
	w.entries[object] = e
	e.place = w.written.PushBack(e)
}

// store notes that what was being stored is.
func (w *window) store() {
	for place := w.written.Front(); place != nil; place = place.Next() {
		e, _ := place.Value.(*entry)
		if e.storing.IsZero() {
			continue
		}
		e.stored, e.storing = e.storing, time.Time{}
		if e.unstored {
			e.unstored = false
			w.unstored--
		}
	}
}

// expire forgets writes that are as old as the window is long.
func (w *window) expire(now time.Time, per time.Duration) {
	for first := w.written.Front(); first != nil; first = w.written.Front() {
		e, _ := first.Value.(*entry)
		if now.Sub(e.at) < per {
			return
		}
		w.written.Remove(first)
		if e.unstored {
			e.unstored = false
			w.unstored--
		}
		e.stored, e.storing = time.Time{}, time.Time{}
		if e.place = nil; e.reserved == 0 {
			delete(w.entries, e.object)
		}
	}
}

// has reports whether an object counts already.
func (w *window) has(object types.UID) bool { return w.find(object) != nil }

// counts are the objects in it, and those among them for which a write took effect.
func (w *window) counts() (all, written int) { return len(w.entries), w.written.Len() }

// reserve notes a write that is about to be sent.
func (w *window) reserve(object types.UID) {
	e := w.find(object)
	if e == nil {
		e = &entry{object: object}
		w.entries[object] = e
	}
	e.reserved++
}

// settle notes what became of it.
func (w *window) settle(object types.UID, effective bool, now time.Time, per time.Duration) {
	e := w.entries[object]
	if e == nil || e.reserved == 0 {
		return // The rule has changed in the meantime.
	}
	e.reserved--
	switch {
	case effective && e.place == nil:
		e.at, e.place = now, w.written.PushBack(e)
	case effective:
		e.at = now
		w.written.MoveToBack(e.place)
	case e.place == nil && e.reserved == 0:
		delete(w.entries, object)
	}
	if effective && !e.unstored && (e.stored.IsZero() || now.Sub(e.stored) >= per/2) {
		e.unstored = true
		w.unstored++
	}
}
