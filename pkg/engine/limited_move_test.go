package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// grownBefore is a shelf with the pause of a rule that may write for one object, and has in the cluster.
func grownBefore(t *testing.T, c *cluster) *shelf {
	t.Helper()
	s := &shelf{}
	c.putMany(t, 3)
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 1}")), func(*testing.T, *engine.Engine) { pass(time.Minute) })
	if n, stored := c.grown(), s.paused(t); n != 1 || len(stored) != 1 {
		t.Fatalf("it has written for %d objects, stored %v", n, stored)
	}
	c.restart()
	return s
}

// handingOver is a part of which a set is no part while that is handed over.
type handingOver struct {
	inventory.Part
	does func() // what happens just after the part was read without the set, nil once it is over
}

// Read implements [inventory.Part].
func (h *handingOver) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	if h.does == nil {
		return h.Part.Read(ctx) //nolint:wrapcheck // It is a fake.
	}
	h.does()
	h.does = nil
	return inventory.Book{}, func(context.Context, inventory.Book) (inventory.Book, error) { return inventory.Book{}, nil }, nil
}

// TestComesBackUnread holds that a set which comes back while the inventory is read without it is not taken for one that has no pause.
func TestComesBackUnread(t *testing.T) {
	c := newCluster()
	shared, set := engine.NewShared(clock.RealClock{}), plan.Rule{Kind: "ClusterRuleSet", Set: "set"}
	s := grownBefore(t, c)
	s.failing(errRefused)
	part := &handingOver{Part: s}
	house := s.house(false)
	house.Inventory = part
	c.tune = func(o *engine.Options) { o.Shared = shared }
	assign := func(e *engine.Engine) { shared.Assign(map[plan.Rule]*engine.Engine{set: e}) }
	synctest.Test(t, func(t *testing.T) {
		e := c.engineWith(house)
		assign(e)
		defer start(t, e, load(t, growing("{maxObjects: 1}")))()
		pass(time.Minute)
		assign(nil)
		c.locked(func() { part.does = func() { assign(e) } })
		s.failing(nil)
		e.Tidy()
		pass(10 * time.Minute)
		if n := c.grown(); n != 1 {
			t.Errorf("it has written for %d objects, want one", n)
		}
	})
}

// TestPendingKeepsItsPause holds that what is stored of a set is kept, though sets that are gone are cleaned up after, while its rules wait for a cache.
func TestPendingKeepsItsPause(t *testing.T) {
	for name, pending := range map[string]bool{"Pending": true, "Gone": false} {
		t.Run(name, func(t *testing.T) {
			c, all := newCluster(), informer.Key{GVR: widgets}
			s := grownBefore(t, c)
			house, prune := s.house(false), atomic.Bool{}
			house.Prune = func(plan.Rule) bool { return prune.Load() }
			others := compile(t, rules.Options{}, strings.Replace(head, "name: set", "name: other", 1)+`  rules:
  - name: other
    watch: others
    actions: [{event: {reason: There, message: there}}]
`)
			runWith(t, c, house, others, func(t *testing.T, e *engine.Engine) {
				c.locked(func() { c.unsynced[all] = true })
				if pending {
					e.SetRules(load(t, growing("{maxObjects: 1}")))
				}
				prune.Store(true)
				e.Tidy()
				pass(time.Second)
				if stored := s.paused(t); (len(stored) == 1) != pending {
					t.Errorf("stored: %v", stored)
				}
				c.sync(all)
				pass(time.Minute)
				if n := c.grown(); pending && n != 1 {
					t.Errorf("it has written for %d objects, want one", n)
				}
			})
		})
	}
}
