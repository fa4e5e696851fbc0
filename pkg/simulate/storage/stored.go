package storage

import (
	"maps"
	"slices"
)

// Stored is where an object is stored, and the version that it got when it was last
// written.
type Stored struct {
	Change
	Version uint64
}

// Stored lists all that is stored, in the order of resources, namespaces and names.
func (w *World) Stored() []Stored {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Stored, 0, len(w.objects))
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		out = append(out, Stored{changeOf(key), w.objects[key].version})
	}
	return out
}
