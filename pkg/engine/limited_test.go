package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// grows is a rule with limits, which are to be filled in.
const grows = `
  - name: grows
    watch: widgets
    limits: %s
    when: object.spec.size < 3
    actions:
    - patch: {merge: {spec: {size: 3}}}
    - event: {reason: Grown, message: "was ${object.spec.size}"}
`

func growing(limits string) string { return fmt.Sprintf(grows, limits) }

// put stores as many small widgets.
func (c *cluster) putMany(t *testing.T, n int) {
	t.Helper()
	c.putFrom(t, 0, n)
}

// putFrom does so for those from a number on.
func (c *cluster) putFrom(t *testing.T, first, n int) {
	t.Helper()
	for i := first; i < n; i++ {
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: w%d}, spec: {size: 1}}`, i))
	}
}

// grown counts the widgets that are as large as the rule wants.
func (c *cluster) grown() int {
	n := 0
	for _, name := range c.list(widgets) {
		if size(c, name) == int64(3) {
			n++
		}
	}
	return n
}

// TestPausesAtItsLimit holds that a rule pauses for all objects at once, that it is told
// once, and that others go on.
func TestPausesAtItsLimit(t *testing.T) {
	c := newCluster()
	c.putMany(t, 40)
	run(t, c, growing("{maxObjects: 10%, per: 10m}")+labelled, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if n := c.grown(); n != 4 {
			t.Errorf("it has written for %d objects, want 4", n)
		}
		for _, name := range c.list(widgets) {
			if !strings.Contains(string(encode(c.get(name))), "seen:") {
				t.Errorf("%s has no label of the other rule, in whose request the paused one was", name)
			}
		}
		paused := e.Paused()
		if len(paused) != 1 || paused[0].Objects != 4 || paused[0].Of != 40 || paused[0].Rule.Name != "grows" {
			t.Errorf("paused: %+v", paused)
		}
		if n := strings.Count(c.log.String(), "rule is paused"); n != 1 {
			t.Errorf("it was logged %d times:\n%s", n, c.log.String())
		}
		if n := len(c.events); n != 4 {
			t.Errorf("%d events, want one for each object that it has written for: %v", n, c.events)
		}
		before := c.count()
		c.touch()
		pass(time.Hour)
		if c.count() != before {
			t.Errorf("%d writes more, with nothing new", c.count()-before)
		}
	})
}

// TestPausedSaysNothing holds that a paused rule records no Events either.
func TestPausedSaysNothing(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 2)
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 1}")+`
  - name: other
    watch: widgets
    limits: {maxObjects: 1}
    actions:
    - {when: object.spec.size == 1, patch: {merge: {spec: {more: 1}}}}
    - event: {reason: Seen, message: "of ${object.metadata.name}"}
`), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if len(e.Paused()) != 2 {
			t.Fatalf("paused: %v", e.Paused())
		}
		before := len(c.events)
		c.put(t, `{metadata: {namespace: ns, name: fine}, spec: {size: 5}}`)
		pass(time.Minute)
		if len(c.events) != before {
			t.Errorf("events of a paused rule: %v", c.events[before:])
		}
		s.resume(e, "other")
		pass(time.Minute)
		if !slices.Contains(c.events, "Seen of fine") {
			t.Errorf("want what it did not say while it was paused: %v", c.events)
		}
	})
}

// TestResumeLooksAgain holds that all it watches is looked at when somebody says so, and
// that its window is empty then.
func TestResumeLooksAgain(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 5)
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 2}")), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		for _, want := range []int{2, 4, 5} {
			if n := c.grown(); n != want {
				t.Errorf("it has written for %d objects, want %d", n, want)
			}
			s.resume(e)
			s.resume(e, "grows")
			pass(time.Minute)
		}
		if paused := e.Paused(); len(paused) != 0 {
			t.Errorf("paused: %v", paused)
		}
	})
}

// TestResumesWhenItChanges holds that a rule that has changed is not paused any more, and
// one beside it stays so.
func TestResumesWhenItChanges(t *testing.T) {
	c := newCluster()
	c.putMany(t, 5)
	other := strings.ReplaceAll(growing("{maxObjects: 1}"), "grows", "other")
	other = strings.ReplaceAll(other, "size", "other")
	run(t, c, growing("{maxObjects: 1}")+other, func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		e.SetRules(load(t, growing("{maxObjects: 100%}")+other))
		pass(time.Minute)
		if n := c.grown(); n != 5 {
			t.Errorf("it has written for %d objects, want all", n)
		}
		e.SetRules(load(t, growing("{maxObjects: 1}")))
		if paused := e.Paused(); len(paused) != 0 {
			t.Errorf("paused: %v", paused)
		}
	})
}

// TestWindowSlides holds that a rule that is slow enough never pauses.
func TestWindowSlides(t *testing.T) {
	c := newCluster()
	run(t, c, growing("{maxObjects: 2, per: 10m}"), func(t *testing.T, e *engine.Engine) {
		for i := range 12 {
			c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: w%d}, spec: {size: 1}}`, i))
			pass(5 * time.Minute)
		}
		if n, paused := c.grown(), e.Paused(); n != 12 || len(paused) > 0 {
			t.Errorf("it has written for %d objects, paused: %v", n, paused)
		}
	})
}

// unreadable is a part of an inventory that cannot be read, for a while.
type unreadable struct {
	inventory.Memory
	broken atomic.Bool
	reads  atomic.Int64
}

// Read implements [inventory.Part].
func (u *unreadable) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	if u.reads.Add(1); u.broken.Load() && u.reads.Load() < 1000 { // Without an end, no time would go by.
		return inventory.Book{}, nil, errRefused
	}
	return u.Memory.Read(ctx)
}

// TestLimitWaitsForItsInventory holds that a rule with limits does not have its part of the inventory read all the time while that fails, and goes
// on when it is stored for which objects it has written.
func TestLimitWaitsForItsInventory(t *testing.T) {
	c, s, own := newCluster(), &shelf{}, &unreadable{}
	house := s.house(false)
	house.Inventory = inventory.Join(func() inventory.Parts {
		return inventory.Parts{Rest: s, Sets: map[plan.Rule]inventory.Part{{Kind: "ClusterRuleSet", Set: "set"}: own}}
	})
	runWith(t, c, house, load(t, growing("{maxObjects: 4, per: 10m}")), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.putMany(t, 1)
		pass(time.Minute)
		own.broken.Store(true)
		before := own.reads.Load()
		c.putFrom(t, 1, 3) // The next one cannot be stored, and the one after that waits for it.
		pass(10 * time.Minute)
		if n := own.reads.Load() - before; n > 20 || c.grown() != 2 {
			t.Errorf("in ten minutes, it was read %d times, and the rule has written for %d objects", n, c.grown())
		}
		own.broken.Store(false)
		pass(10 * time.Minute)
		if n := c.grown(); n != 3 {
			t.Errorf("the rule has written for %d objects", n)
		}
	})
}
