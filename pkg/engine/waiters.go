package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// waiters are the objects that wait for the caches to show others. The zero value
// has none. It is safe for concurrent use.
type waiters struct {
	mu sync.Mutex
	of map[guard.Object]map[Key]bool // by the object waited for; guarded by mu
}

func (w *waiters) add(at guard.Object, key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[guard.Object]map[Key]bool{}
	}
	if w.of[at] == nil {
		w.of[at] = map[Key]bool{}
	}
	w.of[at][key] = true
}

func (w *waiters) remove(at guard.Object, key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of[at], key)
	if len(w.of[at]) == 0 {
		delete(w.of, at)
	}
}

// at lists who waits for an object.
func (w *waiters) at(object guard.Object) []Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.of[object]))
}
