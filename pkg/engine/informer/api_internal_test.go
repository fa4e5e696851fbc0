package informer

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// api lists and watches objects of one resource, with selectors, bookmarks and
// streamed lists, as the API server does. A watch can be made to lag behind.
type api struct {
	dynamic.Interface
	// plain refuses streamed lists.
	plain bool

	mu      sync.Mutex
	version int
	objects map[types.NamespacedName]*unstructured.Unstructured
	log     []change
	watches []*stream
	holding map[Key]bool
	refuses map[string]error // by verb, and whatever the resource, but for the exceptions
	except  map[schema.GroupVersionResource]error
	asked   map[string]int // by verb
}

// change is what happened to an object: before or after is nil where it was or is not
// there.
type change struct {
	version       int
	before, after *unstructured.Unstructured
}

// put creates or replaces an object, and returns its resourceVersion.
func (a *api) put(object map[string]any) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	u := &unstructured.Unstructured{Object: object}
	u.SetResourceVersion(strconv.Itoa(a.version))
	if a.objects == nil {
		a.objects = map[types.NamespacedName]*unstructured.Unstructured{}
	}
	name := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
	a.tell(change{a.version, a.objects[name], u})
	a.objects[name] = u
	return u.GetResourceVersion()
}

// remove deletes an object if it is there.
func (a *api) remove(name types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.objects[name]
	if before == nil {
		return
	}
	a.version++
	delete(a.objects, name)
	a.tell(change{a.version, before, nil})
}

func (a *api) tell(c change) {
	a.log = append(a.log, c)
	for _, s := range a.watches {
		s.send(s.see(c))
	}
}

// hold has the watches of a key lag behind, or catch up.
func (a *api) hold(key Key, holding bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holding == nil {
		a.holding = map[Key]bool{}
	}
	a.holding[key] = holding
	for _, s := range a.watches {
		if s.key == key {
			s.release()
		}
	}
}

// stall has the oldest watch, which is that of an informer, deliver nothing any more.
func (a *api) stall() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watches[0].stalled = true
}

// pass has other resources change, of which no watch of this one tells.
func (a *api) pass() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
}

// refuse has it answer requests with an error from now on; nil is for none.
func (a *api) refuse(list, watch error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refuses, a.asked = map[string]error{"list": list, "version": list, "watch": watch}, map[string]int{}
}

// spare has it answer requests for these resources like that, whatever it refuses.
func (a *api) spare(err error, keys ...Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.except = map[schema.GroupVersionResource]error{}
	for _, key := range keys {
		a.except[key.GVR] = err
	}
}

// requests is how many there were since it was last told what to refuse.
func (a *api) requests(verb string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[verb]
}

// ask counts a request, for who holds the lock.
func (a *api) ask(verb string, gvr schema.GroupVersionResource) error {
	if a.asked == nil {
		a.asked = map[string]int{}
	}
	a.asked[verb]++
	if err, is := a.except[gvr]; is {
		return err
	}
	return a.refuses[verb]
}

// expire ends the watches of a key so that they cannot be resumed: what has happened
// meanwhile shows in a new list only.
func (a *api) expire(key Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range slices.Clone(a.watches) {
		if s.key == key {
			status := apierrors.NewResourceExpired("too old").Status()
			s.held = nil
			s.events <- watch.Event{Type: watch.Error, Object: &status}
			a.watches = slices.DeleteFunc(a.watches, func(other *stream) bool { return other == s })
		}
	}
}

// end ends the watches of a key as an API server does that has sent all it wanted.
func (a *api) end(key Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watches = slices.DeleteFunc(a.watches, func(s *stream) bool {
		if s.key == key {
			close(s.events)
		}
		return s.key == key
	})
}

// snapshot returns what restores the objects as they are now. Watches end then, as those of an API server that stops.
func (a *api) snapshot() (restore func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	version, objects, log := a.version, maps.Clone(a.objects), slices.Clone(a.log)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.version, a.objects, a.log = version, maps.Clone(objects), slices.Clone(log)
		for _, s := range a.watches {
			close(s.events)
		}
		a.watches = nil
	}
}

func (a *api) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return apiResource{api: a, key: Key{GVR: gvr}}
}

type apiResource struct {
	dynamic.NamespaceableResourceInterface
	api *api
	key Key
}

func (r apiResource) Namespace(namespace string) dynamic.ResourceInterface {
	r.key.Namespace = namespace
	return r
}

func (r apiResource) keyOf(options metav1.ListOptions) Key {
	r.key.LabelSelector, r.key.FieldSelector = options.LabelSelector, options.FieldSelector
	return r.key
}

func (r apiResource) List(_ context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	verb := "list"
	if options.Limit == 1 { // It is asked for the version alone.
		verb = "version"
	}
	if err := r.api.ask(verb, r.key.GVR); err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{}}
	list.SetResourceVersion(strconv.Itoa(r.api.version))
	for _, object := range r.api.objects {
		if r.keyOf(options).Admits(object.Object) {
			list.Items = append(list.Items, *served(r.key, object))
		}
	}
	return list, nil
}

func (r apiResource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	if err := r.api.ask("watch", r.key.GVR); err != nil {
		return nil, err
	}
	streamed := ptr.Deref(options.SendInitialEvents, false)
	if streamed && r.api.plain {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "watch", widgets.GroupResource(), "", "", 0, true)
	}
	s := &stream{api: r.api, key: r.keyOf(options), events: make(chan watch.Event, 2*len(r.api.objects)+1000), stopped: make(chan struct{})}
	if streamed {
		for _, object := range r.api.objects {
			if s.key.Admits(object.Object) {
				s.send(watch.Event{Type: watch.Added, Object: served(s.key, object)})
			}
		}
		s.send(bookmark(r.api.version, map[string]string{metav1.InitialEventsAnnotationKey: "true"}))
	} else {
		since, err := strconv.Atoi(options.ResourceVersion)
		if err != nil {
			return nil, err
		}
		for _, c := range r.api.log {
			if c.version > since {
				s.send(s.see(c))
			}
		}
	}
	r.api.watches = append(r.api.watches, s)
	if lasts := time.Duration(ptr.Deref(options.TimeoutSeconds, 0)) * time.Second; lasts < time.Minute { // Others outlast the tests.
		time.AfterFunc(lasts-2*time.Second, func() {
			r.api.mu.Lock()
			defer r.api.mu.Unlock()
			if slices.Contains(r.api.watches, s) {
				s.send(bookmark(r.api.version, nil))
			}
		})
		context.AfterFunc(ctx, func() {
			r.api.mu.Lock()
			defer r.api.mu.Unlock()
			if i := slices.Index(r.api.watches, s); i >= 0 {
				r.api.watches = slices.Delete(r.api.watches, i, i+1)
				close(s.events)
			}
		})
	}
	return s, nil
}

// stream is a watch.
type stream struct {
	api     *api
	key     Key
	events  chan watch.Event
	held    []watch.Event
	stalled bool // nothing is delivered any more
	stopped chan struct{}
	once    sync.Once
}

func (s *stream) Stop()                          { s.once.Do(func() { close(s.stopped) }) }
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

func (s *stream) send(event watch.Event) {
	if s.stalled {
		return
	}
	s.held = append(s.held, event)
	s.release()
}

func (s *stream) release() {
	if s.api.holding[s.key] {
		return
	}
	for _, event := range s.held {
		select {
		case s.events <- event:
		case <-s.stopped:
		}
	}
	s.held = nil
}

// see is a change as the selection shows it: what leaves it is deleted, and what
// never was in it is a bookmark.
func (s *stream) see(c change) watch.Event {
	selection := s.key
	was := c.before != nil && selection.Admits(c.before.Object)
	is := c.after != nil && selection.Admits(c.after.Object)
	switch {
	case is && was:
		return watch.Event{Type: watch.Modified, Object: served(s.key, c.after)}
	case is:
		return watch.Event{Type: watch.Added, Object: served(s.key, c.after)}
	case was:
		last := served(s.key, c.before)
		last.SetResourceVersion(strconv.Itoa(c.version))
		return watch.Event{Type: watch.Deleted, Object: last}
	default:
		return bookmark(c.version, nil)
	}
}

// served is an object as a resource has it: all resources have the same ones.
func served(as Key, object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	out.SetAPIVersion(as.GVR.GroupVersion().String())
	return out
}

func bookmark(version int, annotations map[string]string) watch.Event {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetResourceVersion(strconv.Itoa(version))
	u.SetAnnotations(annotations)
	return watch.Event{Type: watch.Bookmark, Object: u}
}

// deaf is a handler that nobody has to wait for, but for the first lists.
type deaf struct{ synced chan Key }

func (deaf) Changed(Event)       {}
func (d deaf) Synced(key Key)    { d.synced <- key }
func (deaf) Widened(Key)         {}
func (deaf) Troubled(Key, error) {}

// begin runs informers against an API, and stops them when the test ends. What it
// returns besides tells when one has become complete.
func begin(t testing.TB, client dynamic.Interface, keys ...Key) (*Set, <-chan Key) {
	t.Helper()
	handler := deaf{make(chan Key, len(keys))}
	set := NewSet(client, handler, slog.New(slog.DiscardHandler), Options{})
	t.Cleanup(set.Stop)
	set.Want(keys, nil, false)
	return set, handler.synced
}
