package storage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// firstVersion is the resourceVersion of an empty world. Few real clusters have a lower one.
const firstVersion = 1000

// World is what one cluster has stored. It is safe for concurrent use.
type World struct {
	clock clock.WithTicker

	mu      sync.Mutex
	objects map[string]entry   // guarded by mu
	version uint64             // guarded by mu
	made    map[string]int     // how many objects, by their keys; guarded by mu
	uids    map[types.UID]bool // all that were made; guarded by mu
	changes []Change           // guarded by mu
	log     *history           // nil while nobody may watch; guarded by mu
}

// entry is an object as it is stored.
type entry struct {
	data    []byte // never changed
	version uint64
	// asFound says that the data is not in the form in which a store would have written it.
	asFound bool
}

// Change says that an object was made, changed or is gone.
type Change struct {
	Resource  schema.GroupResource
	Namespace string // empty for a cluster-scoped object
	Name      string
}

// String names what has changed as the rest of the program does.
func (c Change) String() string {
	return c.Resource.Resource + " " + strings.TrimPrefix(c.Namespace+"/"+c.Name, "/")
}

// NewWorld returns a world without objects.
func NewWorld(clock clock.WithTicker) *World {
	return &World{clock: clock, objects: map[string]entry{}, made: map[string]int{}, uids: map[types.UID]bool{}, version: firstVersion}
}

// contextKey is that of the world.
type contextKey struct{}

// With returns a context in which requests are about the world.
func With(ctx context.Context, w *World) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// From returns the world of a context. A request that is about none cannot be answered.
func From(ctx context.Context) *World {
	w, _ := ctx.Value(contextKey{}).(*World)
	return w
}

// Key is where an object is stored.
func (c Change) Key() string {
	at := Prefix(c.Resource)
	if c.Namespace != "" {
		at += "/" + c.Namespace
	}
	return at + "/" + c.Name
}

// Prefix is below which the objects of a resource are stored.
func Prefix(resource schema.GroupResource) string {
	return "/" + resource.Group + "/" + resource.Resource
}

// changeOf is the change of what is stored under a key.
func changeOf(key string) Change {
	group, rest, _ := strings.Cut(strings.TrimPrefix(key, "/"), "/")
	resource, rest, _ := strings.Cut(rest, "/")
	c := Change{Resource: schema.GroupResource{Group: group, Resource: resource}, Name: rest}
	if namespace, name, namespaced := strings.Cut(rest, "/"); namespaced {
		c.Namespace, c.Name = namespace, name
	}
	return c
}

// Put stores an object as it is, in the encoding of its resource, or replaces it. It is no
// [Change]: it is how the world was found.
func (w *World) Put(at Change, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version++
	w.store(at.Key(), entry{data, w.version, true})
}

// Edit stores an object as [World.Put] does, and is a [Change]: for what the controllers of
// a cluster do past the API server.
func (w *World) Edit(at Change, data []byte) {
	w.Put(at, data)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = append(w.changes, at)
}

// Get returns what is stored, nil for nothing. It is shared: read only.
func (w *World) Get(at Change) []byte {
	found, _ := w.get(at.Key())
	return found.data
}

// UID makes a uid that no other object of the world has. It only depends on how many
// objects were made under the key before.
func (w *World) UID(at Change) types.UID {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := at.Key()
	uid := w.nextUID(key)
	w.made[key]++
	return uid
}

// nextUID is that of the next object to be made under a key. The lock is held.
func (w *World) nextUID(key string) types.UID {
	uid := types.UID(uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%s#%d", key, w.made[key]+1)).String())
	w.uids[uid] = true
	return uid
}

// Made reports whether the uid was made here: for an object that is there or has gone.
func (w *World) Made(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.uids[uid]
}

// Take returns what has changed since it was called last, in order.
func (w *World) Take() []Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.changes
	w.changes = nil
	return out
}

// Version is the resourceVersion of the last change.
func (w *World) Version() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

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

func (w *World) get(key string) (found entry, now uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.objects[key], w.version
}

// below returns the keys that begin with the prefix, in order, with what is stored.
func (w *World) below(prefix string) (keys []string, found map[string]entry, now uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found = map[string]entry{}
	for key, stored := range w.objects {
		if strings.HasPrefix(key, prefix) {
			found[key] = stored
		}
	}
	return slices.Sorted(maps.Keys(found)), found, w.version
}

// belowAt is below as it was at a version, which a world knows that remembers its changes since.
func (w *World) belowAt(prefix string, version uint64) (keys []string, found map[string]entry, err error) {
	_, found, now := w.below(prefix)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case version == now:
	case w.log == nil:
		return nil, nil, errNotRemembered
	case version < w.log.since:
		return nil, nil, fmt.Errorf("%w: %d (%d)", errForgotten, version, w.log.since)
	default:
		for _, e := range slices.Backward(w.log.events) {
			if e.is.version <= version {
				break
			}
			if strings.HasPrefix(e.key, prefix) {
				if found[e.key] = e.was; e.was.data == nil {
					delete(found, e.key)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), found, nil
}

// replace stores data under a key, or removes what is there where data is nil, unless
// what is there is not of the version before; zero stands for nothing. It returns the
// version of the change.
func (w *World) replace(key string, before uint64, data []byte) (version uint64, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.objects[key].version != before {
		return 0, false
	}
	w.version++
	if before == 0 {
		w.made[key]++
	}
	w.store(key, entry{data: data, version: w.version})
	w.changes = append(w.changes, changeOf(key))
	return w.version, true
}

// store has an entry in the place of what is under a key, where it has data, and else nothing. The lock is held.
func (w *World) store(key string, is entry) {
	was := w.objects[key]
	if w.objects[key] = is; is.data == nil {
		delete(w.objects, key)
	}
	if w.log != nil {
		w.log.add(event{key: key, was: was, is: is})
	}
}

// Now is the time of the world as objects carry it.
func (w *World) Now() metav1.Time { return metav1.NewTime(w.clock.Now().UTC().Truncate(time.Second)) }

// stampNew replaces what the registries took from the machine in a new object.
func (w *World) stampNew(key string, object runtime.Object) {
	metadata, _ := meta.Accessor(object) // All that is stored has it.
	if !w.Made(metadata.GetUID()) {      // A registry may have asked for it before, to put it into the object.
		w.mu.Lock()
		uid := w.nextUID(key)
		w.mu.Unlock()
		metadata.SetUID(uid)
	}
	metadata.SetCreationTimestamp(w.Now())
	w.stampManagers(nil, metadata)
}

// stampChanged does the same for what a change brought into an object.
func (w *World) stampChanged(before, after runtime.Object) {
	was, _ := meta.Accessor(before)
	is, _ := meta.Accessor(after)
	switch had := was.GetDeletionGracePeriodSeconds(); {
	case is.GetDeletionTimestamp() == nil:
	case was.GetDeletionTimestamp() == nil:
		w.stampEnd(is, w.Now())
	case had != nil && !was.GetDeletionTimestamp().Equal(is.GetDeletionTimestamp()):
		w.stampEnd(is, metav1.NewTime(was.GetDeletionTimestamp().Add(-time.Duration(*had)*time.Second)))
	}
	w.stampManagers(was.GetManagedFields(), is)
}

// stampEnd sets when an object is gone whose grace began then. What is shortened is not
// moved into the past.
func (w *World) stampEnd(object metav1.Object, began metav1.Time) {
	end := began
	if grace := object.GetDeletionGracePeriodSeconds(); grace != nil {
		end = metav1.NewTime(end.Add(time.Duration(*grace) * time.Second))
	}
	if now := w.Now(); end.Before(&now) {
		end = now
	}
	object.SetDeletionTimestamp(&end)
}

// stampManagers gives the entries of managedFields that are new the time of the world. Then
// they stand in another order: whoever writes the object next would find it changed else.
func (w *World) stampManagers(before []metav1.ManagedFieldsEntry, object metav1.Object) {
	type manager struct {
		name, subresource, version string
		operation                  metav1.ManagedFieldsOperationType
	}
	of := func(e metav1.ManagedFieldsEntry) manager {
		return manager{e.Manager, e.Subresource, e.APIVersion, e.Operation}
	}
	times := map[manager]*metav1.Time{}
	for _, known := range before {
		times[of(known)] = known.Time
	}
	now, stamped := w.Now(), slices.Clone(object.GetManagedFields())
	for i, entry := range stamped {
		if known, is := times[of(entry)]; entry.Time != nil && (!is || !entry.Time.Equal(known)) {
			stamped[i].Time = &now
		}
	}
	slices.SortStableFunc(stamped, compareManagers)
	object.SetManagedFields(stamped)
}

// compareManagers orders entries as the API server's field manager does.
func compareManagers(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation), cmp.Compare(ptr.Deref(a.Time, metav1.Time{}).Unix(), ptr.Deref(b.Time, metav1.Time{}).Unix()),
		cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource),
	)
}
