package informer

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
)

// TestVersion holds that a cache says how far it has seen, for lists that are
// streamed and for those that are not.
func TestVersion(t *testing.T) {
	for name, plain := range map[string]bool{"Streamed": false, "Plain": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, red := &api{plain: plain, version: 41}, Key{GVR: widgets, LabelSelector: "color=red"}
				set, _ := begin(t, server, red)
				check := func(reason, want string) {
					t.Helper()
					synctest.Wait()
					if got := set.Version(red); got != want {
						t.Errorf("%s The cache has seen up to %q, want %q", reason, got, want)
					}
				}
				if got := set.Version(everywhere); got != "" {
					t.Errorf("a cache that does not run has seen up to %q", got)
				}
				check("An empty list has a version.", "41")
				server.put(widget("a", "x", labelled("color", "red")))
				check("What comes has one.", "42")
				server.put(widget("a", "y"))
				check("What does not concern it is told by a bookmark.", "43")
				server.put(widget("a", "x", labelled("color", "blue")))
				check("What leaves the selection is deleted.", "44")
				server.put(widget("a", "x", labelled("color", "red")))
				server.remove(types.NamespacedName{Namespace: "a", Name: "x"})
				check("A deletion has a version of its own.", "46")

				server.hold(red, true)
				server.put(widget("a", "z", labelled("color", "red")))
				check("It has not been told yet.", "46")
				server.expire(red)
				check("Nor does it know when the watch breaks.", "46")
				<-time.After(time.Minute)
				server.hold(red, false)
				check("A new list has a version.", "47")
				if set.View(red, "a", "z").Object == nil {
					t.Error("the list has not come with its version")
				}
			})
		})
	}
}

// TestVersionIsNotAhead holds that a cache shows what it says that it has seen, at
// every moment. The version of the reflector, which runs ahead, fails this test.
func TestVersionIsNotAhead(t *testing.T) {
	const writes = 3000
	number := func(version string) int {
		n, err := strconv.Atoi(version)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	server := &api{}
	server.put(widget("a", "x"))
	set, synced := begin(t, server, everywhere)
	<-synced
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for seen := 0; seen < writes && !t.Failed(); {
				seen = number(set.Version(everywhere))
				if shown := number(set.View(everywhere, "a", "x").Object.ResourceVersion()); shown < seen {
					t.Errorf("the cache has seen up to %d, and shows %d", seen, shown)
				}
			}
		})
	}
	for range writes - 1 {
		server.put(widget("a", "x"))
	}
	readers.Wait()
}

// TestVersionNeedsFeature holds that what cannot tell how far it has seen does not
// start.
func TestVersionNeedsFeature(t *testing.T) {
	if err := Check(); err != nil {
		t.Error(err)
	}
	featurestesting.SetFeatureDuringTest(t, features.UnlockWhileProcessingFIFO, false)
	featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, false)
	if err := Check(); err == nil || !strings.Contains(err.Error(), "KUBE_FEATURE_AtomicFIFO") {
		t.Errorf("got %v", err)
	}
}

// slowly answers after a while.
type slowly struct {
	dynamic.ResourceInterface
	takes    time.Duration
	requests atomic.Int64
}

func (s *slowly) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	s.requests.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.ResourceInterface.List(ctx, options)
}

// TestVersionsOfWatchesThatEnd holds that a version is asked for at most once a second, also where the API server ends a watch that
// cannot keep up with the events, again and again. The version is asked for after the last of them, too: it may be of another history.
func TestVersionsOfWatchesThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		r := set.running[everywhere]
		counted := &slowly{ResourceInterface: r.resource}
		r.resource = counted
		passes(10 * time.Second)
		counted.requests.Store(0)
		const seconds = 60
		for range seconds {
			for range 10 {
				server.put(widget("a", "x"))
				set.Fresh(everywhere)
				passes(100 * time.Millisecond)
			}
			for range 3 {
				server.put(widget("a", "x"))
				passes(time.Millisecond)
				server.end(everywhere)
			}
		}
		if n := counted.requests.Load(); n > seconds+1 {
			t.Errorf("%d requests in %d seconds", n, seconds)
		}
		passes(2 * time.Second)
		counted.requests.Store(0)
		server.put(widget("a", "x"))
		passes(time.Millisecond)
		server.end(everywhere)
		passes(2 * time.Second)
		if n := counted.requests.Load(); n != 1 {
			t.Errorf("%d requests after a watch that ended", n)
		}
	})
}

// TestVersionsOfASlowServer holds that a version is asked for at most once a second, also where an answer takes longer.
func TestVersionsOfASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		r := set.running[everywhere]
		slow := &slowly{ResourceInterface: r.resource, takes: 1100 * time.Millisecond}
		r.resource = slow
		const seconds = 60
		for range seconds * 10 {
			set.Fresh(everywhere)
			passes(100 * time.Millisecond)
		}
		if n := slow.requests.Load(); n > seconds+1 {
			t.Errorf("%d requests in %d seconds", n, seconds)
		}
		passes(10 * time.Second) // Until the last one is answered.
	})
}
