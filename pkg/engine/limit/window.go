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
}

// entry is an object in a window.
type entry struct {
	object types.UID
	at     time.Time // of the last write that took effect
	// reserved is how many writes are under way.
	reserved int
	place    *list.Element // among those written, nil where none took effect
}

func newWindow() window { return window{map[types.UID]*entry{}, list.New()} }

// expire forgets writes that are as old as the window is long.
func (w *window) expire(now time.Time, per time.Duration) {
	for first := w.written.Front(); first != nil; first = w.written.Front() {
		e, _ := first.Value.(*entry)
		if now.Sub(e.at) < per {
			return
		}
		w.written.Remove(first)
		if e.place = nil; e.reserved == 0 {
			delete(w.entries, e.object)
		}
	}
}

// has reports whether an object counts already.
func (w *window) has(object types.UID) bool { return w.entries[object] != nil }

// counts are the objects in it, and those among them for which a write took effect.
func (w *window) counts() (all, written int) { return len(w.entries), w.written.Len() }

// reserve notes a write that is about to be sent.
func (w *window) reserve(object types.UID) {
	e := w.entries[object]
	if e == nil {
		e = &entry{object: object}
		w.entries[object] = e
	}
	e.reserved++
}

// settle notes what became of it.
func (w *window) settle(object types.UID, effective bool, now time.Time) {
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
}
