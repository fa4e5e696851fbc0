package storage_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	kubernetes "k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// inWorld is a store of one world, whatever the context: some of the tests have one of their own.
type inWorld struct {
	kubernetes.Interface
	world *storage.World
}

func (s inWorld) Create(ctx context.Context, key string, object, out runtime.Object, ttl uint64) error {
	return s.Interface.Create(storage.With(ctx, s.world), key, object, out, ttl)
}

func (s inWorld) Watch(ctx context.Context, key string, options kubernetes.ListOptions) (watch.Interface, error) {
	return s.Interface.Watch(storage.With(ctx, s.world), key, options)
}

func (s inWorld) GetList(ctx context.Context, key string, options kubernetes.ListOptions, list runtime.Object) error {
	return s.Interface.GetList(storage.With(ctx, s.world), key, options, list)
}

func (s inWorld) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	return s.Interface.GetCurrentResourceVersion(storage.With(ctx, s.world))
}

func (s inWorld) Get(ctx context.Context, key string, options kubernetes.GetOptions, out runtime.Object) error {
	return s.Interface.Get(storage.With(ctx, s.world), key, options, out)
}

func (s inWorld) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *kubernetes.Preconditions,
	validate kubernetes.ValidateObjectFunc, cached runtime.Object, options kubernetes.DeleteOptions,
) error {
	return s.Interface.Delete(storage.With(ctx, s.world), key, out, preconditions, validate, cached, options)
}

func (s inWorld) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *kubernetes.Preconditions, update kubernetes.UpdateFunc, cached runtime.Object,
) error {
	return s.Interface.GuaranteedUpdate(storage.With(ctx, s.world), key, out, ignoreNotFound, preconditions, update, cached)
}

// Kubernetes' own tests of watches, but for those of errors in what is stored.
func TestWatchConformance(t *testing.T) {
	for name, run := range map[string]func(context.Context, *testing.T, kubernetes.Interface){
		"watch":                    storagetesting.RunTestWatch,
		"delete":                   storagetesting.RunTestDeleteTriggerWatch,
		"from a version":           storagetesting.RunTestWatchFromNonZero,
		"delayed":                  storagetesting.RunTestDelayedWatchDelivery,
		"context":                  storagetesting.RunTestWatchContextCancel,
		"version of what is gone":  storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
		"cluster-scoped":           storagetesting.RunTestClusterScopedWatch,
		"namespaced":               storagetesting.RunTestNamespaceScopedWatch,
		"initial events, before":   storagetesting.RunSendInitialEventsBackwardCompatibility,
		"initial events":           storagetesting.RunWatchSemantics,
		"initial events, extended": storagetesting.RunWatchSemanticInitialEventsExtended,
		"from what is forgotten": func(ctx context.Context, t *testing.T, store kubernetes.Interface) {
			forget := func(context.Context, *testing.T, string) { store.(inWorld).world.Compact() }
			storagetesting.RunTestWatchFromZero(ctx, t, store, forget)
		},
		"initial events of one": storagetesting.RunWatchListMatchSingle,
	} {
		t.Run(name, func(t *testing.T) {
			store := pods(t)
			ctx, world := inNew(t.Context())
			world.Remember()
			run(ctx, t, inWorld{store, world})
		})
	}
}

// TestWatchEnds holds that a watch that ends gets a bookmark two seconds before, as from the watch cache of an API server: if it wants
// bookmarks, there is still so much time, and something has happened, be it elsewhere, since it began.
func TestWatchEnds(t *testing.T) {
	const elsewhere = "/pods/b/elsewhere"
	for name, c := range map[string]struct {
		from     string
		lasts    time.Duration
		unwanted bool
		writes   []string // after it has begun
		want     []string
	}{
		"elsewhere":            {lasts: 10 * time.Second, writes: []string{elsewhere}, want: []string{"8s BOOKMARK"}},
		"here":                 {lasts: 10 * time.Second, writes: []string{"/pods/a/one"}, want: []string{"0s ADDED", "8s BOOKMARK"}},
		"nothing happened":     {lasts: 10 * time.Second},
		"not wanted":           {lasts: 10 * time.Second, unwanted: true, writes: []string{elsewhere}},
		"short":                {lasts: time.Second, writes: []string{elsewhere}},
		"from what has been":   {from: "1000", lasts: 10 * time.Second},
		"from what is to come": {from: "99999999999", lasts: 10 * time.Second, writes: []string{elsewhere}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := pods(t)
				ctx, world := inNew(t.Context())
				world.Remember()
				write := func(key string) {
					t.Helper()
					if err := store.Create(ctx, key, &example.Pod{}, nil, 0); err != nil {
						t.Fatal(err)
					}
				}
				write("/pods/b/before")
				watched, cancel := context.WithTimeout(ctx, c.lasts)
				defer cancel()
				options := kubernetes.ListOptions{ResourceVersion: c.from, Recursive: true, Predicate: kubernetes.Everything}
				options.Predicate.AllowWatchBookmarks = !c.unwanted
				began := time.Now()
				w, err := store.Watch(watched, "/pods/a", options)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				for _, key := range c.writes {
					write(key)
				}
				var told []string
				for e := range w.ResultChan() {
					told = append(told, fmt.Sprint(time.Since(began), " ", e.Type))
				}
				if diff := cmp.Diff(c.want, told); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestWatchRefused holds that what cannot be watched is told by an event, as a real API server tells it.
func TestWatchRefused(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	world.Remember()
	world.Compact()
	for name, c := range map[string]struct {
		from    string
		initial *bool
		want    int32
	}{
		"initial events to come": {from: "99999999999", initial: new(true), want: http.StatusGatewayTimeout},
		"a version that is gone": {from: "1", want: http.StatusGone},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := store.Watch(ctx, "/pods", kubernetes.ListOptions{ResourceVersion: c.from, SendInitialEvents: c.initial, Predicate: kubernetes.Everything})
			if err != nil {
				t.Fatal(err)
			}
			e := <-w.ResultChan()
			if status, is := e.Object.(*metav1.Status); !is || e.Type != watch.Error || status.Code != c.want {
				t.Errorf("it told %s %v, want a status %d", e.Type, e.Object, c.want)
			}
			if e, open := <-w.ResultChan(); open {
				t.Errorf("then it told %s %v", e.Type, e.Object)
			}
		})
	}
}
