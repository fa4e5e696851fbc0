package source

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// api lists and watches set objects, or fails to.
type api struct {
	dynamic.Interface

	mu      sync.Mutex
	fails   map[string]error // by resource
	version int
	objects map[Key]*unstructured.Unstructured
	watches map[string]*watch.RaceFreeFakeWatcher // by resource
}

func newAPI() *api {
	return &api{
		fails: map[string]error{}, objects: map[Key]*unstructured.Unstructured{},
		watches: map[string]*watch.RaceFreeFakeWatcher{},
	}
}

func resourceOf(kind string) string { return strings.ToLower(kind) + "s" }

// fail has the requests for a resource fail, or succeed again.
func (a *api) fail(kind string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails[resourceOf(kind)] = err
	if w := a.watches[resourceOf(kind)]; w != nil && err != nil {
		w.Stop()
		delete(a.watches, resourceOf(kind))
	}
}

// put stores an object, a new one or another version of it.
func (a *api) put(key Key, change func(u *unstructured.Unstructured)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	event := watch.Modified
	before := a.objects[key]
	if before == nil {
		event = watch.Added
		before = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "dyncontroller.dev/v1alpha1", "kind": key.Kind}}
		before.SetNamespace(key.Namespace)
		before.SetName(key.Name)
		before.SetUID("u")
	}
	after := before.DeepCopy()
	change(after)
	after.SetResourceVersion(strconv.Itoa(a.version))
	a.objects[key] = after
	a.tell(key, event, after)
}

func (a *api) remove(key Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	last := a.objects[key].DeepCopy()
	last.SetResourceVersion(strconv.Itoa(a.version))
	delete(a.objects, key)
	a.tell(key, watch.Deleted, last)
}

func (a *api) tell(key Key, kind watch.EventType, object *unstructured.Unstructured) {
	if w := a.watches[resourceOf(key.Kind)]; w != nil {
		w.Action(kind, object)
	}
}

func (a *api) Resource(gvr apischema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return apiResource{api: a, resource: gvr.Resource}
}

type apiResource struct {
	dynamic.NamespaceableResourceInterface
	api      *api
	resource string
}

func (r apiResource) Namespace(string) dynamic.ResourceInterface { return r }

func (r apiResource) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	if err := r.api.fails[r.resource]; err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{}}
	list.SetResourceVersion(strconv.Itoa(r.api.version))
	for key, object := range r.api.objects {
		if resourceOf(key.Kind) == r.resource {
			list.Items = append(list.Items, *object.DeepCopy())
		}
	}
	return list, nil
}

func (r apiResource) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	if err := r.api.fails[r.resource]; err != nil {
		return nil, err
	}
	w := watch.NewRaceFreeFake()
	if options.SendInitialEvents != nil {
		for key, object := range r.api.objects {
			if resourceOf(key.Kind) == r.resource {
				w.Action(watch.Added, object.DeepCopy())
			}
		}
		last := &unstructured.Unstructured{Object: map[string]any{}}
		last.SetResourceVersion(strconv.Itoa(r.api.version))
		last.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		w.Action(watch.Bookmark, last)
	}
	r.api.watches[r.resource] = w
	return w, nil
}

// follow runs objects against an API until the test ends, within a bubble.
func follow(t *testing.T, server *api) (*Objects, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	objects := NewObjects(server, slog.New(slog.NewTextHandler(&log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { objects.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	synctest.Wait()
	return objects, &log
}

// pass lets time of the bubble pass.
func pass(d time.Duration) { <-time.After(d) }

// pass lets time of the bubble pass, during which the API server sends bookmarks.
func (a *api) pass(d time.Duration) {
	for ; d > 0; d -= time.Minute {
		a.mu.Lock()
		for _, w := range a.watches {
			now := &unstructured.Unstructured{Object: map[string]any{}}
			now.SetResourceVersion(strconv.Itoa(a.version))
			w.Action(watch.Bookmark, now)
		}
		a.mu.Unlock()
		pass(min(d, time.Minute))
	}
}

// news reports whether something has changed since the last time, once all is quiet.
func news(o *Objects) bool {
	synctest.Wait()
	select {
	case <-o.Changed():
		return true
	default:
		return false
	}
}

var (
	guardKey = Key{"RuleSet", "shop", "guard"}
	clusterA = Key{"ClusterRuleSet", "", "a"}
)

func unchanged(*unstructured.Unstructured) {}

func set(value any, path ...string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
			panic(err)
		}
	}
}

func TestObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPI()
		server.put(guardKey, func(u *unstructured.Unstructured) {
			u.SetGeneration(3)
			u.SetFinalizers([]string{"example.com/other", v1alpha1.Finalizer})
			now := metav1.NewTime(time.Unix(1, 0))
			u.SetDeletionTimestamp(&now)
			u.SetAnnotations(map[string]string{"dyncontroller.dev/resume": "a"})
			set(map[string]any{"rules": []any{}}, "spec")(u)
			set(map[string]any{"observedGeneration": int64(2), "inventory": []any{map[string]any{"rule": "a", "kind": "Child"}}}, "status")(u)
		})
		for _, key := range []Key{{"RuleSet", "b", "z"}, {"RuleSet", "b", "a"}, clusterA} {
			server.put(key, unchanged)
		}
		objects, log := follow(t, server)
		if !news(objects) || !objects.Synced() || objects.Trouble() != nil {
			t.Errorf("the first list: synced %v, trouble %v", objects.Synced(), objects.Trouble())
		}
		var names []string
		for _, object := range objects.List() {
			names = append(names, object.String())
		}
		if diff := cmp.Diff([]string{"ClusterRuleSet a", "RuleSet b/a", "RuleSet b/z", "RuleSet shop/guard"}, names); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		got := objects.List()[3]
		want := Object{
			Key: guardKey, UID: "u", ResourceVersion: "1", Generation: 3, Deleting: true, Finalizer: true,
			Status:      v1alpha1.Status{ObservedGeneration: 2, Inventory: []v1alpha1.Leftover{{Rule: "a", Kind: "Child"}}},
			Annotations: map[string]string{"dyncontroller.dev/resume": "a"},
			Document:    DocumentOf(guardKey, map[string]any{"spec": map[string]any{"rules": []any{}}}),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if other := objects.List()[0]; other.Deleting || other.Finalizer || other.Document.Name != "ClusterRuleSet a" {
			t.Errorf("got %+v", other)
		}
		if log.Len() > 0 {
			t.Errorf("nothing was to be told: %s", log)
		}
	})
}

func TestObjectsChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*unstructured.Unstructured)
		want   bool
	}{
		"nothing":    {"A write that changes nothing is no news.", unchanged, false},
		"spec":       {"It has a new generation then.", set(int64(2), "metadata", "generation"), true},
		"annotation": {"A rule may be resumed by one.", set("x", "metadata", "annotations", "a"), true},
		"deleted":    {"It is to be cleaned up.", set("2026-01-01T00:00:00Z", "metadata", "deletionTimestamp"), true},
		"finalizer":  {"Somebody may have taken ours off.", set([]any{"a"}, "metadata", "finalizers"), true},
		"recreated":  {"It may be another one within one look.", set("v", "metadata", "uid"), true},
		"inventory":  {"What it says is cleaned up.", set([]any{map[string]any{"rule": "a"}}, "status", "inventory"), true},
		"paused":     {"What is written beside it is written by its version.", set([]any{map[string]any{"rule": "a"}}, "status", "paused"), true},
		"counted":    {"So is this.", set([]any{map[string]any{"rule": "a"}}, "status", "counted"), true},
		"rollouts":   {"So is this.", set([]any{map[string]any{"rule": "a"}}, "status", "rollouts"), true},
		"status":     {"It is the echo of our own write.", set([]any{map[string]any{"type": "Ready"}}, "status", "conditions"), false},
		"managed":    {"They come along with every write.", set([]any{map[string]any{"manager": "a"}}, "metadata", "managedFields"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPI()
				server.put(guardKey, unchanged)
				objects, _ := follow(t, server)
				news(objects)
				server.put(guardKey, tc.change)
				if got := news(objects); got != tc.want {
					t.Errorf("%s Told: %v", tc.reason, got)
				}
				if got := objects.List(); len(got) != 1 || got[0].ResourceVersion != "2" {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// TestList holds that who lists the objects once has those that a watch shows, and all or none of them.
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPI()
		server.put(guardKey, unchanged)
		server.put(clusterA, unchanged)
		objects, _ := follow(t, server)
		got, err := List(t.Context(), server, "")
		if diff := cmp.Diff(objects.List(), got); err != nil || len(got) != 2 || diff != "" {
			t.Errorf("got %v (-watch +list):\n%s", err, diff)
		}
		if got, err := List(t.Context(), server, guardKey.Namespace); err != nil || len(got) != 1 || got[0].Key != guardKey {
			t.Errorf("of a namespace: got %v, %v", got, err)
		}
		server.fail("RuleSet", apierrors.NewForbidden(v1alpha1.RuleSets().GroupResource(), "", errors.New("no")))
		if got, err := List(t.Context(), server, ""); len(got) > 0 || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "grant it these rights") {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// TestObjectsComeAndGo holds that many changes are told as one.
func TestObjectsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPI()
		objects, _ := follow(t, server)
		news(objects)
		server.put(guardKey, unchanged)
		server.put(clusterA, unchanged)
		if !news(objects) || news(objects) || len(objects.List()) != 2 {
			t.Errorf("want one value for two objects, got %+v", objects.List())
		}
		server.remove(guardKey)
		if !news(objects) || len(objects.List()) != 1 {
			t.Errorf("got %+v", objects.List())
		}
	})
}

// TestObjectsWithoutCRDs holds that it is told once, and that it recovers alone.
func TestObjectsWithoutCRDs(t *testing.T) {
	missing := apierrors.NewGenericServerResponse(http.StatusNotFound, "list", apischema.GroupResource{}, "", "404 page not found", 0, true)
	forbidden := apierrors.NewForbidden(v1alpha1.ClusterRuleSets().GroupResource(), "", errors.New("no"))
	synctest.Test(t, func(t *testing.T) {
		server := newAPI()
		server.fail("RuleSet", missing)
		server.fail("ClusterRuleSet", missing)
		objects, log := follow(t, server)
		server.pass(5 * time.Minute) // Many attempts.
		if objects.Synced() || len(objects.List()) > 0 {
			t.Error("nothing can be known")
		}
		if !news(objects) || news(objects) {
			t.Error("the trouble is told, and not with every attempt")
		}
		if got := strings.Count(log.String(), "the CRDs are not installed (deploy/crds)"); got != 2 {
			t.Errorf("it is logged %d times:\n%s", got, log)
		}
		if err := objects.Trouble(); err == nil || strings.Count(err.Error(), "\n") != 1 || !apierrors.IsNotFound(err) {
			t.Errorf("each kind has its line: %v", err)
		}
		server.fail("RuleSet", nil)
		server.fail("ClusterRuleSet", forbidden)
		server.put(guardKey, unchanged)
		server.pass(2 * time.Minute)
		if len(objects.List()) != 1 || objects.Synced() {
			t.Errorf("one kind is seen, got %+v, synced %v", objects.List(), objects.Synced())
		}
		if err := objects.Trouble(); err == nil || !strings.Contains(err.Error(), "grant it these rights") {
			t.Errorf("got %v", err)
		}
		server.fail("ClusterRuleSet", nil)
		server.pass(2 * time.Minute)
		if !news(objects) || !objects.Synced() || objects.Trouble() != nil {
			t.Errorf("all is well: synced %v, %v", objects.Synced(), objects.Trouble())
		}
		server.fail("ClusterRuleSet", errors.New("connection refused"))
		server.pass(2 * time.Minute)
		if !objects.Synced() || objects.Trouble() == nil || len(objects.List()) != 1 {
			t.Errorf("what was known still is: synced %v, %v, %+v", objects.Synced(), objects.Trouble(), objects.List())
		}
	})
}
