package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	allItems    = informer.Key{GVR: items}
	taggedItems = informer.Key{GVR: items, LabelSelector: "tag=yes"}
	allWidgets  = informer.Key{GVR: widgets}
)

const (
	// three makes tagged items until it sees three.
	three = `
  - name: three
    watch: widgets
    with: {found: {resource: tagged, all: true}}
    when: len(found) < 3
    actions:
    - forEach: {i: "${1..3-len(found)}"}
      create: {in: found, manifest: {metadata: {generateName: "${object.metadata.name}-", labels: {tag: "yes"}}}}
`
	// counted reads the same items by another cache.
	counted = `
  - name: counted
    watch: widgets
    with: {every: {resource: items, all: true}}
    when: object.spec.count != len(every)
    actions: [{patch: {merge: {spec: {count: "${len(every)}"}}}}]
`
)

// settledWithThree checks that the cluster comes to rest with three items, each made
// once.
func settledWithThree(t *testing.T, c *cluster, e *engine.Engine) {
	t.Helper()
	synctest.Wait()
	if made, sent := len(c.list(items)), c.sent(plan.Create); made != 3 || sent != 3 {
		t.Errorf("there are %d items after %d creations, want 3 of each", made, sent)
	}
	if waiters := e.Remembered()["waiters"]; waiters != 0 {
		t.Errorf("%d objects are waited for still", waiters)
	}
}

// TestEchoOfSeveralObjectsAndCaches holds that an object is not evaluated again before
// every cache has seen everything that was written for it.
func TestEchoOfSeveralObjectsAndCaches(t *testing.T) {
	for name, frozen := range map[string][]informer.Key{
		"TheListItself": {taggedItems},
		"AnotherCache":  {allItems},
		"Both":          {taggedItems, allItems},
		"TheObject":     {allWidgets},
		"Everything":    {taggedItems, allItems, allWidgets},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			for _, cache := range frozen {
				c.frozen[cache] = true
			}
			runWith(t, c, engine.Housekeeping{}, families(t, three+counted), func(t *testing.T, e *engine.Engine) {
				// The count is written with the snapshot of before, and the items are made.
				first := c.seen.since(nil)
				for range 5 {
					c.touch()
					pass(time.Minute)
				}
				if c.sent(plan.Create) != 3 {
					t.Errorf("%d creations before the first were seen", c.sent(plan.Create))
				}
				if again := c.seen.since(first); len(again) > 0 {
					t.Errorf("it was evaluated before the caches had seen its writes: %v", again)
				}
				for i, cache := range frozen {
					if again := c.seen.since(first); i > 0 && len(again) > 0 {
						t.Errorf("it was evaluated before the last cache had seen its writes: %v", again)
					}
					c.thaw(cache)
					synctest.Wait()
				}
				settledWithThree(t, c, e)
				if got := spec(c, "a")["count"]; got != int64(3) {
					t.Errorf("it counts %v items", got)
				}
			})
		})
	}
}

// TestEchoOfOneObjectAfterTheOther holds that the last of several echoes counts, in
// whatever order they come.
func TestEchoOfOneObjectAfterTheOther(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.frozen[taggedItems] = true
	runWith(t, c, engine.Housekeeping{}, families(t, three), func(t *testing.T, e *engine.Engine) {
		made := c.list(items)
		c.locked(func() { delete(c.frozen, taggedItems) })
		for i, name := range slices.Backward(made) {
			if c.sent(plan.Create) != 3 {
				t.Fatalf("%d creations after %d of 3 were seen", c.sent(plan.Create), len(made)-1-i)
			}
			c.seeIn(taggedItems, item(name))
			synctest.Wait()
		}
		settledWithThree(t, c, e)
	})
}

// TestEchoWithoutAnEvent holds that what a cache shows after a new list, of which it
// tells nothing, is noticed.
func TestEchoWithoutAnEvent(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.frozen[taggedItems] = true
	runWith(t, c, engine.Housekeeping{}, families(t, three+counted), func(t *testing.T, e *engine.Engine) {
		c.locked(func() { c.caches[taggedItems] = c.listed(taggedItems) })
		pass(6 * time.Second)
		settledWithThree(t, c, e)
	})
}

// TestEchoThatNobodyWillSee holds that an object is not waited for that is gone before
// the caches have shown it.
func TestEchoThatNobodyWillSee(t *testing.T) {
	for name, opaque := range map[string]bool{"Comparable": false, "Incomparable": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.opaque = opaque
			c.put(t, small)
			c.frozen[taggedItems] = true
			runWith(t, c, engine.Housekeeping{}, families(t, three), func(t *testing.T, e *engine.Engine) {
				for _, name := range c.list(items) {
					c.drop(item(name))
				}
				c.locked(func() { // A new list: the cache never shows what was there in between.
					delete(c.frozen, taggedItems)
					c.caches[taggedItems] = c.listed(taggedItems)
				})
				pass(6 * time.Second)
				if made, sent := len(c.list(items)), c.sent(plan.Create); made != 3 || sent != 6 {
					t.Errorf("there are %d items after %d creations, want 3 new ones", made, sent)
				}
				if waiters := e.Remembered()["waiters"]; waiters != 0 {
					t.Errorf("%d objects are waited for still", waiters)
				}
			})
		})
	}
}

// TestEchoOfIncomparableVersions holds that the API server is asked where nothing else
// tells which version is the later one.
func TestEchoOfIncomparableVersions(t *testing.T) {
	c := newCluster()
	c.opaque = true
	c.put(t, small)
	c.frozen[taggedItems] = true
	runWith(t, c, engine.Housekeeping{}, families(t, three+counted), func(t *testing.T, e *engine.Engine) {
		for range 5 {
			c.touch()
			pass(time.Minute)
		}
		if c.sent(plan.Create) != 3 {
			t.Errorf("%d creations before the first were seen", c.sent(plan.Create))
		}
		if c.gets == 0 {
			t.Error("the API server was not asked")
		}
		c.locked(func() { c.liveOK = func() error { return errRefused } })
		c.thaw(taggedItems)
		synctest.Wait()
		c.locked(func() { c.liveOK = nil })
		pass(6 * time.Second)
		settledWithThree(t, c, e)
	})
}

// TestEchoOfTheEndOfAnObject holds that what was written last to an object that was on
// its way before is not written again to what the caches still show.
func TestEchoOfTheEndOfAnObject(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	set := families(t, `
  - name: holds
    watch: widgets
    onDelete: {actions: [{event: {reason: Bye, message: bye}}]}
    actions: [{event: {reason: Hello, message: hello}}]
`)
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, e *engine.Engine) {
		held := c.get("a")
		c.locked(func() { c.lagging = true })
		held = merged(held, map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}})
		c.put(t, string(encode(held)))
		for range 5 {
			pass(time.Minute)
			c.touch()
		}
		if c.get("a") != nil || c.count() != 2 {
			t.Errorf("want the finalizer put on and taken off, in one write each: %+v", c.writes)
		}
		c.locked(func() { c.lagging = false })
		c.see(keyOf(held))
		synctest.Wait()
		if left := e.Remembered(); len(left) > 0 {
			t.Errorf("it is gone, and remembered: %v", left)
		}
	})
}

// TestEchoAcrossAReload holds that what was written under the rules of before is seen
// by the caches of the new ones before these decide.
func TestEchoAcrossAReload(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		synced bool
	}{
		"Old":     {"Its list is from before the write.", true},
		"Partial": {"Its list is under way, and from before the write.", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			before, after := families(t, three), families(t, `
  - name: three
    watch: widgets
    with: {found: {resource: items, matchLabels: {tag: "yes"}}}
    when: len(found) < 3
    actions:
    - forEach: {i: "${1..3-len(found)}"}
      create: {in: found, manifest: {metadata: {generateName: "${object.metadata.name}-", labels: {tag: "yes"}}}}
`)
			var e *engine.Engine
			reloaded := false
			c.answer = func(plan.Operation) *write.Result {
				if !reloaded {
					reloaded = true
					c.locked(func() {
						c.frozen[allItems] = true
						if !tc.synced {
							c.unsynced[allItems] = true
						}
					})
					e.SetRules(after)
				}
				return nil
			}
			synctest.Test(t, func(t *testing.T) {
				e = c.engine()
				stop := start(t, e, before)
				defer stop()
				pass(time.Minute)
				if !tc.synced {
					c.sync(allItems)
					pass(time.Minute)
				}
				if c.sent(plan.Create) != 3 {
					t.Errorf("%s\n%d creations", tc.reason, c.sent(plan.Create))
				}
				c.thaw(allItems)
				settledWithThree(t, c, e)
			})
		})
	}
}

// TestEchoOfAnOwnerThatGoes holds that an object that goes while its writes are not yet
// seen is forgotten with them.
func TestEchoOfAnOwnerThatGoes(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.frozen[taggedItems] = true
	runWith(t, c, engine.Housekeeping{}, families(t, three), func(t *testing.T, e *engine.Engine) {
		c.remove("a")
		pass(time.Minute)
		c.thaw(taggedItems)
		pass(time.Minute)
		if left := e.Remembered(); len(left) > 0 {
			t.Errorf("remembered: %v", left)
		}
		if n := e.Asking(taggedItems); n > 0 {
			t.Errorf("%d ask still", n)
		}
	})
}

// TestNothingIsRemembered holds that hundreds of objects that come and go leave nothing.
func TestNothingIsRemembered(t *testing.T) {
	c := newCluster()
	runWith(t, c, engine.Housekeeping{}, families(t, three+counted+due+`
  - name: child
    watch: widgets
    actions: [{apply: {resource: items, owned: false, prune: true, manifest: {metadata: {name: "${object.metadata.name}-child"}}}}]
`), func(t *testing.T, e *engine.Engine) {
		for i := range 300 {
			name := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
			c.put(t, `{metadata: {namespace: ns, name: `+name+`}, spec: {at: "2030-01-01T00:00:00Z"}}`)
			if i%10 == 0 {
				synctest.Wait()
			}
			c.remove(name)
		}
		pass(time.Minute)
		if diff := cmp.Diff(map[string]int{}, e.Remembered()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if left := c.list(items); len(left) != 3 {
			t.Errorf("the children of what is gone are there: %v", left)
		}
	})
}

// TestEchoOfADeletionIsItsEnd holds that what is gone is not taken for gone while it is shown
// as going, which the API server may do first: a rule would tell of it once more.
func TestEchoOfADeletionIsItsEnd(t *testing.T) {
	const item = `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: it, uid: u}}`
	c := newCluster()
	c.put(t, small)
	c.put(t, item)
	c.lagging = true
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: sweeps
    watch: widgets
    with: {every: {resource: items, all: true}}
    when: len(every) > 0
    actions:
    - delete: {target: every}
    - event: {reason: Swept, message: "${join(map(every, .metadata.name), ', ')} of ${len(filter(every, .metadata.deletionTimestamp == nil))}"}
`), func(t *testing.T, _ *engine.Engine) {
		c.put(t, strings.Replace(item, "uid: u", `uid: u, deletionTimestamp: "2026-01-01T00:00:00Z"`, 1))
		pass(time.Minute)
		if diff := cmp.Diff([]string{"Swept it of 1"}, c.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
