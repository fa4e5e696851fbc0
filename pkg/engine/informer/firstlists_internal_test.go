package informer

import (
	"context"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// busy is an API server that takes its time for lists, streamed ones included, but for those of a resource that is spared.
type busy struct {
	*api
	answer chan struct{} // one for each list; closed for all
	spared schema.GroupVersionResource

	mu          sync.Mutex
	under, most int // how many lists are under way
}

// wait counts a list until it is answered.
func (b *busy) wait(stop <-chan struct{}) error {
	b.count(1)
	defer b.count(-1)
	select {
	case <-b.answer:
		return nil
	case <-stop:
		return context.Canceled
	}
}

func (b *busy) count(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under += n
	b.most = max(b.most, b.under)
}

// lists returns how many lists are under way once all goroutines wait.
func (b *busy) lists() int {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.under
}

func (b *busy) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return busyResource{b.api.Resource(gvr), b, gvr}
}

type busyResource struct {
	dynamic.NamespaceableResourceInterface
	busy *busy
	gvr  schema.GroupVersionResource
}

func (r busyResource) Namespace(namespace string) dynamic.ResourceInterface {
	return busyNamespace{r.NamespaceableResourceInterface.Namespace(namespace), r}
}

type busyNamespace struct {
	dynamic.ResourceInterface
	of busyResource
}

func (n busyNamespace) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if n.of.gvr != n.of.busy.spared && options.Limit != 1 {
		if err := n.of.busy.wait(ctx.Done()); err != nil {
			return nil, err
		}
	}
	return n.ResourceInterface.List(ctx, options)
}

func (n busyNamespace) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := n.ResourceInterface.Watch(ctx, options)
	if err != nil || options.SendInitialEvents == nil || n.of.gvr == n.of.busy.spared {
		return w, err
	}
	late := &lateWatch{Interface: w, events: make(chan watch.Event), stopped: make(chan struct{})}
	go late.pass(n.of.busy)
	return late, nil
}

// lateWatch sends nothing before the API server answers.
type lateWatch struct {
	watch.Interface
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (w *lateWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *lateWatch) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.Interface.Stop()
}

func (w *lateWatch) pass(b *busy) {
	if b.wait(w.stopped) != nil {
		return
	}
	for {
		select {
		case event := <-w.Interface.ResultChan():
			select {
			case w.events <- event:
			case <-w.stopped:
				return
			}
		case <-w.stopped:
			return
		}
	}
}

// start runs sets of one process that want so many caches each.
func (b *busy) start(t *testing.T, sets, each int) (shared *Shared, all []*Set, stop func()) {
	t.Helper()
	shared = NewShared()
	for i := range sets {
		var keys []Key
		for j := range each {
			keys = append(keys, Key{GVR: widgets, Namespace: strconv.Itoa(i*each + j)})
		}
		set := NewSet(b, new(told), slog.New(slog.DiscardHandler), Options{Shared: shared})
		set.Want(keys, nil, false)
		all = append(all, set)
	}
	return shared, all, func() {
		for _, set := range all {
			set.Stop()
		}
		synctest.Wait()
		if shared.lists.under > 0 || len(shared.lists.lines) > 0 {
			t.Errorf("%d lists are still counted, of %d sets", shared.lists.under, len(shared.lists.lines))
		}
	}
}

func synced(sets []*Set) (n int) {
	synctest.Wait()
	for _, set := range sets {
		for _, status := range set.Status() {
			if status.Synced {
				n++
			}
		}
	}
	return n
}

// TestFirstLists holds that a process fills a bounded number of caches at once, however many sets it has, and all in the end.
func TestFirstLists(t *testing.T) {
	for name, plain := range map[string]bool{"Lists": true, "Streams": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &busy{api: &api{plain: plain}, answer: make(chan struct{})}
				_, sets, stop := server.start(t, 3, 15)
				defer stop()
				for done := range 45 {
					if got, want := server.lists(), min(45-done, maxFirstLists); got != want {
						t.Fatalf("%d lists are under way after %d, want %d", got, done, want)
					}
					server.answer <- struct{}{}
				}
				if n := synced(sets); n != 45 || server.most != maxFirstLists {
					t.Errorf("%d caches are filled, at most %d at once", n, server.most)
				}
				// What has been filled once does not wait.
				server.expire(Key{GVR: widgets, Namespace: "0"})
				var done []func()
				for range maxFirstLists {
					free, err := sets[0].options.Shared.lists.take(t.Context(), new(Set))
					if err != nil {
						t.Fatal(err)
					}
					done = append(done, free)
				}
				if passes(2 * time.Second); server.lists() != 1 {
					t.Error("a cache is not listed again")
				}
				for _, free := range done {
					free()
				}
			})
		})
	}
}

// TestFirstListsThatHang holds that lists which are not answered keep others out for a while only, and once.
func TestFirstListsThatHang(t *testing.T) {
	for name, plain := range map[string]bool{"Lists": true, "Streams": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &busy{api: &api{plain: plain}, answer: make(chan struct{})}
				_, sets, stop := server.start(t, 5, 5)
				defer stop()
				for _, want := range []int{10, 20, 25, 25} {
					if got := server.lists(); got != want {
						t.Errorf("%d lists are under way, want %d", got, want)
					}
					passes(maxFirstList)
				}
				before := server.most
				close(server.answer)
				if n := synced(sets); n != 25 || server.most != before {
					t.Errorf("%d caches are filled, at most %d at once", n, server.most)
				}
			})
		})
	}
}

// TestFirstListsBesideOthers holds that a cache is filled at once although many others are not to be had.
func TestFirstListsBesideOthers(t *testing.T) {
	tests := map[string]struct {
		reason string
		others func(*busy) // the lists of the others begin
	}{
		"Denied": {"A list that is not allowed ends at once.", func(b *busy) {
			b.refuse(errForbidden, errForbidden)
			close(b.answer)
			passes(0)
		}},
		"Hung": {"They have had their time.", func(*busy) { passes(3 * maxFirstList) }},
		"HungAgain": {"They fail at last, are tried again, and hang.", func(b *busy) {
			b.refuse(errTimeout, errTimeout)
			passes(3 * maxFirstList)
			for range 25 {
				b.answer <- struct{}{}
			}
			passes(5 * time.Minute)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &busy{api: &api{plain: true}, answer: make(chan struct{}), spared: gadgets.GVR}
				server.spare(nil, gadgets)
				shared, sets, stop := server.start(t, 1, 25)
				defer stop()
				tc.others(server)
				late := NewSet(server, new(told), slog.New(slog.DiscardHandler), Options{Shared: shared})
				defer late.Stop()
				late.Want([]Key{gadgets}, nil, false)
				if n, others := synced([]*Set{late}), synced(sets); n != 1 || others != 0 {
					t.Errorf("%s %d of it and %d of the others are filled", tc.reason, n, others)
				}
			})
		})
	}
}

// TestFirstListsEnd holds that a set which stops leaves nothing to wait for, neither of the lists that are under way nor of
// those that wait.
func TestFirstListsEnd(t *testing.T) {
	for name, plain := range map[string]bool{"Lists": true, "Streams": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &busy{api: &api{plain: plain}, answer: make(chan struct{})}
				_, _, stop := server.start(t, 2, 25)
				if got := server.lists(); got != maxFirstLists {
					t.Errorf("%d lists are under way", got)
				}
				stop()
				if got := server.lists(); got != 0 {
					t.Errorf("%d lists are left", got)
				}
			})
		})
	}
}

// TestFirstListsOfQuietSets holds that sets with few caches have them filled while another set waits for many lists that are not
// answered.
func TestFirstListsOfQuietSets(t *testing.T) {
	for name, plain := range map[string]bool{"Lists": true, "Streams": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &busy{api: &api{plain: plain}, answer: make(chan struct{}), spared: gadgets.GVR}
				shared, loud, stop := server.start(t, 1, 200)
				defer stop()
				if got := server.lists(); got != maxOfOneSet {
					t.Errorf("%d lists are under way", got)
				}
				var quiet []*Set
				for range 3 {
					set := NewSet(server, new(told), slog.New(slog.DiscardHandler), Options{Shared: shared})
					defer set.Stop()
					set.Want([]Key{{GVR: gadgets.GVR}, {GVR: gadgets.GVR, Namespace: "a"}, {GVR: gadgets.GVR, Namespace: "b"}}, nil, false)
					quiet = append(quiet, set)
				}
				if n, others := synced(quiet), synced(loud); n != 9 || others != 0 {
					t.Errorf("%d of 9 caches are filled, and %d of the other set", n, others)
				}
			})
		})
	}
}

// TestTurns holds that sets take turns, whatever the number of lists that each waits for.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		given := make(chan string, 100)
		done := map[string]chan func(){}
		wait := func(name string, set *Set, count int) {
			if done[name] == nil {
				done[name] = make(chan func(), 100)
			}
			for range count {
				go func() {
					free, err := turns.take(t.Context(), set)
					if err != nil {
						return
					}
					given <- name
					done[name] <- free
				}()
			}
			synctest.Wait()
		}
		next := func() (names string) {
			synctest.Wait()
			for len(given) > 0 {
				names += <-given
			}
			return names
		}
		a, b, c := new(Set), new(Set), new(Set)
		wait("a", a, 50)
		if got := next(); got != "aaaaaaaaa" {
			t.Errorf("of one set, %q are under way", got)
		}
		wait("b", b, 50)
		wait("c", c, 3)
		if got := next(); got != "b" {
			t.Errorf("the last one goes to %q", got)
		}
		var order string
		for range 5 {
			(<-done["a"])()
			order += next()
		}
		if order != "cbcbc" {
			t.Errorf("the next turns are %q, want the others to come up to the first, by turns", order)
		}
	})
}

// TestGoroutines holds that a cache takes few goroutines: that of client-go's reflector, the one that it has for resyncs, and one
// that passes on the events of the watch.
func TestGoroutines(t *testing.T) {
	for name, plain := range map[string]bool{"Lists": true, "Streams": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const caches, each = 200, 3
				server := &busy{api: &api{plain: plain}, answer: make(chan struct{}), spared: widgets}
				synctest.Wait()
				before := bubbled()
				_, sets, stop := server.start(t, 1, caches)
				defer stop()
				if n := synced(sets); n != caches {
					t.Errorf("%d caches are filled", n)
				}
				if took := bubbled() - before; took > caches*each {
					t.Errorf("%d caches take %d goroutines", caches, took)
				}
			})
		})
	}
}

// bubbled is how many goroutines there are in bubbles: the runtime begins some of its own at any time.
func bubbled() int {
	stacks := make([]byte, 16<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "synctest bubble")
}
