package informer

import (
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

var errNoRight = errors.New("may not list widgets")

// told notes which caches have become complete. It is safe for concurrent use.
type told struct {
	mu   sync.Mutex
	keys []string
	// during is called while it is told.
	during func()
}

func (*told) Changed(Event)       {}
func (*told) Widened(Key)         {}
func (*told) Troubled(Key, error) {}

func (t *told) Synced(key Key) {
	if t.during != nil {
		t.during()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys = append(t.keys, key.String())
}

// since returns what was told in the meantime, in order.
func (t *told) since() []string {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.keys = nil }()
	return slices.Sorted(slices.Values(t.keys))
}

// streams counts the watches that are open on a key.
func (a *api) streams(key Key) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, s := range a.watches {
		select {
		case <-s.stopped:
		default:
			if s.key == key {
				n++
			}
		}
	}
	return n
}

// shows is what a set shows of a cache.
type shows struct {
	Synced, Object bool
	Names          int
	Version        bool
	Answers        bool
}

func whatRead(set *Set, key Key) shows {
	view := set.View(key, "a", "x")
	_, err := set.Read(plan.Read{From: []plan.Selection{key}, By: plan.ByAll})
	if err != nil && !errors.Is(err, lookup.ErrNotSynced) {
		panic(err)
	}
	return shows{view.Synced, view.Object != nil, len(set.Names(key)), set.Version(key) != "", err == nil}
}

// TestDeny holds that nothing is shown of a cache that is denied, that the others are
// left alone, and that it begins anew.
func TestDeny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, handler := &api{}, &told{}
		server.put(widget("a", "x", labelled("color", "red")))
		red := Key{GVR: widgets, LabelSelector: "color=red"}
		set := NewSet(server, handler, slog.New(slog.DiscardHandler), Options{})
		defer set.Stop()
		deny := func(denied map[Key]error) {
			t.Helper()
			set.Deny(denied)
		}
		expect := func(reason string, key Key, want shows, synced ...string) {
			t.Helper()
			if diff := cmp.Diff(want, whatRead(set, key)); diff != "" {
				t.Errorf("%s: it shows (-want +got):\n%s", reason, diff)
			}
			if diff := cmp.Diff(synced, handler.since()); diff != "" {
				t.Errorf("%s: told to be complete (-want +got):\n%s", reason, diff)
			}
		}
		nothing, all := shows{}, shows{true, true, 1, true, true}
		deny(map[Key]error{red: errNoRight})
		set.Want([]Key{everywhere, red}, nil, false)
		synctest.Wait()
		expect("denied before it is wanted", red, nothing, everywhere.String())
		expect("not denied", everywhere, all)
		deny(nil)
		synctest.Wait()
		expect("denied no more", red, all, red.String())

		deny(map[Key]error{red: errNoRight})
		expect("denied at once", red, nothing)
		status := []Status{{Key: everywhere, Synced: true}, {Key: red, Err: errNoRight}}
		got := set.Status()
		if first := &got[0]; first.Objects != 1 || first.Bytes <= 0 || first.Heard.IsZero() {
			t.Errorf("it holds %+v", first)
		} else {
			first.Objects, first.Bytes, first.Heard = 0, 0, time.Time{}
		}
		if !slices.Equal(got, status) {
			t.Errorf("the status is %v, want %v", got, status)
		}
		server.put(widget("a", "y", labelled("color", "red")))
		synctest.Wait()
		expect("what happens meanwhile", red, nothing)
		if n, others := server.streams(red), server.streams(everywhere); n != 0 || others != 1 {
			t.Errorf("%d watches of what is denied, %d of the other", n, others)
		}
		deny(map[Key]error{red: errors.New("may not watch")})
		expect("denied for another reason", red, nothing)

		set.Want([]Key{red}, nil, false)
		expect("wanted still", red, nothing)
		deny(map[Key]error{everywhere: errNoRight})
		synctest.Wait()
		expect("it begins anew", red, shows{true, true, 2, true, true}, red.String())
		if got := set.Status(); len(got) != 1 {
			t.Errorf("what nobody wants is not listed: %v", got)
		}
	})
}

// TestDenyWhileTelling holds that what is dropped is not told to be complete after Deny
// has returned.
func TestDenyWhileTelling(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	handler := &told{during: func() {
		close(begun)
		<-goOn
	}}
	set := NewSet(&api{}, handler, slog.New(slog.DiscardHandler), Options{})
	defer set.Stop()
	set.Want([]Key{everywhere}, nil, false)
	<-begun
	denied := make(chan int)
	go func() {
		set.Deny(map[Key]error{everywhere: errNoRight})
		handler.mu.Lock()
		defer handler.mu.Unlock()
		denied <- len(handler.keys)
	}()
	for set.View(everywhere, "a", "x").Synced { // It is not shown any more before that.
		runtime.Gosched()
	}
	close(goOn)
	if told := <-denied; told != 1 {
		t.Errorf("when it returned, it had been told %d times", told)
	}
}

// TestDenyRaces lets changes of what is wanted and denied race with what is told.
func TestDenyRaces(t *testing.T) {
	server, handler := &api{}, &told{}
	server.put(widget("a", "x"))
	set := NewSet(server, handler, slog.New(slog.DiscardHandler), Options{})
	handler.during = func() { whatRead(set, everywhere) }
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for i := range 100 {
				switch i % 4 {
				case 0:
					set.Want([]Key{everywhere}, nil, false)
				case 1:
					set.Deny(map[Key]error{everywhere: errNoRight})
				case 2:
					set.Deny(nil)
				default:
					set.Status()
				}
			}
		})
	}
	all.Wait()
	set.Stop()
	if got := whatRead(set, everywhere); got != (shows{}) || len(set.Status()) != 0 {
		t.Errorf("after the end it shows %v", got)
	}
}
