package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// looking asks about items in a form of with, and never acts.
const looking = `
  - name: looking
    watch: widgets
    with: {found: {resource: items, %s}}
    when: object.spec.size > 0 && %s
    actions: [{event: {reason: Never, message: never}}]
`

// TestRelatedReevaluatesWhoAsked holds that a change of a related object evaluates just
// those that it concerns, once.
func TestRelatedReevaluatesWhoAsked(t *testing.T) {
	const empty = "len(found) < 0"
	tests := map[string]struct {
		reason     string
		with, when string
		change     func(*testing.T, *cluster)
		want       map[string]int
	}{
		"NameAppears": {
			reason: "A look-up that found nothing is answered otherwise.",
			with:   `name: "${object.metadata.name}-item"`, when: "found?.spec.x == 1",
			change: func(t *testing.T, c *cluster) { c.put(t, newItem("a-item", "")) },
			want:   map[string]int{"a": 1},
		},
		"NameOfAnother": {
			reason: "Nobody asked for it.",
			with:   `name: "${object.metadata.name}-item"`, when: "found?.spec.x == 1",
			change: func(t *testing.T, c *cluster) { c.put(t, newItem("d-item", "")) },
			want:   map[string]int{},
		},
		"LabelsAppear": {
			reason: "It is in the list of one.",
			with:   `matchLabels: {of: "${object.metadata.name}"}`, when: empty,
			change: func(t *testing.T, c *cluster) { c.put(t, newItem("x", `labels: {of: b}`)) },
			want:   map[string]int{"b": 1},
		},
		"LabelsMove": {
			reason: "It leaves one list and enters another.",
			with:   `matchLabels: {of: "${object.metadata.name}"}`, when: empty,
			change: func(t *testing.T, c *cluster) { c.put(t, newItem("there", `labels: {of: b}`)) },
			want:   map[string]int{"a": 1, "b": 1},
		},
		"LabelsGo": {
			reason: "What is gone is not there any more.",
			with:   `matchLabels: {of: "${object.metadata.name}"}`, when: empty,
			change: func(_ *testing.T, c *cluster) { c.drop(item("there")) },
			want:   map[string]int{"a": 1},
		},
		"Owner": {
			reason: "By the controller.",
			with:   "ownedBy: object", when: empty,
			change: func(t *testing.T, c *cluster) {
				c.put(t, newItem("x", `ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: c, uid: uid-of-c, controller: true}]`))
			},
			want: map[string]int{"c": 1},
		},
		"All": {
			reason: "Everybody asked for it.",
			with:   "all: true", when: empty,
			change: func(t *testing.T, c *cluster) { c.put(t, newItem("x", "")) },
			want:   map[string]int{"a": 1, "b": 1, "c": 1},
		},
		"NotAsked": {
			reason: "Where the condition was false before, nothing was asked.",
			with:   "all: true", when: "object.spec.ask == true && " + empty,
			change: func(t *testing.T, c *cluster) { c.put(t, newItem("x", "")) },
			want:   map[string]int{},
		},
		"AnotherResource": {
			reason: "Nobody reads it.",
			with:   "all: true", when: empty,
			change: func(t *testing.T, c *cluster) {
				c.put(t, `{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: x}}`)
			},
			want: map[string]int{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			for _, name := range []string{"a", "b", "c"} {
				c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s}, spec: {size: 1}}`, name))
			}
			c.put(t, newItem("there", `labels: {of: a}`))
			runWith(t, c, engine.Housekeeping{}, families(t, fmt.Sprintf(looking, tc.with, tc.when)), func(t *testing.T, _ *engine.Engine) {
				before := c.seen.since(nil)
				tc.change(t, c)
				synctest.Wait()
				if diff := cmp.Diff(tc.want, c.seen.since(before)); diff != "" {
					t.Errorf("%s\nevaluations (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func newItem(name, metadata string) string {
	if metadata != "" {
		metadata = ", " + metadata
	}
	return fmt.Sprintf(`{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: %s%s}}`, name, metadata)
}

// TestUnsyncedRelatedIsNotEmpty holds that a rule does not act on what a cache that is
// not complete lacks, that others do, and that it acts once the cache is.
func TestUnsyncedRelatedIsNotEmpty(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	set := families(t, labelled+`
  - name: lonely
    watch: widgets
    with: {found: {resource: items, all: true}}
    when: len(found) == 0
    actions: [{patch: {merge: {spec: {lonely: true}}}}]
`)
	c.unsynced[informer.Key{GVR: items}] = true
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if c.count() != 1 || c.writes[0].Rules[0].Name != "labelled" {
			t.Errorf("want only the rule that does not read the cache to act: %+v", c.writes)
		}
		c.sync(informer.Key{GVR: items})
		synctest.Wait()
		if spec(c, "a")["lonely"] == nil {
			t.Error("the rule did not act when the cache had become complete")
		}
	})
}

// TestRelatedIsForgotten holds that nobody is woken for what was asked by an object
// that is gone, or by rules that are.
func TestRelatedIsForgotten(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *cluster, *engine.Engine){
		"Gone": func(_ *testing.T, c *cluster, _ *engine.Engine) { c.remove("a") },
		"Reloaded": func(t *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(families(t, labelled+`
  - name: reads
    watch: gadgets
    with: {found: {resource: items, all: true}}
    when: len(found) == 0
    actions: [{event: {reason: Never, message: never}}]
`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			runWith(t, c, engine.Housekeeping{}, families(t, fmt.Sprintf(looking, "all: true", "len(found) < 0")), func(t *testing.T, e *engine.Engine) {
				end(t, c, e)
				pass(time.Minute)
				before := c.seen.since(nil)
				c.put(t, newItem("x", ""))
				pass(time.Minute)
				if got := c.seen.since(before); len(got) > 0 {
					t.Errorf("evaluated %v", got)
				}
			})
		})
	}
}
