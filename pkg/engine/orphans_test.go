package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// twoParents watches two kinds.
const twoParents = `
  - name: children
    watch: widgets,gadgets
    actions: [{apply: {resource: items, owned: false, prune: true, manifest: {metadata: {name: "${object.metadata.name}-child"}}}}]
`

const gadget = `{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: g}}`

// TestOrphans holds that the children of what went while nobody looked are pruned at the
// start, once it is certain that it is gone.
func TestOrphans(t *testing.T) {
	tests := map[string]struct {
		reason  string
		arrange func(t *testing.T, c *cluster)
		then    func(c *cluster)
		before  []string // children before that
		want    []string
	}{
		"NoneGone": {reason: "All are wanted.", before: []string{"a-child", "g-child"}, want: []string{"a-child", "g-child"}},
		"FirstKind": {
			reason: "The parent was of the kind that is watched first.",
			arrange: func(_ *testing.T, c *cluster) {
				c.remove("a")
			},
			before: []string{"g-child"}, want: []string{"g-child"},
		},
		"SecondKind": {
			reason: "The parent was of the other kind.",
			arrange: func(_ *testing.T, c *cluster) {
				c.drop(engine.Key{GVR: gadgets, Namespace: "ns", Name: "g"})
			},
			before: []string{"a-child"}, want: []string{"a-child"},
		},
		"ParentsNotComplete": {
			reason: "A parent may be in the cache that is not complete.",
			arrange: func(_ *testing.T, c *cluster) {
				c.remove("a")
				c.unsynced[informer.Key{GVR: gadgets}] = true
			},
			then:   func(c *cluster) { c.sync(informer.Key{GVR: gadgets}) },
			before: []string{"a-child", "g-child"}, want: []string{"g-child"},
		},
		"ChildrenNotComplete": {
			reason: "Nothing is known of children.",
			arrange: func(_ *testing.T, c *cluster) {
				c.remove("a")
				c.unsynced[allItems] = true
			},
			then:   func(c *cluster) { c.sync(allItems) },
			before: []string{"a-child", "g-child"}, want: []string{"g-child"},
		},
		"CacheLacksTheParent": {
			reason: "The API server has it.",
			arrange: func(t *testing.T, c *cluster) {
				c.frozen[allWidgets] = true
				c.remove("a")
				c.prepare(families(t, twoParents).Selections(), families(t, twoParents).Related())
				c.put(t, small)
			},
			then:   func(c *cluster) { c.thaw(allWidgets) },
			before: []string{"a-child", "g-child"}, want: []string{"a-child", "g-child"},
		},
		"LiveReadFails": {
			reason: "It is asked until there is an answer.",
			arrange: func(_ *testing.T, c *cluster) {
				c.remove("a")
				c.liveOK = func() error { return errRefused }
			},
			then:   func(c *cluster) { c.locked(func() { c.liveOK = nil }) },
			before: []string{"a-child", "g-child"}, want: []string{"g-child"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, gadget)
			synctest.Test(t, func(t *testing.T) { // The process before.
				stop := start(t, c.engine(), families(t, twoParents))
				synctest.Wait()
				stop()
			})
			c.restart()
			if tc.arrange != nil {
				tc.arrange(t, c)
			}
			writes := c.count()
			runWith(t, c, engine.Housekeeping{}, families(t, twoParents), func(t *testing.T, _ *engine.Engine) {
				pass(time.Second)
				if diff := cmp.Diff(tc.before, c.list(items)); diff != "" {
					t.Errorf("%s\nchildren at first (-want +got):\n%s", tc.reason, diff)
				}
				if tc.then != nil {
					tc.then(c)
				}
				pass(10 * time.Minute)
				if diff := cmp.Diff(tc.want, c.list(items)); diff != "" {
					t.Errorf("%s\nchildren (-want +got):\n%s", tc.reason, diff)
				}
				if n := c.count() - writes; n != 2-len(tc.want) {
					t.Errorf("%s\n%d writes: %+v", tc.reason, n, c.writes[writes:])
				}
			})
		})
	}
}

// TestOrphanComesLate holds that a child is pruned that comes after its parent went: a request that was taken for lost has made it.
func TestOrphanComesLate(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, gadget)
	runWith(t, c, engine.Housekeeping{}, families(t, twoParents), func(t *testing.T, _ *engine.Engine) {
		child, err := json.Marshal(c.of(item("a-child")))
		if err != nil {
			t.Fatal(err)
		}
		c.remove("a")
		pass(time.Minute)
		if got := c.list(items); !slices.Equal(got, []string{"g-child"}) {
			t.Fatalf("%q are left", got)
		}
		c.put(t, string(child))
		pass(time.Minute)
		if got := c.list(items); !slices.Equal(got, []string{"g-child"}) {
			t.Errorf("%q are left", got)
		}
	})
}

// TestOrphansOfStrays holds what becomes of the children of what left the selection of
// their rule while nobody looked.
func TestOrphansOfStrays(t *testing.T) {
	const dying = `{metadata: {namespace: ns, name: a, finalizers: [theirs], deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {size: 1}}`
	tests := map[string]struct {
		reason string
		now    string // what the parent is at the start
		then   func(c *cluster)
		before []string // children before that
		want   []string
	}{
		"Living":    {reason: "The rule wants nothing for it any more.", now: small, want: nil},
		"MadeAgain": {reason: "It is another object.", now: strings.Replace(fmt.Sprintf(reborn, 1), "labels", "annotations", 1), want: nil},
		"Dying":     {reason: "Until it is gone, its child stays.", now: dying, before: []string{"a-child"}, want: []string{"a-child"}},
		"DyingAndGone": {
			reason: "No cache tells when it is gone; the engine looks.", now: dying,
			then:   func(c *cluster) { c.remove("a") },
			before: []string{"a-child"}, want: nil,
		},
		"DyingAndMadeAgain": {
			reason: "The other one does not keep the child.", now: dying,
			then:   func(c *cluster) { c.put(t, fmt.Sprintf(reborn, 0)) },
			before: []string{"a-child"}, want: nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			synctest.Test(t, func(t *testing.T) { // The process before.
				stop := start(t, c.engine(), families(t, pruned))
				synctest.Wait()
				stop()
			})
			c.restart()
			c.put(t, tc.now)
			runWith(t, c, engine.Housekeeping{}, families(t, pruned), func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				if diff := cmp.Diff(tc.before, c.list(items)); diff != "" {
					t.Errorf("%s\nchildren at first (-want +got):\n%s", tc.reason, diff)
				}
				if tc.then != nil {
					tc.then(c)
				}
				pass(10 * time.Minute)
				if diff := cmp.Diff(tc.want, c.list(items)); diff != "" {
					t.Errorf("%s\nchildren (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestLateIsNotLeft holds that a parent has not left its selection that a cache comes to show between the look into the cache
// and the live read: its child stays.
func TestLateIsNotLeft(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	set := families(t, pruned)
	synctest.Test(t, func(t *testing.T) { // The process before.
		stop := start(t, c.engine(), set)
		synctest.Wait()
		stop()
	})
	made := c.of(item("a-child"))
	c.restart()
	synctest.Test(t, func(t *testing.T) {
		e := c.engine()
		c.prepare(set.Selections(), set.Related())
		parents := set.Selections()[0]
		c.frozen[parents] = true
		key := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
		delete(c.caches[parents].objects, key)
		c.miss(c.caches[parents], key)
		c.liveOK = func() error {
			if c.gets == 2 { // The first confirms that it is there, and this one is a look at it.
				c.thaw(parents)
			}
			return nil
		}
		stop := start(t, e, set)
		defer stop()
		pass(time.Minute)
		if diff := cmp.Diff(made, c.of(item("a-child"))); diff != "" || c.gets < 2 {
			t.Errorf("%d live reads; the child (-before +after):\n%s", c.gets, diff)
		}
	})
}

// TestStraysOfManyRules holds that rules that hold objects of one resource share a list
// of it, and that each finds its own.
func TestStraysOfManyRules(t *testing.T) {
	set := families(t, holder+strings.Replace(holder, "name: holder", "name: second", 1))
	c, s := newCluster(), &shelf{}
	var names []string
	for i, rule := range set.Rules() {
		names = append(names, fmt.Sprintf("stray-%d", i))
		c.put(t, fmt.Sprintf("{metadata: {namespace: ns, name: %s, finalizers: [%s, theirs]}}", names[i], rule.ID.Finalizer()))
	}
	runWith(t, c, s.house(false), set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		for _, name := range names {
			if text := string(encode(c.get(name))); strings.Contains(text, "dyncontroller.dev/") || !strings.Contains(text, "theirs") {
				t.Errorf("it is held still: %s", text)
			}
		}
		if len(names) != 2 || c.reads != 1 {
			t.Errorf("%d lists for %d rules", c.reads, len(names))
		}
	})
}

// TestOrphansShareAList holds that it takes one list of everything to know of all orphans
// of a start that their parents are gone.
func TestOrphansShareAList(t *testing.T) {
	const parents = 50
	c := newCluster()
	for i := range parents {
		c.put(t, fmt.Sprintf("{metadata: {namespace: ns, name: p-%d}, spec: {size: 1}}", i))
	}
	synctest.Test(t, func(t *testing.T) { // The process before.
		stop := start(t, c.engine(), families(t, twoParents))
		synctest.Wait()
		stop()
	})
	c.restart()
	for i := range parents - 1 {
		c.remove(fmt.Sprintf("p-%d", i))
	}
	runWith(t, c, engine.Housekeeping{}, families(t, twoParents), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if diff := cmp.Diff([]string{fmt.Sprintf("p-%d-child", parents-1)}, c.list(items)); diff != "" {
			t.Errorf("children (-want +got):\n%s", diff)
		}
		if c.reads > 2 {
			t.Errorf("%d lists of two kinds of parents", c.reads)
		}
	})
}

// TestOrphansLeaveRoom holds that many orphans whose parents are looked for, in a list that gets no answer, keep no other
// object waiting, and that they go once there is one.
func TestOrphansLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const orphans = 200
		c := newCluster()
		name := func(i int) string { return fmt.Sprintf("p%d", i) }
		for i := range orphans {
			c.put(t, strings.Replace(parent, "name: a", "name: "+name(i), 1))
		}
		stop := start(t, c.engine(), families(t, pruned))
		pass(time.Minute)
		stop()
		for i := range orphans {
			c.remove(name(i))
		}
		c.restart()
		answered := make(chan struct{})
		c.liveOK = func() error { <-answered; return nil }
		defer start(t, c.engine(), families(t, pruned+atLeastThree))()
		pass(5 * time.Second)
		c.put(t, `{metadata: {namespace: ns, name: other}, spec: {size: 1}}`)
		pass(time.Second)
		if got := size(c, "other"); got != int64(3) {
			t.Errorf("another object waits: its size is %v", got)
		}
		close(answered)
		pass(10 * time.Second)
		if left := len(c.list(items)); left > 0 {
			t.Errorf("%d children of %d are left", left, orphans)
		}
	})
}
