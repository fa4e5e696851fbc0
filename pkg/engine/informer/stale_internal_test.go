package informer

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
)

// TestFresh holds that a cache is fresh while it shows what the API server had less than two seconds ago, and how many
// requests it takes to know that.
func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		count := 0
		change := func() {
			count++
			server.put(widget("a", "x", labelled("count", string(rune('a'+count%26)))))
			synctest.Wait()
		}
		expect := func(reason string, fresh bool, requests int) {
			t.Helper()
			at, got := set.Fresh(everywhere)
			synctest.Wait()
			if got != fresh {
				t.Errorf("fresh is %t, want %t: %s", got, fresh, reason)
			}
			if age := time.Since(at); got && age >= MaxStaleness {
				t.Errorf("it is %s old: %s", age, reason)
			}
			if n := server.requests("version"); n != requests {
				t.Errorf("%d requests, want %d: %s", n, requests, reason)
			}
		}
		expect("The list has just told.", true, 0)
		passes(3 * time.Second)
		change()
		expect("Nothing is known, and one object alone is not worth a request.", false, 0)
		expect("The second one is, and its answer serves the next.", false, 1)
		expect("The cache has all of it.", true, 1)
		server.hold(everywhere, true)
		change()
		passes(1500 * time.Millisecond)
		expect("It lags, but by less than two seconds; the version is asked for again.", true, 2)
		passes(600 * time.Millisecond)
		expect("It does not show that version.", false, 2)
		server.hold(everywhere, false)
		synctest.Wait()
		expect("It has caught up.", true, 2)
		passes(10 * time.Second)
		change()
		expect("That was long ago.", false, server.requests("version"))
		if _, fresh := set.Fresh(gadgets); fresh {
			t.Error("a cache that does not run is fresh")
		}
	})
}

// TestBehind holds that a cache that stays behind is known to come to one version after the other, however often a newer one is asked for.
func TestBehind(t *testing.T) {
	const lag = 3 // seconds
	began := time.Now()
	p := progress{began: began}
	for second := range 20 {
		p.expect(observation{strconv.Itoa(1000 + second), began.Add(time.Duration(second) * time.Second)})
		p.reach(strconv.Itoa(1000 + second - lag))
		// When one is reached, the last one is the next, and that takes as long as the lag.
		if reached := int(p.reached.at.Sub(began).Seconds()); second >= 2*lag && reached < second-2*lag || reached > second-lag {
			t.Errorf("after %d seconds it has reached the version of second %d, and is %d seconds behind", second, reached, lag)
		}
	}
}

// TestFreshQuiet holds that a cache of a resource that does not change is fresh while a second watch from there has a bookmark and
// nothing else.
func TestFreshQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		passes(time.Minute)
		expect := func(reason string, fresh bool, watches int) {
			t.Helper()
			at, got := set.Fresh(everywhere)
			synctest.Wait()
			if got != fresh {
				t.Errorf("fresh is %t, want %t: %s", got, fresh, reason)
			}
			if age := time.Since(at); got && age >= MaxStaleness {
				t.Errorf("it is %s old: %s", age, reason)
			}
			if n := server.requests("watch") - 1; n != watches {
				t.Errorf("%d watches beside that of the informer, want %d: %s", n, watches, reason)
			}
		}
		server.pass()
		expect("Nothing is known.", false, 0)
		expect("The second time it is asked for, and the cache does not come to that version.", false, 1)
		passes(900 * time.Millisecond)
		expect("The bookmark comes a second after.", false, 1)
		passes(200 * time.Millisecond)
		server.pass()
		expect("It is there, and the next one is asked for.", true, 2)
		passes(800 * time.Millisecond)
		expect("It is less than two seconds old.", true, 2)
		passes(300 * time.Millisecond)
		server.stall()
		server.put(widget("a", "x", labelled("count", "1")))
		expect("Now it is not, and the next one is there; the one after it shows a change that the cache lacks.", true, 3)
		passes(800 * time.Millisecond)
		expect("It lacked none less than two seconds ago.", true, 3)
		passes(200 * time.Millisecond)
		expect("That is too long ago.", false, 3)
		passes(500 * time.Millisecond)
		expect("So it stays, however often it is asked for.", false, 4)
		passes(1100 * time.Millisecond)
		expect("So it stays.", false, 5)
	})
}

// TestFreshOfAnotherHistory holds that what was asked for, or written, before the cache had to be listed anew says nothing of the cache,
// also when the list is there and the cache does not show it yet.
func TestFreshOfAnotherHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		passes(time.Minute)
		server.pass()
		for range 2 {
			set.Fresh(everywhere)
		}
		synctest.Wait()
		r := set.running[everywhere]
		changed := set.Writing(widgets)
		passes(time.Millisecond)
		r.mu.Lock()
		version := r.next.version
		r.invalidate(time.Now(), errRestored)
		r.began, r.relisting, r.next = time.Now(), nil, observation{version, time.Now()}
		r.asked = time.Now().Add(time.Hour) // Or the answer to the next question may be there by the end.
		r.mu.Unlock()
		passes(1100 * time.Millisecond)
		if _, fresh := set.Fresh(everywhere); fresh {
			t.Error("the bookmark of the old watch counts")
		}
		r.mu.Lock()
		r.next = observation{}
		r.mu.Unlock()
		changed("1000")
		r.mu.Lock()
		r.reach("1000")
		r.mu.Unlock()
		if _, fresh := set.Fresh(everywhere); fresh {
			t.Error("the write before counts")
		}
	})
}

// TestFreshByWrites holds that the versions under which objects are stored that are written one after the other vouch for a cache that
// shows them, however far it lags behind the last one, and that no version is asked for.
func TestFreshByWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		set := NewSet(server, &told{}, slog.New(slog.DiscardHandler), Options{})
		defer set.Stop()
		server.put(widget("a", "x"))
		set.Want([]Key{everywhere}, nil, false)
		passes(time.Minute)
		// Two more objects are stored than the cache shows.
		for version := 3; version < 300; version++ {
			changed := set.Writing(widgets)
			passes(10 * time.Millisecond)
			changed(strconv.Itoa(version))
			server.put(widget("a", "x", labelled("version", strconv.Itoa(version-1))))
			synctest.Wait()
			at, fresh := set.Fresh(everywhere)
			if age := time.Since(at); version > 4 && !fresh || fresh && age > 50*time.Millisecond {
				t.Fatalf("at version %d fresh is %t, of %s ago", version, fresh, age)
			}
		}
		slow := set.Writing(widgets)
		passes(2 * MaxStaleness)
		set.Writing(widgets)(server.put(widget("a", "x")))
		synctest.Wait()
		slow(server.put(widget("a", "x")))
		if at, fresh := set.Fresh(everywhere); !fresh || at.Before(time.Now()) {
			t.Errorf("the answer to a slow write is later than that to the next one, and takes back what that has shown: fresh is %t", fresh)
		}
		server.hold(everywhere, true)
		passes(MaxStaleness)
		set.Writing(widgets)(server.put(widget("a", "x")))
		if _, fresh := set.Fresh(everywhere); fresh {
			t.Error("the cache is fresh, and does not show what was written")
		}
		if n := server.requests("version"); n != 0 {
			t.Errorf("a version was asked for %d times", n)
		}
		for range 3 {
			set.Writing(widgets)("1")
		}
		synctest.Wait()
		if _, fresh := set.Fresh(everywhere); fresh || server.requests("version") != 1 {
			t.Errorf("an older version may be that of a restored etcd: fresh is %t after %d questions", fresh, server.requests("version"))
		}
	})
}

// errRefused is how it is when the API server is down. client-go goes on from the last version then.
var errRefused = &url.Error{Op: "Get", URL: "https://a", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}

// TestRestored holds that a cache shows what there is after etcd was restored from a snapshot, whether the API server is
// behind the cache when it is back or others have written since.
func TestRestored(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		lost   int // changes after the snapshot
		since  int // changes before somebody answers
		same   bool
		down   time.Duration
	}{
		"Behind":       {reason: "The watch would wait for versions to come.", lost: 10, since: 1, down: 3 * time.Second},
		"Overtaken":    {reason: "The watch would leave out what has come before.", lost: 10, since: 20, down: 3 * time.Second},
		"SameVersion":  {reason: "Another object may have the version of the one that is cached.", lost: 1, since: 1, same: true, down: 3 * time.Second},
		"NobodyKnew":   {reason: "The outage was too short to be seen.", lost: 10, since: 1},
		"Uninterested": {reason: "Nobody has written.", lost: 10, down: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lasting := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					server := &api{}
					server.put(widget("a", "kept"))
					server.put(widget("a", "comes-back"))
					told := &told{}
					set := NewSet(server, told, slog.New(slog.DiscardHandler), Options{Lasting: lasting})
					defer set.Stop()
					set.Want([]Key{everywhere}, nil, false)
					synctest.Wait()
					restore := server.snapshot()
					server.remove(types.NamespacedName{Namespace: "a", Name: "comes-back"})
					for range tc.lost {
						server.put(widget("a", "goes"))
					}
					passes(time.Minute)
					if tc.down > 0 {
						server.refuse(errRefused, errRefused)
					}
					restore()
					passes(tc.down)
					for range tc.since {
						server.put(widget("a", "new"))
					}
					if tc.same {
						server.put(widget("a", "goes", labelled("of", "another history")))
					}
					server.refuse(nil, nil)
					passes(time.Minute)
					want := map[string]map[string]any{}
					server.mu.Lock()
					for name, object := range server.objects {
						want[name.Name] = object.Object
					}
					server.mu.Unlock()
					got := map[string]map[string]any{}
					for _, name := range set.Names(everywhere) {
						got[name.Name] = set.View(everywhere, name.Namespace, name.Name).Object.Fields()
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s Lasting: %t. (-want +got):\n%s", tc.reason, lasting, diff)
					}
				})
			}
		})
	}
}

// TestRelistTellsOfWhatIsAnother holds that an object which became another one under the same version is told of, and
// that what a list repeats is not.
func TestRelistTellsOfWhatIsAnother(t *testing.T) {
	var told heard
	f := reflected{filled(&told, clock.RealClock{})}
	other := object("1").Fields()
	other["of"] = "another history"
	for _, list := range []*compact.Object{object("1"), object("1"), compact.New(other)} {
		if err := f.Replace([]any{list}, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(heard{"ns/a after 1", "ns/a before 1 after 1"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestSilence holds that a watch which stops to deliver is given up after some time, and that the cache is complete after
// it; and that one is left alone that has nothing to tell of an API server that sends no bookmarks.
func TestSilence(t *testing.T) {
	for name, tc := range map[string]struct {
		plain   bool
		watches int
	}{"Stalled": {false, 1}, "NoBookmarks": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &api{plain: tc.plain}
				server.put(widget("a", "x"))
				set, _ := begin(t, server, everywhere)
				defer set.Stop()
				synctest.Wait()
				server.hold(everywhere, true) // This watch alone.
				server.put(widget("a", "y"))
				server.mu.Lock()
				server.holding = nil
				server.mu.Unlock()
				server.refuse(nil, nil)
				passes(3 * time.Minute)
				if n := len(set.Names(everywhere)); n != 1+tc.watches {
					t.Errorf("there are %d objects", n)
				}
				if n := server.requests("watch"); n < tc.watches || n > 2*tc.watches {
					t.Errorf("%d watches", n)
				}
			})
		})
	}
}

// TestSilentFirstList holds that a first list of which nothing comes for some time is given up, and that the cache is complete after it.
func TestSilentFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		server.hold(everywhere, true)
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		server.mu.Lock()
		server.holding = nil // Of the lists to come.
		server.mu.Unlock()
		passes(maxSilence + 2*silenceCheck)
		if view := set.View(everywhere, "a", "x"); view.Object == nil || !view.Synced {
			t.Errorf("the object: %v, synced: %t", view.Object, view.Synced)
		}
	})
}

// TestRelist holds that a cache that was found to lack something is listed anew, and shows what it has until then.
func TestRelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		server.hold(everywhere, true)
		server.put(widget("a", "y"))
		server.mu.Lock()
		server.holding = nil
		server.mu.Unlock()
		set.Relist(everywhere)
		set.Relist(everywhere)
		if _, fresh := set.Fresh(everywhere); fresh || len(set.Names(everywhere)) != 1 {
			t.Errorf("fresh: %t, %d objects", fresh, len(set.Names(everywhere)))
		}
		passes(5 * time.Second)
		if n := len(set.Names(everywhere)); n != 2 {
			t.Errorf("%d objects", n)
		}
		set.Relist(gadgets)
	})
}

// TestRelistWhileListed holds that a list which is under way is enough for who asks for one meanwhile, also where it
// takes long, and that one which stalls is given up.
func TestRelistWhileListed(t *testing.T) {
	for name, stalls := range map[string]bool{"Slow": false, "Stalled": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &api{}
				server.put(widget("a", "x"))
				set, _ := begin(t, server, everywhere)
				defer set.Stop()
				synctest.Wait()
				server.hold(everywhere, true)
				server.put(widget("a", "y"))
				set.Relist(everywhere)
				passes(5 * time.Second) // The list has begun, and nothing of it has come.
				set.Relist(everywhere)
				if stalls {
					server.mu.Lock()
					server.holding = nil // Of the lists to come.
					server.mu.Unlock()
					passes(maxSilence + 2*silenceCheck) // It is found by then, and the watch after it is not silent for long.
				} else {
					server.hold(everywhere, false)
					synctest.Wait()
				}
				if n := len(set.Names(everywhere)); n != 2 {
					t.Errorf("%d objects", n)
				}
				if err := set.Status()[0].Err; err != nil {
					t.Errorf("the list is there, and yet: %v", err)
				}
			})
		})
	}
}

// TestWatchThatOpensLate holds that a watch which goes on from an earlier version is ended where the cache has to be
// listed anew since it was asked for.
func TestWatchThatOpensLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		r := set.running[everywhere]
		version := r.version()
		passes(time.Second)
		late := opening{Interface: server, opens: func() { r.outdate(errRestored) }}
		r.resource = late.Resource(widgets).Namespace("")
		w, err := r.watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		synctest.Wait()
		select {
		case <-w.ResultChan():
		default:
			t.Error("the watch goes on")
		}
	})
}

// opening calls a function while a watch is opened.
type opening struct {
	dynamic.Interface
	opens func()
}

func (o opening) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return openingResource{o.Interface.Resource(gvr), nil, o.opens}
}

type openingResource struct {
	dynamic.NamespaceableResourceInterface
	of    dynamic.ResourceInterface
	opens func()
}

func (o openingResource) Namespace(namespace string) dynamic.ResourceInterface {
	o.of = o.NamespaceableResourceInterface.Namespace(namespace)
	return o
}

func (o openingResource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	o.opens()
	return o.of.Watch(ctx, options)
}

// outdate has the cache listed anew, and lets the watch go on.
func (r *running) outdate(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invalidate(r.set.clock.Now(), why)
}

// TestVersionOfOneName holds that a cache of one name asks for the version by that name: its right may be to no other.
func TestVersionOfOneName(t *testing.T) {
	for selector, want := range map[string]string{"": "", "spec.nodeName=n": "", "metadata.name=x": "metadata.name=x"} {
		var asked listing
		r := filled(deaf{}, clock.RealClock{})
		r.key.FieldSelector, r.resource = selector, &asked
		r.ask()
		if asked.options.FieldSelector != want || asked.options.Limit != 1 {
			t.Errorf("of %q it lists %+v", selector, asked.options)
		}
	}
}

// listing notes how it is asked, and fails.
type listing struct {
	dynamic.ResourceInterface
	options metav1.ListOptions
}

func (l *listing) List(_ context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	l.options = options
	return nil, errRefused
}

// TestCheckOfAList holds that client-go may check what it has listed although the cache is to be listed anew: it does so
// before it goes on.
func TestCheckOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		defer set.Stop()
		synctest.Wait()
		r := set.running[everywhere]
		r.outdate(errBehind)
		for match, refused := range map[metav1.ResourceVersionMatch]bool{metav1.ResourceVersionMatchExact: false, "": true} {
			options := metav1.ListOptions{ResourceVersion: r.version(), ResourceVersionMatch: match}
			if _, err := r.list(t.Context(), options); (err != nil) != refused {
				t.Errorf("match %q: %v", match, err)
			}
		}
	})
}
