package informer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Key is what an informer lists and watches.
type Key = plan.Selection

// Handler is told what happens. Its methods must return quickly and may be called at the same time.
type Handler interface {
	// Changed is called when an object was added, changed or removed. The cache shows it already.
	Changed(event Event)
	// Synced is called when a cache has become complete. A cache that could not be kept up to date begins anew, and Synced is
	// called again; objects that have gone meanwhile are not told.
	Synced(key Key)
	// Troubled is called when a request to list or watch failed, with every attempt.
	Troubled(key Key, err error)
}

// Event is a change of one object in one cache.
type Event struct {
	Key             Key
	Namespace, Name string
	// Before and After are the object in the cache, nil where it was or is not there. They are shared: read only. The handler
	// does not keep them, since there may be a newer object soon.
	Before, After map[string]any
}

// running is one informer.
type running struct {
	store
	set      *Set
	resource dynamic.ResourceInterface // for requests beside those of the informer
	ctx      context.Context           //nolint:containedctx // It is the life of the informer.
	stop     context.CancelFunc
	told     func() bool // the handler has been told of all objects of the first list
	telling  sync.Mutex  // held while the handler is told that the cache is complete
	health

	slow    atomic.Bool  // the first list has taken so long that it does not count any more
	objects atomic.Int64 // that the handler was told of
	bytes   atomic.Int64 // of the objects, and of a first list that is under way
	exceeds atomic.Bool  // [Options.Exceeded] was called with this cache
}

// errNoVersions is an error at the start of a process: without the feature a store does not know its resourceVersion, and the
// engine would wait for its own writes for ever.
var errNoVersions = errors.New("client-go's feature " + string(features.AtomicFIFO) +
	" is off: remove the environment variable KUBE_FEATURE_" + string(features.AtomicFIFO))

// Check returns an error where informers would not work in this process.
func Check() error {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return errNoVersions
	}
	return nil
}

// start runs a new informer until it is ended. It takes over the errors of the informer that it replaces, if any. The caller
// holds the lock of the set.
//
//nolint:forbidigo // An informer lives as long as it is wanted, longer than the call that wants it.
func (s *Set) start(key Key, before *running) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{store: store{key: key}, set: s, ctx: ctx, stop: cancel, resource: s.client.Resource(key.GVR).Namespace(key.Namespace)}
	r.heard, r.logged = s.clock.Now(), sets.Set[metav1.StatusReason]{}
	if before != nil {
		before.mu.Lock()
		r.err, r.logged = before.err, before.logged.Clone()
		before.mu.Unlock()
	}
	r.informer = cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch}, s.client),
		&unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}, ObjectDescription: key.GVR.String()}, // Indexes cannot be added to nil.
	)
	// These fail only once the informer runs.
	_ = r.informer.SetTransform(r.transform)
	_ = r.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		s.log.Debug("watch ended", "gvr", plan.ResourceName(key.GVR), "informer", key.String(), "err", err)
	})
	registration, _ := r.informer.AddEventHandler(r)
	r.told = registration.HasSynced
	s.options.Shared.running.Store(r, nil)
	go r.informer.RunWithContext(ctx)
	go r.followSilence()
	go func() {
		cache.WaitFor(ctx, "", registration.HasSyncedChecker()) // The handler has been told of every object of the first list.
		r.telling.Lock()
		defer r.telling.Unlock()
		if ctx.Err() == nil {
			s.handler.Synced(key)
		}
	}()
	s.running[key] = r
}

// end stops the informer. When it returns, the handler is not told any more that the cache is complete.
func (r *running) end() {
	r.stop()
	r.set.options.Shared.running.Delete(r)
	r.telling.Lock()
	defer r.telling.Unlock()
	r.set.shrink(r)
}

// OnAdd implements [cache.ResourceEventHandler].
func (r *running) OnAdd(object any, _ bool) {
	r.objects.Add(1)
	r.changed(object, nil, fieldsOf(object))
}

// OnUpdate drops what a resync or a relist repeats. After a restore of etcd another object may have the same version.
func (r *running) OnUpdate(before, after any) {
	was, is := fieldsOf(before), fieldsOf(after)
	if versionOf(was) != versionOf(is) || !plan.Equal(was, is) {
		r.changed(after, was, is)
	}
}

// OnDelete reads the last object from a tombstone.
func (r *running) OnDelete(object any) {
	last := object
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		last = tombstone.Obj
	}
	r.objects.Add(-1)
	r.changed(object, fieldsOf(last), nil)
}

func (r *running) changed(object any, before, after map[string]any) {
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		return // Not an object: the informer was made for unstructured objects only.
	}
	if r.told() { // The first list has been counted as it came.
		r.set.grow(r, sizeOf(after)-sizeOf(before))
	}
	r.set.handler.Changed(Event{Key: r.key, Namespace: name.Namespace, Name: name.Name, Before: before, After: after})
}

func versionOf(object map[string]any) string { return plan.Text(object, "metadata", "resourceVersion") }

func fieldsOf(object any) map[string]any {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	return u.Object
}

// transform is a [cache.TransformFunc]. client-go may call it twice for an object, which others may read already.
func (r *running) transform(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil // Not from a dynamic client.
	}
	Trim(u)
	return r.set.options.Shared.share(r.key.GVR, u), nil
}

// Trim empties the managedFields of others, which are often a third of an object and which caches do not hold. Our own Apply
// entries stay, or after a restart the engine could not see that an apply changes nothing. They stay at their indexes, by which
// fields are given up.
func Trim(object *unstructured.Unstructured) {
	metadata, _ := object.Object["metadata"].(map[string]any)
	entries, ok := metadata["managedFields"].([]any)
	if !ok {
		return
	}
	last := -1
	for i, element := range entries {
		entry, _ := element.(map[string]any)
		switch {
		case entry["operation"] == "Apply" && strings.HasPrefix(plan.Text(entry, "manager"), plan.FieldManager+"/"):
			last = i
		case len(entry) > 0:
			entries[i] = map[string]any{}
		}
	}
	if last < 0 {
		delete(metadata, "managedFields")
	}
}

// grow counts what an informer takes, unless it has ended. Where the caches take too much it reports the one that takes most,
// unless there is enough room without caches that are about to end.
func (s *Set) grow(of *running, bytes int64) {
	if of.ctx.Err() != nil {
		return
	}
	of.bytes.Add(bytes)
	if taken := s.taken.Add(bytes); s.options.Limit == 0 || taken <= s.options.Limit {
		return
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var largest *running
	var taken int64
	for _, r := range s.running {
		taken += r.bytes.Load()
		if largest == nil || r.bytes.Load() > largest.bytes.Load() {
			largest = r
		}
	}
	if taken > s.options.Limit && largest.exceeds.CompareAndSwap(false, true) {
		go s.options.Exceeded(largest.key) // It will stop the informer.
	}
}

// shrink takes back all that was counted of an informer that has ended, or lists anew.
func (s *Set) shrink(of *running) { s.taken.Add(-of.bytes.Swap(0)) }

const word = 8

// sizeOf estimates the size of a decoded object, in bytes: a string or a value of any type is two words, and a map has slots of
// a key and a value, 8 at least and some that are free.
func sizeOf(value any) int64 {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return 0
		}
		size := int64(6*word + 4*word*max(8, len(value)*3/2))
		for key, field := range value {
			size += int64(len(key)) + sizeOf(field)
		}
		return size
	case []any:
		size := int64(3 * word)
		for _, element := range value {
			size += 2*word + sizeOf(element)
		}
		return size
	case string:
		return 2*word + int64(len(value))
	default:
		return word
	}
}
