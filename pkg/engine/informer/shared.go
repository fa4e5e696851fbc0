package informer

import (
	"hash/maphash"
	"maps"
	"sync"
	"weak"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
)

// Shared is what the informers of one API server share, of one set or several: the turns of first lists, the objects that
// several caches hold, and what is known of the health of the API server. It is safe for concurrent use.
type Shared struct {
	lists   turns    // of first lists
	running sync.Map // the informers: *running -> nil
	// reconnects has those that nobody answers go on together.
	reconnects reconnects

	// objects has each object once that several caches hold, by a hash of its resource, uid and version. It keeps none alive.
	seed    maphash.Seed
	mu      sync.Mutex
	objects map[uint64]weak.Pointer[compact.Object] // guarded by mu
	sweep   int                                     // the size at which objects that are gone are removed; guarded by mu
}

// minSweep is the least size at which objects that are gone are removed.
const minSweep = 1024

// NewShared returns one without informers.
func NewShared() *Shared {
	return &Shared{seed: maphash.MakeSeed(), sweep: minSweep, objects: map[uint64]weak.Pointer[compact.Object]{}}
}

// isServerDown reports whether the API server itself seems to be down, rather than the resource of an informer that gets no
// answer: there are informers of other resources, and none of them gets an answer either. The resources of one version of a
// group may be down together, as one aggregated API. Without others to compare with, the resource is taken to be down.
//
// When the API server is back client-go lists again by itself, each cache after its own back-off, and only changes are told. If
// all caches began anew, all objects would be evaluated again.
func (s *Shared) isServerDown(unanswered *running) bool {
	others, answered := false, false
	s.running.Range(func(other, _ any) bool {
		r, _ := other.(*running)
		err := r.latest()
		answers := err == nil && r.hasSynced() || refuses(err) && !isUnavailable(err) // Even if the resource is not there.
		answered = answers && r.key.GVR != unanswered.key.GVR
		others = others || r.key.GVR.GroupVersion() != unanswered.key.GVR.GroupVersion()
		return !answered
	})
	return others && !answered
}

// share returns the object that another cache has, if it is the same, and this one otherwise. The objects are compared as they
// are kept: under the same version the API server shows another object after a change of the schema, and after a restore of
// etcd. Kept is of which resource, and with which fields: caches that keep others have objects of their own.
func (s *Shared) share(kept string, object *compact.Object) *compact.Object {
	version := maphash.Comparable(s.seed, [...]string{kept, string(object.UID()), object.ResourceVersion()})
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.objects[version].Value(); known != nil && known.Equal(object) {
		return known
	}
	s.objects[version] = weak.Make(object)
	if len(s.objects) > s.sweep {
		maps.DeleteFunc(s.objects, func(_ uint64, p weak.Pointer[compact.Object]) bool { return p.Value() == nil })
		s.sweep = max(minSweep, 2*len(s.objects))
	}
	return object
}
