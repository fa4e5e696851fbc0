package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Key says what an informer lists and watches; the API server evaluates it. It
// is comparable.
type Key struct {
	GVR           schema.GroupVersionResource
	Namespace     string // empty for all
	LabelSelector string
	FieldSelector string
}

// String names the informer in logs and reports, as kubectl would be asked.
func (k Key) String() string {
	parts := []string{plan.ResourceName(k.GVR)}
	for _, flag := range []struct{ name, value string }{
		{"-n", k.Namespace}, {"-l", k.LabelSelector}, {"--field-selector", k.FieldSelector},
	} {
		if flag.value != "" {
			parts = append(parts, flag.name, flag.value)
		}
	}
	return strings.Join(parts, " ")
}

// Handler is told what happens. Its methods must return quickly and may be
// called at the same time.
type Handler interface {
	// Changed says that an object was added, changed or removed. The cache shows it
	// already.
	Changed(event Event)
	// Synced says that a cache has become complete. One that could not be kept up to date
	// begins anew, and is told of again; what has gone meanwhile is told by nothing else.
	Synced(key Key)
	// Troubled says that a request to list or watch failed. It is repeated
	// with every attempt.
	Troubled(key Key, err error)
}

// Event is a change of one object in one cache.
type Event struct {
	Key             Key
	Namespace, Name string
	// Before and After are the object in the cache, nil where it was or is not there.
	// They are shared, read only, and not to be kept: by the time that somebody looks
	// at the object there may be a newer one.
	Before, After map[string]any
}

// running is one informer and what is known of it.
type running struct {
	key      Key
	informer cache.SharedIndexInformer
	resource dynamic.ResourceInterface // for requests beside those of the informer
	handler  Handler
	log      *slog.Logger
	ctx      context.Context //nolint:containedctx // It is the life of the informer.
	stop     context.CancelFunc
	indexes  indexes
	load     *load
	peers    *Peers
	slow     atomic.Bool // the first list has taken so long that it does not count any more
	set      *Set
	errors   listErrors
	bound    bound
	watching atomic.Pointer[observedWatch] // the last one
	told     func() bool                   // the handler has been told of all objects of the first list

	telling sync.Mutex // held while the handler is told that it is complete
	ended   bool       // guarded by telling
}

// errNoVersions is told rather than waited for: without the feature a store does not
// know how far it has seen, and whoever waits for its own writes would wait for ever.
var errNoVersions = errors.New("client-go's feature " + string(features.AtomicFIFO) +
	" is off: remove the environment variable KUBE_FEATURE_" + string(features.AtomicFIFO))

// start runs a new informer until its stop function is called. It takes over the errors
// of the one in whose place it begins, if any. It is for who holds the lock of the set.
//
//nolint:forbidigo // An informer lives as long as it is wanted, longer than the call that wants it.
func (s *Set) start(key Key, before *listErrors) error {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return fmt.Errorf("starting an informer: %w", errNoVersions)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{
		key: key, handler: s.handler, log: s.log, ctx: ctx, stop: cancel, load: newLoad(clock.RealClock{}), peers: s.peers,
		set: s, resource: s.client.Resource(key.GVR).Namespace(key.Namespace),
	}
	r.errors.takeOver(before)
	r.informer = cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch}, s.client),
		&unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}, ObjectDescription: key.GVR.String()}, // Not nil, which no index can be added to.
	)
	registration, err := r.prepare()
	if err != nil {
		cancel()
		return fmt.Errorf("starting the informer for %s: %w", key, err)
	}
	r.told = registration.HasSynced
	r.peers.join(r)
	go r.informer.RunWithContext(ctx)
	go r.followSilence(ctx)
	go func() {
		// The registration is synced once the handler has been told of every
		// object of the first list.
		select {
		case <-registration.HasSyncedChecker().Done():
			r.tell()
		case <-ctx.Done():
		}
	}()
	s.running[key] = r
	return nil
}

// tell says that the informer is complete, unless it has ended.
func (r *running) tell() {
	r.telling.Lock()
	defer r.telling.Unlock()
	if !r.ended {
		r.handler.Synced(r.key)
	}
}

// end stops the informer. When it returns, nobody is told any more that it is complete.
func (r *running) end() {
	r.stop()
	r.peers.leave(r)
	r.telling.Lock()
	defer r.telling.Unlock()
	r.set.shrink(r, true)
	r.ended = true
}

func (r *running) prepare() (cache.ResourceEventHandlerRegistration, error) {
	if err := r.informer.SetTransform(r.transform); err != nil {
		return nil, err
	}
	err := r.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		r.log.Debug("watch ended", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String(), "err", err)
	})
	if err != nil {
		return nil, err
	}
	return r.informer.AddEventHandler(r)
}

// arrived counts an object of a first list, before it is in the cache.
func (r *running) arrived(object *unstructured.Unstructured) {
	Trim(object)
	r.set.grow(r, sizeOf(object.Object))
}

// answered is told how each request to list or watch went.
func (r *running) answered(err error) {
	r.lost(err)
	if errors.Is(err, context.Canceled) {
		return
	}
	err = r.key.explain(err)
	if r.errors.add(err) {
		r.log.Warn("cannot list or watch", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String(), "err", err)
	}
	if err != nil {
		r.handler.Troubled(r.key, err)
	}
}

// asked is told the same after it, and whether it was a list. That a watch begins says nothing of what it will deliver.
func (r *running) asked(list bool, err error) {
	if list && err == nil {
		r.load.hear()
	}
	known, unlessDown := r.errors.outdates(list, err)
	switch {
	case !known || !r.informer.HasSynced():
	case unlessDown && r.peers.isServerDown(r):
		r.errors.answer()
	default:
		r.set.renew(r)
	}
}

// hasNoResource reports whether there has never been anything to list.
func (r *running) hasNoResource() bool {
	return !r.informer.HasSynced() && apierrors.IsNotFound(r.errors.latest())
}

// heard is told that the API server has sent something that is no error.
func (r *running) heard() {
	r.load.hear()
	if r.errors.succeed() {
		r.log.Info("can list and watch again", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String())
	}
}

// OnAdd implements [cache.ResourceEventHandler].
func (r *running) OnAdd(object any, _ bool) {
	r.load.objects.Add(1)
	r.changed(object, nil, fieldsOf(object))
}

// OnUpdate drops what a resync or a relist repeats. After a restore of etcd an object may have become another under the
// same version.
func (r *running) OnUpdate(before, after any) {
	was, is := fieldsOf(before), fieldsOf(after)
	if versionOf(was) != versionOf(is) || !plan.Equal(was, is) {
		r.changed(after, was, is)
	}
}

// OnDelete takes a tombstone for the object it stands for.
func (r *running) OnDelete(object any) {
	last := object
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		last = tombstone.Obj
	}
	r.load.objects.Add(-1)
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
	r.handler.Changed(Event{Key: r.key, Namespace: name.Namespace, Name: name.Name, Before: before, After: after})
}

func versionOf(object map[string]any) string { return plan.Text(object, "metadata", "resourceVersion") }

func fieldsOf(object any) map[string]any {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	return u.Object
}

// errNotUnstructured cannot happen with a dynamic client.
var errNotUnstructured = errors.New("the informer holds something other than an unstructured object")

// transform is a [cache.TransformFunc]: what the cache keeps of an object. client-go may give it one twice, when others read it
// already.
func (r *running) transform(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, errNotUnstructured
	}
	Trim(u)
	return r.peers.objects.share(r.key.GVR, u), nil
}

// Trim takes from an object what caches do not hold of it: the entries of other field
// managers, often a third of an object, are emptied. Our own Apply entries stay, or a
// restart could not see that an apply would change nothing, and they stay in their
// places, by which they are given up.
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
		case isOwnApply(entry):
			last = i
		case len(entry) > 0:
			entries[i] = map[string]any{}
		}
	}
	if last < 0 {
		delete(metadata, "managedFields")
	}
}

func isOwnApply(entry map[string]any) bool {
	manager, _ := entry["manager"].(string)
	return entry["operation"] == "Apply" && strings.HasPrefix(manager, plan.FieldManager+"/")
}
