package informer

import (
	"hash/maphash"
	"maps"
	"sync"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// interned has each object once that several caches hold, of one set or of several. It keeps none alive. It is safe for
// concurrent use.
type interned struct {
	seed maphash.Seed

	mu    sync.Mutex
	known map[uint64]weak.Pointer[unstructured.Unstructured] // by the hash of a version; guarded by mu
	sweep int                                                // how many are known before those that are gone are taken out; guarded by mu
}

// minSweep is how many objects are known at least before it is looked which are gone.
const minSweep = 1024

func newInterned() *interned {
	return &interned{seed: maphash.MakeSeed(), known: map[uint64]weak.Pointer[unstructured.Unstructured]{}, sweep: minSweep}
}

// share returns the object that another cache has, if it is the same, and this one else. They are compared as a whole: under
// the same version the API server shows something else after another schema, and after a restore of etcd.
func (o *interned) share(gvr schema.GroupVersionResource, object *unstructured.Unstructured) *unstructured.Unstructured {
	version := maphash.Comparable(o.seed, struct {
		gvr     schema.GroupVersionResource
		uid     types.UID
		version string
	}{gvr, object.GetUID(), object.GetResourceVersion()})
	o.mu.Lock()
	known := o.known[version].Value()
	if known == nil {
		known = o.keep(version, object)
	}
	o.mu.Unlock()
	if plan.Equal(known.Object, object.Object) {
		return known
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keep(version, object)
}

// keep is for who holds the lock.
func (o *interned) keep(version uint64, object *unstructured.Unstructured) *unstructured.Unstructured {
	object = &unstructured.Unstructured{Object: object.Object} // The given one may be in the array of a list, which is as long as that.
	o.known[version] = weak.Make(object)
	if len(o.known) > o.sweep {
		maps.DeleteFunc(o.known, func(_ uint64, p weak.Pointer[unstructured.Unstructured]) bool { return p.Value() == nil })
		o.sweep = max(minSweep, 2*len(o.known))
	}
	return object
}
