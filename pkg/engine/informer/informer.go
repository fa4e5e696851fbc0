package informer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
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
	// Widened is called when a cache keeps more fields than before. Changes of its objects since it began to be filled may not be
	// told.
	Widened(key Key)
	// Troubled is called when a request to list or watch failed, with every attempt.
	Troubled(key Key, err error)
}

// Event is a change of one object in one cache.
type Event struct {
	Key             Key
	Namespace, Name string
	// Before and After are the object in the cache, nil where it was or is not there.
	Before, After *compact.Object
}

// Touched reports whether the object has another version, and nothing has changed of what the cache keeps.
func (e Event) Touched() bool {
	return e.Before != nil && e.After != nil && e.Before.SameContent(e.After)
}

// running is one informer.
type running struct {
	store
	set      *Set
	keeps    *projection.Fields
	decoded  bool                      // the client leaves out what is not kept
	kept     string                    // the resource with these fields, for [Shared.share]
	resource dynamic.ResourceInterface // for requests beside those of the informer
	ctx      context.Context           //nolint:containedctx // It is the life of the informer.
	stop     context.CancelFunc
	telling  sync.Mutex // held while the handler is told that the cache is complete
	health
	succession
	count
}

// succession is how an informer follows another one of the same key, in whose place it comes.
type succession struct {
	least  string      // a version that it has to come to before it is complete; guarded by the lock of the set
	behind atomic.Bool // it has not come to that yet
	hidden atomic.Bool // it is filled beside the other one, so the handler is told of that

	announced bool // the handler was told that the cache is complete, or is wider than one that was; guarded by telling
}

// count is what an informer holds.
type count struct {
	slow    atomic.Bool  // the first list has taken so long that it does not count any more
	objects atomic.Int64 // that the handler was told of
	bytes   atomic.Int64 // of the objects, and of a first list that is under way
	exceeds atomic.Bool  // [Options.Exceeded] was called with this cache
}

// Check returns an error where informers would not work in this process: without the feature a store does not know its
// resourceVersion, and the engine would wait for its own writes for ever.
func Check() error {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return fmt.Errorf("client-go's feature %s is off: remove the environment variable KUBE_FEATURE_%[1]s", features.AtomicFIFO)
	}
	return nil
}

// start runs a new informer until it is ended. It takes over the errors of the informer that it replaces, if any. The caller
// holds the lock of the set.
//
//nolint:forbidigo // An informer lives as long as it is wanted, longer than the call that wants it.
func (s *Set) start(key Key, keeps *projection.Fields, client dynamic.Interface, before *running) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{
		store: store{key: key}, set: s, keeps: keeps, decoded: client != s.client, kept: key.GVR.String() + " " + keeps.String(), ctx: ctx, stop: cancel, resource: client.Resource(key.GVR).Namespace(key.Namespace),
	}
	r.heard, r.logged = s.clock.Now(), sets.Set[metav1.StatusReason]{}
	if before != nil {
		before.mu.Lock()
		r.err, r.logged = before.err, before.logged.Clone()
		before.mu.Unlock()
	}
	r.indexer, r.synced = cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{}), make(chan struct{})
	s.options.Shared.running.Store(r, nil)
	s.count.Add(1)
	listWatch := &cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch}
	quiet := logr.Discard() // list and watch tell how requests went.
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(listWatch, s.client), nil, reflected{r}, cache.ReflectorOptions{
		Name: "informer", Logger: &quiet,
	})
	go reflector.RunWithContext(klog.NewContext(ctx, quiet))
	r.followSilence()
	return r
}

// isComplete reports whether the cache shows all objects, and nothing older than the cache before it has shown.
func (r *running) isComplete() bool { return r.hasSynced() && !r.behind.Load() }

// end stops the informer. When it returns, the handler is not told any more that the cache is complete.
func (r *running) end() {
	r.stop()
	r.set.options.Shared.running.Delete(r)
	r.set.count.Add(-1)
	r.telling.Lock()
	defer r.telling.Unlock()
	r.set.shrink(r)
}

// reflected is an informer as its reflector sees it, which calls one method at a time.
type reflected struct{ *running }

var (
	_ cache.ReflectorStore         = reflected{}
	_ cache.ReflectorBookmarkStore = reflected{}
)

// Add implements [cache.ReflectorStore].
func (r reflected) Add(object any) error { return r.Update(object) }

// Update implements [cache.ReflectorStore].
func (r reflected) Update(object any) error {
	before, _, err := r.indexer.Get(object)
	if err == nil {
		err = r.indexer.Update(object)
	}
	if err != nil {
		return fmt.Errorf("storing an object of %s: %w", r.key, err)
	}
	was, _ := before.(*compact.Object)
	is, _ := object.(*compact.Object)
	r.changed(was, is)
	return nil
}

// Delete implements [cache.ReflectorStore].
func (r reflected) Delete(object any) error {
	_, there, err := r.indexer.Get(object)
	if err == nil {
		err = r.indexer.Delete(object)
	}
	if err != nil {
		return fmt.Errorf("removing an object of %s: %w", r.key, err)
	}
	if last, _ := object.(*compact.Object); there {
		r.changed(last, nil)
	}
	return nil
}

// Replace implements [cache.ReflectorStore]. The cache shows all of a list at once, and then each change is told.
func (r reflected) Replace(objects []any, version string) error {
	before := map[cache.ObjectName]*compact.Object{}
	for _, object := range r.indexer.List() {
		if was, is := object.(*compact.Object); is {
			before[cache.MetaObjectToName(was.GetObjectMeta())] = was
		}
	}
	if err := r.indexer.Replace(objects, version); err != nil {
		return fmt.Errorf("storing the list of %s: %w", r.key, err)
	}
	gone := maps.Clone(before)
	for _, object := range objects {
		if is, ok := object.(*compact.Object); ok {
			delete(gone, cache.MetaObjectToName(is.GetObjectMeta()))
		}
	}
	for _, was := range gone {
		r.changed(was, nil)
	}
	for _, object := range objects {
		if is, ok := object.(*compact.Object); ok {
			r.changed(before[cache.MetaObjectToName(is.GetObjectMeta())], is)
		}
	}
	if !r.hasSynced() { // The handler has been told of every object of the first list.
		close(r.synced)
		go r.set.complete(r.running)
	}
	return nil
}

// Bookmark implements [cache.ReflectorBookmarkStore].
func (r reflected) Bookmark(version string) error {
	r.indexer.Bookmark(version)
	return nil
}

// Resync implements [cache.ReflectorStore]. It is never called: there is no period.
func (r reflected) Resync() error { return nil }

// changed tells a change. What a new list repeats is none; after a restore of etcd another object may have the same version.
func (r *running) changed(before, after *compact.Object) {
	switch object := cmp.Or(after, before); {
	case object == nil || before != nil && after != nil && (before == after || before.Equal(after)):
	default:
		if before == nil {
			r.objects.Add(1)
		} else if after == nil {
			r.objects.Add(-1)
		}
		if r.hasSynced() { // The first list has been counted as it came.
			r.set.grow(r, after.Size()-before.Size())
		}
		if name := cache.MetaObjectToName(object.GetObjectMeta()); !r.hidden.Load() {
			r.set.handler.Changed(Event{Key: r.key, Namespace: name.Namespace, Name: name.Name, Before: before, After: after})
		}
	}
}

// keep returns what the cache keeps of an object.
func (r *running) keep(object *unstructured.Unstructured) *compact.Object {
	fields := object.Object
	if !r.decoded {
		fields = r.keeps.Project(fields)
	}
	return r.set.options.Shared.share(r.kept, compact.New(fields))
}

// cacheBytes is about what a cache takes besides its objects, for its goroutines, its stream and its client.
const cacheBytes = 64 << 10

// grow counts what an informer takes, unless it has ended. Where the caches take too much it reports the one that takes most,
// unless there is enough room without caches that are about to end.
func (s *Set) grow(of *running, bytes int64) {
	if of.ctx.Err() != nil {
		return
	}
	of.bytes.Add(bytes)
	if taken := s.taken.Add(bytes) + s.count.Load()*cacheBytes; s.options.Limit == 0 || taken <= s.options.Limit {
		return
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var largest *running
	var taken int64
	for _, informers := range []map[Key]*running{s.running, s.wider} {
		for _, r := range informers {
			taken += r.bytes.Load() + cacheBytes
			if largest == nil || r.bytes.Load() > largest.bytes.Load() {
				largest = r
			}
		}
	}
	if taken > s.options.Limit && largest.exceeds.CompareAndSwap(false, true) {
		go s.options.Exceeded(largest.key) // It will stop the informer.
	}
}

// shrink takes back all that was counted of an informer that has ended, or lists anew.
func (s *Set) shrink(of *running) { s.taken.Add(-of.bytes.Swap(0)) }
