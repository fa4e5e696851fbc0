package engine_test

import (
	"fmt"
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

const (
	// unused deletes a widget for which there is no item.
	unused = `
  - name: unused
    watch: widgets
    with: {users: {resource: items, matchLabels: {for: "${object.metadata.name}"}}}
    when: len(users) == 0
    actions: [{delete: {}}]
`
	// guarded keeps a widget until there is no item for it.
	guarded = `
  - name: guarded
    watch: widgets
    with: {users: {resource: items, matchLabels: {for: "${object.metadata.name}"}}}
    onDelete: {actions: [{event: {reason: Going, message: it goes}}], done: len(users) == 0}
`
	// maker creates an item where there is none.
	maker = `
  - name: maker
    watch: others
    with: {mine: {resource: items, matchLabels: {for: "${object.metadata.name}"}}}
    actions:
    - when: len(mine) == 0
      create: {in: mine, owned: false, manifest: {metadata: {generateName: "x-", labels: {for: "${object.metadata.name}"}}}}
`
	// adopter takes in the items that nobody controls.
	adopter = `
  - name: adopter
    watch: others
    with: {mine: {resource: items, matchLabels: {for: "${object.metadata.name}"}}}
    actions:
    - forEach: {each: "${filter(mine, controllerOf(#) == nil)}"}
      patch: {target: each, merge: {metadata: {ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: a, uid: "${object.metadata.uid}", controller: true}]}}}
`
	// freed takes the finalizer of another client off a widget for which there is no item.
	freed = `
  - name: freed
    watch: widgets
    with: {users: {resource: items, matchLabels: {for: "${object.metadata.name}"}}}
    when: len(users) == 0
    actions: [{patch: {merge: {metadata: {finalizers: "${filter(object.metadata.finalizers, # != 'theirs/kept')}"}}}}]
`
	// freedOther takes it off an item.
	freedOther = `
  - name: freed
    watch: widgets
    with:
      users: {resource: items, matchLabels: {for: "${object.metadata.name}"}}
      kept: {resource: items, name: kept}
    when: len(users) == 0
    actions: [{patch: {target: kept, json: [{op: remove, path: /metadata/finalizers/0}]}}]
`
	heldWidget = `{metadata: {namespace: ns, name: a, finalizers: [theirs/kept]}, spec: {size: 1}}`
	heldItem   = `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: kept, finalizers: [theirs/kept]}}`
	unwanted   = `{metadata: {namespace: ns, name: a, labels: {other: "yes"}}, spec: {size: 0}}`
	itemOfA    = `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: user, labels: {for: a}}}`
)

// comesLate has the cache of items see that one user of a widget goes, and not yet that there is another.
func comesLate(t *testing.T, c *cluster) {
	t.Helper()
	c.thaw(allItems)
	c.put(t, strings.Replace(itemOfA, "for: a", "for: b", 1))
	c.locked(func() { c.frozen[allItems] = true })
	c.put(t, strings.Replace(itemOfA, "name: user", "name: late", 1))
}

// TestNothingIsDecidedByThePast holds that nothing is made, deleted or let go because of an object whose cache does not
// show what has become of it, and that it is done right once the cache does.
func TestNothingIsDecidedByThePast(t *testing.T) {
	gone := strings.Replace(small, "name: a", `name: a, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [theirs, FINALIZER]`, 1)
	for name, tc := range map[string]struct {
		reason, rules string
		before        []string
		frozen        informer.Key
		// past is what the frozen cache does not see, and then has the rules evaluated.
		past, then func(t *testing.T, c *cluster)
		widgets    []string
		items      []string
	}{
		"Changed": {
			reason: "The parent wants no child any more.", rules: pruned, before: []string{parent}, frozen: otherWidgets,
			past: func(t *testing.T, c *cluster) { c.put(t, unwanted) },
			then: func(_ *testing.T, c *cluster) { c.drop(item("a-child")) }, widgets: []string{"a"},
		},
		"Gone": {
			reason: "The parent is gone, and with it what was made for it.", rules: pruned, before: []string{parent}, frozen: otherWidgets,
			past: func(_ *testing.T, c *cluster) { c.remove("a") },
			then: func(_ *testing.T, c *cluster) { c.drop(item("a-child")) },
		},
		"Another": {
			reason: "Another parent has the name.", rules: maker, before: []string{parent}, frozen: otherWidgets,
			past: func(t *testing.T, c *cluster) { c.put(t, fmt.Sprintf(reborn, 1)) },
			then: func(_ *testing.T, c *cluster) { c.drop(item("x-1")) }, widgets: []string{"a"}, items: []string{"x-3"},
		},
		"Used": {
			reason: "Somebody uses it since.", rules: unused, before: []string{small, itemOfA}, frozen: allItems,
			past:    comesLate,
			then:    func(t *testing.T, c *cluster) { c.put(t, strings.Replace(small, "size: 1", "size: 2", 1)) },
			widgets: []string{"a"}, items: []string{"late", "user"},
		},
		"HeldFor": {
			reason: "It is held for one that has come since.", rules: guarded, before: []string{small}, frozen: allItems,
			past: func(t *testing.T, c *cluster) { c.put(t, itemOfA) },
			then: func(t *testing.T, c *cluster) {
				c.put(t, strings.Replace(gone, "FINALIZER", families(t, guarded).Rules()[0].ID.Finalizer(), 1))
			},
			widgets: []string{"a"}, items: []string{"user"},
		},
		"Freed": {
			reason: "It is kept for one that has come since.", rules: freed, before: []string{heldWidget, itemOfA}, frozen: allItems,
			past:    comesLate,
			then:    func(t *testing.T, c *cluster) { c.put(t, strings.Replace(heldWidget, "size: 1", "size: 2", 1)) },
			widgets: []string{"a"}, items: []string{"late", "user"},
		},
		"FreedOther": {
			reason: "Another object is kept for one that has come since.", rules: freedOther, before: []string{small, itemOfA, heldItem}, frozen: allItems,
			past:    comesLate,
			then:    func(t *testing.T, c *cluster) { c.put(t, strings.Replace(small, "size: 1", "size: 2", 1)) },
			widgets: []string{"a"}, items: []string{"kept", "late", "user"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.names = []string{"1", "2", "3"}
				for _, text := range tc.before {
					c.put(t, text)
				}
				stop := start(t, c.engine(), families(t, tc.rules))
				defer stop()
				pass(time.Minute)
				c.locked(func() { c.frozen[tc.frozen] = true })
				tc.past(t, c)
				before := c.count()
				tc.then(t, c)
				pass(time.Minute)
				if n := c.count() - before; n > 0 {
					t.Errorf("%s\nsent %+v", tc.reason, c.writes[before:])
				}
				c.thaw(tc.frozen)
				pass(time.Minute)
				if diff := cmp.Diff([][]string{tc.widgets, tc.items}, [][]string{c.list(widgets), c.list(items)}); diff != "" {
					t.Errorf("%s\nwidgets and items (-want +got):\n%s", tc.reason, diff)
				}
				if held := strings.Contains(string(encode(c.get("a"))), "dyncontroller.dev/set.guarded"); held != (tc.rules == guarded) {
					t.Errorf("%s\nheld: %t", tc.reason, held)
				}
			})
		})
	}
}

// TestAdoptionIsConfirmed holds that nothing is adopted by an object that is going, however little its cache is behind: when
// a deletion is to orphan children, their owner is removed a moment after the deletion began, and garbage collection would
// delete what is adopted then.
func TestAdoptionIsConfirmed(t *testing.T) {
	going := strings.Replace(parent, "name: a", `name: a, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [orphan]`, 1)
	for name, tc := range map[string]struct {
		past         string
		gets, writes int
	}{"Going": {going, 1, 0}, "Staying": {"", 1, 1}} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			runWith(t, c, engine.Housekeeping{}, families(t, adopter), func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				c.locked(func() { c.frozen[otherWidgets], c.recent = true, true })
				if tc.past != "" {
					c.put(t, tc.past)
				}
				c.put(t, itemOfA)
				pass(time.Second)
				if n := c.count(); n != tc.writes || c.gets != tc.gets {
					t.Errorf("%d writes, want %d; %d gets, want %d: %+v", n, tc.writes, c.gets, tc.gets, c.writes)
				}
			})
		})
	}
}

// TestTakeover holds that a new leader whose cache trails neither makes a second child nor deletes one that is wanted.
func TestTakeover(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, rules, before string
		trails                informer.Key
		young                 bool
	}{
		"Makes":       {"The children are not in the cache yet.", maker, parent, allItems, false},
		"Prunes":      {"The parent is in the cache as it was when it wanted no child.", pruned, unwanted, otherWidgets, false},
		"MakesYoung":  {"The cache was listed right before the first leader made the child.", maker, parent, allItems, true},
		"PrunesYoung": {"The cache was listed right before the parent wanted a child.", pruned, unwanted, otherWidgets, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.put(t, tc.before)
				old := c.get("a")
				stop := start(t, c.engine(), families(t, tc.rules))
				synctest.Wait()
				c.put(t, parent)
				pass(time.Second)
				made := c.list(items)
				if len(made) != 1 {
					t.Fatalf("the first leader made %v", made)
				}
				stop()
				c.restart()
				e := standby(t, c, &shelf{}, tc.rules)
				c.locked(func() {
					cache := c.caches[tc.trails]
					for key := range cache.objects {
						delete(cache.objects, key)
						cache.missed[key] = c.changedAt[key] - 1
						if key.GVR == widgets {
							cache.objects[key] = old
						}
					}
					c.frozen[tc.trails] = true
					if tc.young {
						c.vouched = time.Now()
					}
				})
				pass(time.Second)
				defer lead(e)()
				pass(time.Minute)
				c.thaw(tc.trails)
				pass(time.Minute)
				if diff := cmp.Diff(made, c.list(items)); diff != "" || c.sent(plan.Delete) > 0 {
					t.Errorf("%s %d deletions, children (-want +got):\n%s", tc.reason, c.sent(plan.Delete), diff)
				}
			})
		})
	}
}

// TestTakeoverCounts holds that a new leader does not go on counting from what its cache has yet to see, and that only a new leader compares
// what a patch was decided by, and only until the cache has shown all that the leader before had written.
func TestTakeoverCounts(t *testing.T) {
	const counting = `
  - name: counting
    watch: widgets
    with: {users: {resource: items, matchLabels: {for: "${object.metadata.name}"}}}
    actions: [{patch: {merge: {spec: {users: "${len(users)}"}}}}]
`
	for name, tc := range map[string]struct {
		reason  string
		elected bool
		writes  int
		reads   int
	}{
		"Elected": {"It waits until the cache shows the item.", true, 0, 1},
		"Alone":   {"There was no leader before.", false, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.tune = func(o *engine.Options) { o.Elected = tc.elected }
				c.put(t, small)
				set := families(t, counting)
				e := c.engine()
				c.prepare(set.Selections(), set.Related())
				c.frozen[allItems] = true
				c.put(t, itemOfA)
				defer start(t, e, set)()
				pass(time.Second)
				if n := c.count(); n != tc.writes || c.reads != tc.reads {
					t.Errorf("%s\n%d writes, want %d; %d reads, want %d: %+v", tc.reason, n, tc.writes, c.reads, tc.reads, c.writes)
				}
				c.thaw(allItems)
				pass(time.Minute)
				if got := spec(c, "a")["users"]; got != int64(1) {
					t.Errorf("%s\nin the end it counts %v", tc.reason, got)
				}
				c.locked(func() { c.frozen[allItems] = true })
				c.put(t, strings.Replace(itemOfA, "name: user", "name: late", 1))
				before := c.reads
				c.put(t, strings.Replace(small, "size: 1", "size: 2", 1))
				pass(time.Second)
				if got := spec(c, "a")["users"]; got != int64(1) || c.reads != before {
					t.Errorf("%s\nlater it counts %v, and reads %d times", tc.reason, got, c.reads-before)
				}
			})
		})
	}
}

// TestOneReadForAnEvaluation holds how many live reads it takes where no cache is known to be fresh: one for all that is
// made for an object, and none for what is written to the object itself.
func TestOneReadForAnEvaluation(t *testing.T) {
	const many = `
  - name: many
    watch: widgets
    actions:
    - forEach: {i: "${1..20}"}
      apply: {resource: items, owned: false, manifest: {metadata: {name: "${object.metadata.name}-${i}"}}}
`
	for name, tc := range map[string]struct {
		rules       string
		fresh       bool
		gets, items int
	}{"Stale": {many, false, 1, 20}, "Fresh": {many, true, 0, 20}, "Itself": {atLeastThree, false, 0, 0}, "ItselfFirst": {atLeastThree + many, false, 0, 20}} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.unknown, c.recent = !tc.fresh, tc.fresh
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				if n := len(c.list(items)); c.gets != tc.gets || c.reads != 0 || n != tc.items {
					t.Errorf("%d gets, want %d, %d reads; %d items", c.gets, tc.gets, c.reads, n)
				}
			})
		})
	}
}

// TestLongAnswers holds that a rule acts although it takes longer to read what it looks up than that may be old: a cache which is known to
// be fresh a second after it is asked for twice tells it.
func TestLongAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		others int // objects that change at the same time
		change string
		made   int
	}{
		"Alone":   {"One object is made.", 0, "", 1},
		"Many":    {"Each has its own question.", 50, "", 51},
		"Changed": {"Another client made it while it was read.", 0, itemOfA, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.names = slices.Repeat([]string{"1"}, 60)
				for i := range c.names {
					c.names[i] = fmt.Sprint(i)
				}
				var missed time.Time
				c.answering, c.vouched = 3*time.Second, time.Now().Add(-time.Hour)
				c.askedFresh = func() {
					now := time.Now()
					if now.Sub(missed) < informer.MaxStaleness && now.Sub(c.vouched) > informer.MaxStaleness/2 {
						time.AfterFunc(1200*time.Millisecond, func() { c.locked(func() { c.vouched = now }) })
					}
					missed = now
				}
				stop := start(t, c.engine(), families(t, maker))
				defer stop()
				pass(time.Minute)
				c.put(t, parent)
				for i := range tc.others {
					c.put(t, strings.Replace(parent, "name: a", fmt.Sprintf("name: a%d", i), 1))
				}
				if tc.change != "" {
					pass(2500 * time.Millisecond)
					c.put(t, tc.change)
				}
				pass(30 * time.Second)
				if made := c.sent(plan.Create); made != tc.made || len(c.list(items)) != max(1, tc.made) {
					t.Errorf("%s %d are made, want %d; items %v; %d reads", tc.reason, made, tc.made, c.list(items), c.reads)
				}
			})
		})
	}
}

// TestMovingObject holds that an object that changes more often than it can be read and confirmed still gets what it
// needs, if its cache is late by less than two seconds.
func TestMovingObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, parent)
		c.unknown = true
		stop := start(t, c.engine(), families(t, strings.Replace(pruned, "prune: true", "prune: false", 1)))
		defer stop()
		pass(time.Minute)
		c.locked(func() { c.frozen[otherWidgets] = true })
		c.drop(item("a-child"))
		for i := range 300 { // Each change is seen 150 ms later, when there have been three others.
			c.put(t, strings.Replace(parent, "size: 1", fmt.Sprintf("size: %d", i+2), 1))
			now := c.get("a")
			time.AfterFunc(150*time.Millisecond, func() { c.show(otherWidgets, now) })
			pass(50 * time.Millisecond)
		}
		if got := c.list(items); !slices.Contains(got, "a-child") {
			t.Errorf("after 15 seconds there are %v", got)
		}
	})
}

// TestRestoredEtcd holds that an object is not left alone for good because of a write that a restore of etcd took back.
func TestRestoredEtcd(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		if result.Class == write.Written {
			c.locked(func() { c.after, c.version = nil, 0 })
			c.put(t, small)
			result.Echo.Object.ResourceVersion = "1000"
		}
		return result
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v", got)
		}
	})
}

// TestStalledCacheIsListedAnew holds that a cache that does not show a write for a while is listed anew.
func TestStalledCacheIsListedAnew(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.lagging = true
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.locked(func() {
			if len(c.relisted) == 0 {
				t.Error("it is left as it is")
			}
		})
	})
}

// TestAnswersThatVouch holds which answers to a write tell how far a cache has to be: those alone of a request that has changed something,
// for the version in another one is older than the request.
func TestAnswersThatVouch(t *testing.T) {
	for class, want := range map[write.Class][]string{
		write.Written: {"700"}, write.Unchanged: nil, write.Simulated: nil, write.Stale: nil, write.Taken: nil, write.Terminal: nil, write.Ambiguous: nil,
	} {
		t.Run(string(class), func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.answer = func(o plan.Operation) *write.Result {
				object := o.Target
				object.ResourceVersion = "700"
				return &write.Result{Class: class, Echo: &write.Echo{Object: object}, Err: map[bool]error{true: errRefused}[class.Failed()]}
			}
			run(t, c, atLeastThree, func(*testing.T, *engine.Engine) { pass(time.Millisecond) })
			if diff := cmp.Diff(want, c.changedTo); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
