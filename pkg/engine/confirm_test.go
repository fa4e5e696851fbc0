package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// unbacked deletes what a named look-up finds nothing for.
	unbacked = `
  - name: unbacked
    watch: widgets
    with: {backing: {resource: items, name: "${object.metadata.name}-backing"}}
    when: backing == nil
    actions: [{delete: {}}]
`
	// frees takes the finalizer of another client off where a named look-up finds nothing.
	frees = `
  - name: frees
    watch: widgets
    with: {backing: {resource: items, name: "${object.metadata.name}-backing"}}
    when: backing == nil
    actions: [{patch: {merge: {metadata: {finalizers: "${filter(object.metadata.finalizers, # != 'theirs/kept')}"}}}}]
`
	// adopts takes over what somebody else has made.
	adopts = `
  - name: adopts
    watch: widgets
    actions: [{apply: {resource: tagged, adopt: true, owned: false, manifest: {metadata: {name: child, labels: {tag: "yes"}}, spec: {of: "${object.metadata.name}"}}}}]
`
	// pair makes two named items, of which both look-ups found nothing.
	pair = `
  - name: pair
    watch: widgets
    with: {both: {resource: items, names: [one, two]}}
    when: len(both) < 2
    actions:
    - apply: {resource: items, owned: false, manifest: {metadata: {name: one}}}
    - apply: {resource: items, owned: false, manifest: {metadata: {name: two}}}
`
	tagged = `labels: {tag: "yes"}`
)

// TestConfirm holds that what cannot be taken back is done only where a live read agrees
// with what it was decided by.
func TestConfirm(t *testing.T) {
	tests := map[string]struct {
		reason string
		rules  string
		// arrange prepares what the caches do not see.
		arrange func(t *testing.T, c *cluster)
		// then lets them catch up.
		then    func(c *cluster)
		before  int // writes before that
		widgets []string
		items   []string
		writes  int
	}{
		"Agrees": {
			reason: "There is nothing.", rules: unbacked,
			before: 1, writes: 1,
		},
		"Contradicts": {
			reason: "It has come meanwhile, so that nothing is to be deleted.", rules: unbacked,
			arrange: func(t *testing.T, c *cluster) { c.frozen[allItems] = true; c.lateItem(t, "a-backing", "") },
			then:    func(c *cluster) { c.thaw(allItems) },
			widgets: []string{"a"}, items: []string{"a-backing"},
		},
		"FreesAgreed": {
			reason: "There is nothing.", rules: frees,
			arrange: func(t *testing.T, c *cluster) { c.put(t, heldWidget) },
			before:  1, widgets: []string{"a"}, writes: 1,
		},
		"FreesContradicted": {
			reason: "It has come meanwhile, so that the finalizer stays.", rules: frees,
			arrange: func(t *testing.T, c *cluster) {
				c.put(t, heldWidget)
				c.frozen[allItems], c.recent = true, true
				c.lateItem(t, "a-backing", "")
			},
			then:    func(c *cluster) { c.thaw(allItems) },
			widgets: []string{"a"}, items: []string{"a-backing"},
		},
		"ContradictsAndGoes": {
			reason: "It has come and gone before the cache has seen anything.", rules: unbacked,
			arrange: func(t *testing.T, c *cluster) { c.frozen[allItems] = true; c.lateItem(t, "a-backing", "") },
			then: func(c *cluster) {
				c.locked(func() { delete(c.stored, item("a-backing")); c.next(item("a-backing")) })
				c.thaw(allItems)
			},
			writes: 1,
		},
		"FailsFirst": {
			reason: "Nothing is done until the read succeeds.", rules: unbacked,
			arrange: func(_ *testing.T, c *cluster) { c.liveOK = func() error { return errRefused } },
			then:    func(c *cluster) { c.locked(func() { c.liveOK = nil }) },
			writes:  1,
		},
		"AdoptsWhatIsThere": {
			reason: "It is the one that the cache has shown.", rules: adopts,
			arrange: func(t *testing.T, c *cluster) { c.put(t, newItem("child", tagged)) },
			before:  1, widgets: []string{"a"}, items: []string{"child"}, writes: 1,
		},
		"AdoptsAnother": {
			reason: "Another object has the name by now, which is adopted when the cache shows it.", rules: adopts,
			arrange: func(t *testing.T, c *cluster) {
				c.put(t, newItem("child", tagged))
				c.frozen[taggedItems], c.frozen[allItems] = true, true
				c.lateItem(t, "child", tagged+", uid: another")
			},
			then:    func(c *cluster) { c.thaw(taggedItems); c.thaw(allItems) },
			widgets: []string{"a"}, items: []string{"child"}, writes: 1,
		},
		"AdoptsWhatLeft": {
			reason: "It lives on, but is none of what the rules see: to be there it would have to be made, and cannot.", rules: adopts + counted,
			arrange: func(t *testing.T, c *cluster) {
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {count: 1}}`)
				c.put(t, newItem("child", tagged))
				c.frozen[taggedItems] = true
				c.lateItem(t, "child", "uid: uid-of-child")
			},
			then:    func(c *cluster) { c.thaw(taggedItems) },
			widgets: []string{"a"}, items: []string{"child"}, writes: -1,
		},
		"OwnWrites": {
			reason: "What the plan itself has made contradicts nothing.", rules: pair,
			arrange: func(_ *testing.T, c *cluster) { c.frozen[allItems] = true },
			then:    func(c *cluster) { c.thaw(allItems) },
			before:  2, widgets: []string{"a"}, items: []string{"one", "two"}, writes: 2,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			set := families(t, tc.rules)
			synctest.Test(t, func(t *testing.T) {
				e := c.engine()
				c.prepare(set.Selections(), set.Related())
				if tc.arrange != nil {
					tc.arrange(t, c)
				}
				stop := start(t, e, set)
				defer stop()
				pass(time.Minute)
				if n := c.count(); n != tc.before {
					t.Errorf("%s\n%d writes at first, want %d: %+v", tc.reason, n, tc.before, c.writes)
				}
				if tc.then != nil {
					tc.then(c)
				}
				pass(time.Minute)
				if diff := cmp.Diff([][]string{tc.widgets, tc.items}, [][]string{c.list(widgets), c.list(items)}); diff != "" {
					t.Errorf("%s\nwidgets and items (-want +got):\n%s", tc.reason, diff)
				}
				if n := c.count(); tc.writes >= 0 && n != tc.writes {
					t.Errorf("%s\n%d writes, want %d", tc.reason, n, tc.writes)
				}
				if n := e.Remembered()["waiters"]; n > 0 {
					t.Errorf("%s\n%d objects are waited for still", tc.reason, n)
				}
			})
		})
	}
}

// lateItem stores an item that frozen caches do not see.
func (c *cluster) lateItem(t *testing.T, name, metadata string) {
	t.Helper()
	c.put(t, newItem(name, metadata))
}

// TestConfirmLooksAtTheSnapshot holds that a cache that has caught up since the decision
// does not confirm it.
func TestConfirmLooksAtTheSnapshot(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, `{metadata: {namespace: ns, name: a, finalizers: [theirs]}, spec: {size: 1}}`)
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Type != plan.Delete {
			// Between the decision and the deletion the backing appears, in the cache too.
			c.put(t, newItem("a-backing", ""))
		}
		return nil
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: first
    watch: widgets
    with: {other: {resource: items, matchLabels: {other: "yes"}}}
    when: len(other) == 0
    actions: [{create: {in: other, manifest: {metadata: {name: other, labels: {other: "yes"}}}}}]
`+unbacked), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if n := c.sent(plan.Delete); n > 0 {
			t.Errorf("it was deleted, though what it lacked is there: %+v", c.writes)
		}
	})
}

// TestConfirmAfterALostDeletion holds that what has the name by now of an object that a rule
// deleted is not what the rule has made: it contradicts as anything else does.
func TestConfirmAfterALostDeletion(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, newItem("backing", ""))
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Target.Name != "backing" {
			return nil
		}
		c.carryOut(operation)
		c.put(t, newItem("backing", tagged+", uid: another"))
		return &write.Result{Class: write.Ambiguous, Err: errRefused}
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: untagged
    watch: widgets
    with: {old: {resource: items, name: backing}}
    when: old?.metadata.uid == "uid-of-backing"
    actions: [{delete: {target: old}}]
  - name: unbacked
    watch: widgets
    with: {backing: {resource: tagged, name: backing}}
    when: backing == nil
    actions: [{delete: {}}]
`), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if diff := cmp.Diff([]string{"a"}, c.list(widgets)); diff != "" {
			t.Errorf("widgets (-want +got):\n%s", diff)
		}
	})
}

// TestWrittenWithoutEcho holds that a write of which nothing tells when the caches have
// seen it is not sent again and again until they have, nor anything on top of it.
func TestWrittenWithoutEcho(t *testing.T) {
	const twice = `
  - name: twice
    watch: widgets
    when: object.spec.size < 3
    actions:
    - patch: {merge: {spec: {size: 3}}}
    - patch: {subresource: status, merge: {status: {grown: true}}}
`
	for name, tc := range map[string]struct {
		reason, rules string
	}{
		"One":  {"It is tried again as after a failure.", atLeastThree},
		"Next": {"What comes next would be refused, for it is of the version before.", twice},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.answer = func(operation plan.Operation) *write.Result {
				return &write.Result{Class: write.Written, Object: operation.Predicted}
			}
			run(t, c, tc.rules, func(t *testing.T, e *engine.Engine) {
				pass(time.Hour)
				if n := c.count(); n < 2 || n > 30 {
					t.Errorf("%s\n%d writes in an hour", tc.reason, n)
				}
				for _, operation := range c.writes {
					if operation.Subresource != "" {
						t.Errorf("%s\nsent %s to the status", tc.reason, operation.Type)
					}
				}
				before := c.count()
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 3}}`)
				pass(time.Hour)
				if n := c.count() - before; n > 0 || e.Remembered()["waiters"] > 0 {
					t.Errorf("%s\n%d writes after it was seen, remembered %v", tc.reason, n, e.Remembered())
				}
			})
		})
	}
}
