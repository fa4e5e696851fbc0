package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// TestDenyHeirs holds that nothing is cleaned up which a rule may take over that does
// not see everything.
func TestDenyHeirs(t *testing.T) {
	for name, denied := range map[string]informer.Key{"Watched": otherWidgets, "Read": allItems} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), remembering(t, families(t, pruned))
			c.put(t, parent)
			inherited(t, c, s)
			synctest.Test(t, func(t *testing.T) {
				e := c.engineWith(s.house(false))
				allow := deny(t, e, denied)
				stop := start(t, e, families(t, heir+labelled))
				defer stop()
				pass(time.Hour)
				if got := s.asked(); got != nil {
					t.Errorf("swept %v, which the heir could not take over yet", got)
				}
				allow()
				pass(10 * time.Minute)
				if diff := cmp.Diff([]string{prunedText}, s.asked()); diff != "" {
					t.Errorf("swept (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestDenyEndsASweep holds that what is under way when a cache is dropped begins anew,
// and that nothing is disturbed by the same news again.
func TestDenyEndsASweep(t *testing.T) {
	c, s := newCluster(), remembering(t, families(t, holder+pruned))
	var begun, ended atomic.Int32
	s.during = func(ctx context.Context) error {
		begun.Add(1)
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	}
	check := func(t *testing.T, reason string, wantBegun, wantEnded int32) {
		t.Helper()
		pass(time.Minute)
		if begun.Load() != wantBegun || ended.Load() != wantEnded {
			t.Errorf("%s: %d sweeps, %d ended, want %d and %d", reason, begun.Load(), ended.Load(), wantBegun, wantEnded)
		}
	}
	runWith(t, c, s.house(false), families(t, pruned), func(t *testing.T, e *engine.Engine) {
		check(t, "at the start", 1, 0)
		denied := map[informer.Key]error{{GVR: gadgets}: errNoRight}
		for _, step := range []struct {
			reason       string
			denied       map[informer.Key]error
			begun, ended int32
		}{
			{"another cache is denied", denied, 2, 1},
			{"it is denied for another reason", map[informer.Key]error{{GVR: gadgets}: errRefused}, 2, 1},
			{"it is allowed", nil, 2, 1},
		} {
			e.Deny(step.denied)
			check(t, step.reason, step.begun, step.ended)
		}
	})
}

// TestDenyStrays holds that an object is found that came and left the selection while
// nobody saw it.
func TestDenyStrays(t *testing.T) {
	finalizer := families(t, holder).Rules()[0].ID.Finalizer()
	held := func(c *cluster) bool { return strings.Contains(string(encode(c.get("stray"))), finalizer) }
	c, s := newCluster(), &shelf{}
	runWith(t, c, s.house(false), families(t, holder), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		allow := deny(t, e, otherWidgets)
		c.put(t, `{metadata: {namespace: ns, name: stray, finalizers: [`+finalizer+`]}}`)
		pass(time.Hour)
		if !held(c) {
			t.Error("it was taken for one that has left, though nothing is seen")
		}
		allow()
		pass(time.Minute)
		if held(c) {
			t.Error("it is still held")
		}
		reads := c.reads
		pass(time.Hour)
		if c.reads != reads {
			t.Errorf("listed %d times in a quiet hour", c.reads-reads)
		}
	})
}

// TestDenyWhileSettling holds that nobody who settles waits for what is denied, and that
// it is told.
func TestDenyWhileSettling(t *testing.T) {
	tests := map[string]struct {
		reason  string
		arrange func(t *testing.T, c *cluster, e *engine.Engine)
		size    int64
		told    bool
	}{
		"Before": {
			reason:  "It was denied before there were rules.",
			arrange: func(t *testing.T, _ *cluster, e *engine.Engine) { deny(t, e, otherWidgets) },
			size:    1, told: true,
		},
		"WhileListing": {
			reason: "It is denied while its first list takes long.",
			arrange: func(t *testing.T, c *cluster, e *engine.Engine) {
				c.unsynced[otherWidgets] = true
				time.AfterFunc(time.Second, func() { deny(t, e, otherWidgets) })
			},
			size: 1, told: true,
		},
		"Allowed": {
			reason: "It is allowed while another list takes long, and is waited for then.",
			arrange: func(t *testing.T, c *cluster, e *engine.Engine) {
				c.unsynced[allWidgets], c.unsynced[otherWidgets] = true, true
				allow := deny(t, e, otherWidgets)
				time.AfterFunc(time.Second, func() {
					allow()
					c.sync(allWidgets)
				})
				time.AfterFunc(2*time.Second, func() { c.sync(otherWidgets) })
			},
			size: 3,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.put(t, smallOther)
				e := c.engineWith((&shelf{}).house(false))
				tc.arrange(t, c, e)
				report, err := e.Settle(t.Context(), load(t, grown+labelled))
				if err != nil {
					t.Fatal(err)
				}
				if got := size(c, "a"); got != tc.size {
					t.Errorf("%s\nsize is %v, want %d", tc.reason, got, tc.size)
				}
				told := len(report.Unlisted) == 1 && report.Unlisted[0].Key == otherWidgets && errors.Is(report.Unlisted[0].Err, errNoRight)
				if told != tc.told || !tc.told && len(report.Unlisted) > 0 {
					t.Errorf("%s\nunlisted: %v", tc.reason, report.Unlisted)
				}
			})
		})
	}
}
