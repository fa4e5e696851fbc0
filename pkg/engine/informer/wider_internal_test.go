package informer

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// listening notes all that a handler is told.
type listening struct {
	mu sync.Mutex
	heard
}

func (h *listening) Changed(event Event) { h.note(func() { h.heard.Changed(event) }) }
func (h *listening) Synced(Key)          { h.note(func() { h.heard = append(h.heard, "synced") }) }
func (h *listening) Widened(Key)         { h.note(func() { h.heard = append(h.heard, "widened") }) }

func (h *listening) note(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
}

func (h *listening) since() (out []string) {
	synctest.Wait()
	h.note(func() { out, h.heard = slices.Sorted(slices.Values(h.heard)), nil })
	return out
}

func keeping(fields ...string) *projection.Fields {
	tree := &footprint.Tree{}
	for _, field := range fields {
		tree.Add(footprint.Fields(strings.Split(field, ".")...), footprint.Value)
	}
	return projection.New(tree)
}

// TestWider holds that a cache that keeps too little is shown until another one is complete and has come as far, and that the
// handler is told of what changed meanwhile, once.
func TestWider(t *testing.T) {
	spec := func(size, color string) func(map[string]any) {
		return with(map[string]any{"size": size, "color": color}, "spec")
	}
	for name, beside := range map[string]bool{"Beside": true, "InItsPlace": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far, handler := &api{}, &api{}, &listening{}
				for _, server := range []*api{near, far} {
					server.put(widget("a", "x", spec("small", "red")))
					server.put(widget("a", "y", spec("small", "red")))
				}
				narrow, wide := keeping("spec.size"), keeping("spec.size", "spec.color")
				set := NewSet(near, handler, slog.New(slog.DiscardHandler), Options{Client: func(fields *projection.Fields) dynamic.Interface {
					if fields == wide {
						return far
					}
					return near
				}})
				defer set.Stop()
				expect := func(reason string, view View, color any, told ...string) {
					t.Helper()
					if diff := cmp.Diff(told, handler.since()); diff != "" {
						t.Errorf("%s: told (-want +got):\n%s", reason, diff)
					}
					got := set.View(everywhere, "a", "x")
					spec, _ := got.Object.Fields()["spec"].(map[string]any)
					if got.Synced != view.Synced || got.Narrow != view.Narrow || spec["color"] != color {
						t.Errorf("%s: synced %t, narrow %t, color %v", reason, got.Synced, got.Narrow, spec["color"])
					}
				}
				set.Want([]Key{everywhere}, Keeps{widgets: narrow}, beside)
				expect("It keeps what is wanted.", View{Synced: true}, nil, "a/x after 1", "a/y after 2", "synced")
				near.put(widget("a", "x", spec("small", "blue")))
				near.put(widget("a", "y", spec("large", "red")))
				expect("What it does not keep makes two versions say the same.", View{Synced: true}, nil, "a/x before 1 after 3", "a/y before 2 after 4")

				far.refuse(errOverloaded, errOverloaded)
				set.Want([]Key{everywhere}, Keeps{widgets: wide}, beside)
				if beside {
					expect("It goes on.", View{Synced: true, Narrow: true}, nil)
				} else {
					expect("It is gone.", View{}, nil)
				}
				far.refuse(nil, nil)
				passes(time.Minute)
				if beside {
					expect("The other one is complete, and older.", View{Synced: true, Narrow: true}, nil)
					far.put(widget("a", "x", spec("small", "blue")))
					far.remove(types.NamespacedName{Namespace: "a", Name: "y"})
					passes(time.Second)
					expect("It has come as far.", View{Synced: true}, "blue", "widened")
				} else {
					expect("It is filled anew.", View{Synced: true}, "red", "a/x after 1", "a/y after 2", "synced")
				}
				set.Want([]Key{everywhere}, Keeps{widgets: narrow}, beside)
				expect("It is never narrowed.", View{Synced: true}, map[bool]any{true: "blue", false: "red"}[beside])
			})
		})
	}
}

// TestWiderLate holds that rules which do not wait for a wider cache do not see the past either: what is filled takes the place
// of the narrow cache, and is complete once it has come as far.
func TestWiderLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far, handler := &api{}, &api{}, &listening{}
		near.put(widget("a", "x"))
		near.put(widget("a", "x"))
		far.put(widget("a", "x"))
		set := NewSet(near, handler, slog.New(slog.DiscardHandler), Options{Client: func(fields *projection.Fields) dynamic.Interface {
			if fields == nil {
				return far
			}
			return near
		}})
		defer set.Stop()
		set.Want([]Key{everywhere}, Keeps{widgets: keeping()}, true)
		synctest.Wait()
		set.Want([]Key{everywhere}, nil, true)
		passes(time.Minute)
		handler.since()
		set.Want([]Key{everywhere}, nil, false)
		if view := set.View(everywhere, "a", "x"); view.Synced || len(handler.since()) > 0 {
			t.Errorf("it is complete, or told of: %+v", view)
		}
		far.put(widget("a", "x"))
		passes(time.Second)
		if diff := cmp.Diff([]string{"a/x before 1 after 2", "synced"}, handler.since()); diff != "" || !set.View(everywhere, "a", "x").Synced {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestWiderFirst holds that a wider cache is told to be complete where the one in whose place it comes never was.
func TestWiderFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far, handler := &api{}, &api{}, &listening{}
		near.refuse(errOverloaded, errOverloaded)
		set := NewSet(near, handler, slog.New(slog.DiscardHandler), Options{Client: func(fields *projection.Fields) dynamic.Interface {
			if fields == nil {
				return far
			}
			return near
		}})
		defer set.Stop()
		set.Want([]Key{everywhere}, Keeps{widgets: keeping()}, true)
		passes(time.Minute)
		set.Want([]Key{everywhere}, nil, true)
		passes(time.Minute)
		if diff := cmp.Diff([]string{"synced"}, handler.since()); diff != "" || !set.View(everywhere, "a", "x").Synced {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestTouched holds that an event says whether anything has changed that the cache keeps.
func TestTouched(t *testing.T) {
	before, same, other := object("1"), object("2"), object("3").Fields()
	other["size"] = "large"
	for i, tc := range []struct {
		event Event
		want  bool
	}{
		{Event{Before: before, After: same}, true},
		{Event{Before: before, After: compact.New(other)}, false},
		{Event{After: same}, false},
		{Event{Before: same}, false},
	} {
		if got := tc.event.Touched(); got != tc.want {
			t.Errorf("%d: %t", i, got)
		}
	}
}
