package informer

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// TestCount holds that it is known at any time how many objects a cache has, also once it has begun anew.
func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		defer o.Stop()
		count := func(want int) {
			t.Helper()
			synctest.Wait()
			if got, names := o.Count(everywhere), len(o.Names(everywhere)); got != want || names != want {
				t.Errorf("it counts %d, and has %d names, want %d", got, names, want)
			}
		}
		count(1)
		o.server.put(widget("a", "y"))
		o.server.put(widget("b", "y"))
		count(3)
		o.server.put(widget("b", "y", labelled("color", "red")))
		o.server.remove(types.NamespacedName{Namespace: "a", Name: "x"})
		count(2)
		o.Renew(widgets)
		count(2)
		if got := o.Count(Key{GVR: widgets, Namespace: "a"}); got != 0 {
			t.Errorf("a cache that does not run has %d", got)
		}
	})
}

// TestWithin holds that a set says which cache takes too much, before its first list is complete, and that what is dropped
// makes room.
func TestWithin(t *testing.T) {
	large := Key{GVR: widgets, LabelSelector: "size=large"}
	small := Key{GVR: widgets, LabelSelector: "size=small"}
	for _, plain := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server := &api{plain: plain}
			text := strings.Repeat("x", 20_000)
			for i := range 10 {
				server.put(widget("a", fmt.Sprintf("s-%d", i), labelled("size", "small")))
			}
			var mu sync.Mutex
			var exceeded []Key
			var set *Set
			set = NewSet(server, new(told), slog.New(slog.DiscardHandler), Options{Limit: 70_000 + 2*cacheBytes, Exceeded: func(key Key) {
				mu.Lock()
				exceeded = append(exceeded, key)
				mu.Unlock()
				set.Deny(map[Key]error{key: errNoRight})
			}})
			defer set.Stop()
			expect := func(reason string, times, visible int) {
				t.Helper()
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if want := slices.Repeat([]Key{large}, times); !slices.Equal(exceeded, want) {
					t.Errorf("told %v, want %v: %s", exceeded, want, reason)
				}
				if n := len(set.Names(small)); n != 10 || len(set.Names(large)) != visible {
					t.Errorf("%d and %d objects, want 10 and %d: %s", n, len(set.Names(large)), visible, reason)
				}
			}
			again := func() {
				t.Helper()
				set.Deny(nil)
			}
			set.Want([]Key{large, small}, nil, false)
			expect("There is little.", 0, 0)
			for i := range 4 {
				server.put(widget("a", fmt.Sprintf("l-%d", i), labelled("size", "large"), labelled("text", text)))
			}
			expect("It has grown.", 1, 0)
			again()
			expect("Its list is too much.", 2, 0)
			server.remove(types.NamespacedName{Namespace: "a", Name: "l-0"})
			server.remove(types.NamespacedName{Namespace: "a", Name: "l-1"})
			again()
			expect("It has become small enough.", 2, 2)
			ended := set.running[large]
			set.Stop()
			ended.arrived(&unstructured.Unstructured{Object: map[string]any{"text": text}}, true)
			if taken := set.taken.Load(); taken != 0 {
				t.Errorf("%d bytes are counted of nothing", taken)
			}
		})
	}
}

// TestWithinFirstList holds that a first list counts until the next one, not until the watch that follows it.
func TestWithinFirstList(t *testing.T) {
	r := filled(deaf{}, clock.RealClock{})
	r.resource, r.synced = (&api{}).Resource(widgets).Namespace(""), nil
	r.arrived(&unstructured.Unstructured{Object: widget("a", "x")}, true)
	listed := r.bytes.Load()
	w, err := r.watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if listed == 0 || r.bytes.Load() != listed {
		t.Errorf("%d bytes, and %d once it is watched", listed, r.bytes.Load())
	}
	if _, err := r.list(t.Context(), metav1.ListOptions{}); err != nil || r.bytes.Load() != 0 {
		t.Errorf("%v, and %d bytes of the list before", err, r.bytes.Load())
	}
}
