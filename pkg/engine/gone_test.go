package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// pruned has a child for each widget that is not small.
	pruned = `
  - name: pruned
    watch: others
    when: object.spec.size > 0
    actions: [{apply: {resource: items, owned: false, prune: true, manifest: {metadata: {name: "${object.metadata.name}-child"}}}}]
`
	parent  = `{metadata: {namespace: ns, name: a, labels: {other: "yes"}}, spec: {size: 1}}`
	another = `{metadata: {namespace: ns, name: b, labels: {other: "yes"}}, spec: {size: 1}}`
	reborn  = `{metadata: {namespace: ns, name: a, uid: reborn, labels: {other: "yes"}}, spec: {size: %d}}`
)

var otherWidgets = informer.Key{GVR: widgets, LabelSelector: "other=yes"}

// TestPrune holds what becomes of the children of an object that goes, leaves or comes
// back while somebody looks.
func TestPrune(t *testing.T) {
	bystander := []string{"b-child"}
	both := []string{"a-child", "b-child"}
	tests := map[string]struct {
		reason string
		rules  string
		do     func(t *testing.T, c *cluster, e *engine.Engine)
		want   []string
	}{
		"Nothing": {reason: "What is wanted stays.", do: func(*testing.T, *cluster, *engine.Engine) {}, want: both},
		"Gone": {
			reason: "An event tells.",
			do:     func(_ *testing.T, c *cluster, _ *engine.Engine) { c.remove("a") }, want: bystander,
		},
		"NotWanted": {
			reason: "A false condition wants nothing.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, strings.Replace(parent, "size: 1", "size: 0", 1))
			},
			want: bystander,
		},
		"RelabelledOut": {
			reason: "What the rule does not select wants nothing.",
			do:     func(t *testing.T, c *cluster, _ *engine.Engine) { c.put(t, small) }, want: bystander,
		},
		"RelabelledOutAndIn": {
			reason: "It is selected still when it is looked at, or again, and wants its child.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, small)
				c.put(t, parent)
			},
			want: both,
		},
		"RelabelledOutAndLaterIn": {
			reason: "It is made again.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, small)
				pass(time.Minute)
				c.put(t, parent)
			},
			want: both,
		},
		"RecreatedWithoutChild": {
			reason: "Another object of the name has another uid, and does not want the child.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.remove("a")
				c.put(t, fmt.Sprintf(reborn, 0))
			},
			want: bystander,
		},
		"RecreatedWithChild": {
			reason: "The new object takes the child over, or makes it again.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.remove("a")
				c.put(t, fmt.Sprintf(reborn, 1))
			},
			want: both,
		},
		"ReplacedInOneEvent": {
			reason: "A new list tells of no deletion in between.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, fmt.Sprintf(reborn, 0))
			},
			want: bystander,
		},
		"BeingDeleted": {
			reason: "Until it is gone, its child stays.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, `{metadata: {namespace: ns, name: a, labels: {other: "yes"}, finalizers: [theirs], deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {size: 0}}`)
			},
			want: both,
		},
		"BeingDeletedOutside": {
			reason: "That it has left the selection before does not matter.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, `{metadata: {namespace: ns, name: a, finalizers: [theirs], deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {size: 0}}`)
			},
			want: both,
		},
		"BeingDeletedOutsideAndGone": {
			reason: "No cache tells when it is gone; the engine looks.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				c.put(t, `{metadata: {namespace: ns, name: a, finalizers: [theirs], deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {size: 0}}`)
				pass(time.Minute)
				c.remove("a")
			},
			want: bystander,
		},
		"BackUnseen": {
			reason: "The cache has seen it leave, and a live read shows that it is back.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				object := c.get("a")
				c.locked(func() {
					c.frozen[otherWidgets] = true
					delete(c.caches[otherWidgets].objects, keyOf(object))
				})
				c.put(t, parent)
				c.handler.Changed(informer.Event{Key: otherWidgets, Namespace: "ns", Name: "a", Before: compact.New(object)})
				pass(time.Minute)
				if diff := cmp.Diff(both, c.list(items)); diff != "" {
					t.Errorf("children (-want +got):\n%s", diff)
				}
				c.thaw(otherWidgets)
			},
			want: both,
		},
		"LiveReadFails": {
			reason: "It is tried again until the API server says that it is gone.",
			do: func(_ *testing.T, c *cluster, _ *engine.Engine) {
				c.locked(func() { c.liveOK = func() error { return errRefused } })
				c.remove("a")
				pass(time.Minute)
				if len(c.list(items)) != 2 {
					panic("pruned without a live read")
				}
				c.locked(func() { c.liveOK = nil })
				pass(5 * time.Minute)
			},
			want: bystander,
		},
		"DeletionFails": {
			reason: "It is tried again.",
			do: func(_ *testing.T, c *cluster, _ *engine.Engine) {
				c.answer = failures(3)
				c.remove("a")
			},
			want: bystander,
		},
		"ChildChanges": {
			reason: "The deletion is guarded, and decided afresh.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				child := c.of(item("a-child"))
				first := true
				c.answer = func(plan.Operation) *write.Result {
					if first {
						first = false
						c.put(t, string(encode(merged(child, map[string]any{"spec": map[string]any{"x": 1}}))))
					}
					return nil
				}
				c.remove("a")
			},
			want: bystander,
		},
		"ChildIsTakenOver": {
			reason: "What is not marked as this object's child any more is left alone.",
			do: func(t *testing.T, c *cluster, _ *engine.Engine) {
				child := c.of(item("a-child"))
				c.put(t, string(encode(merged(child, map[string]any{"metadata": map[string]any{"labels": nil}}))))
				synctest.Wait()
				c.put(t, string(encode(merged(child, map[string]any{"metadata": map[string]any{"labels": nil}}))))
				c.remove("a")
			},
			want: both,
		},
		"Suspended": {
			reason: "A suspended rule wants nothing to change.",
			do: func(t *testing.T, c *cluster, e *engine.Engine) {
				e.SetRules(families(t, strings.Replace(pruned, "watch:", "suspend: true\n    watch:", 1)))
				c.remove("a")
			},
			want: both,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			c.put(t, another)
			runWith(t, c, engine.Housekeeping{}, families(t, pruned+tc.rules), func(t *testing.T, e *engine.Engine) {
				if diff := cmp.Diff(both, c.list(items)); diff != "" {
					t.Fatalf("the children are not made (-want +got):\n%s", diff)
				}
				tc.do(t, c, e)
				pass(2 * time.Minute)
				if diff := cmp.Diff(tc.want, c.list(items)); diff != "" {
					t.Errorf("%s\nchildren (-want +got):\n%s", tc.reason, diff)
				}
				writes := c.count()
				pass(time.Hour)
				if n := c.count(); n != writes {
					t.Errorf("%s\n%d more writes in a quiet hour: %+v", tc.reason, n-writes, c.writes[writes:])
				}
			})
		})
	}
}

// TestPruneOfWhatCameLate holds that a child that is made while its parent goes is not
// left behind.
func TestPruneOfWhatCameLate(t *testing.T) {
	for name, again := range map[string]string{"Gone": "", "MadeAgain": fmt.Sprintf(reborn, 0)} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			c.frozen[allItems] = true
			c.after = func(_ plan.Operation, result write.Result) write.Result {
				c.locked(func() { c.after = nil })
				c.remove("a")
				if again != "" {
					c.put(t, again)
				}
				return result
			}
			runWith(t, c, engine.Housekeeping{}, families(t, pruned), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				c.thaw(allItems)
				pass(time.Minute)
				if left := c.list(items); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				if n := e.Remembered()["waiters"]; n > 0 {
					t.Errorf("%d objects are waited for still", n)
				}
			})
		})
	}
}

// TestGoneOfRulesThatAreGone holds that what is still queued of an object that is gone
// does no harm once nobody prunes for it.
func TestGoneOfRulesThatAreGone(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	runWith(t, c, engine.Housekeeping{}, families(t, pruned), func(t *testing.T, e *engine.Engine) {
		c.locked(func() { c.liveOK = func() error { return errRefused } })
		c.remove("a")
		pass(time.Minute)
		e.SetRules(&rules.Set{})
		c.locked(func() { c.liveOK = nil })
		pass(time.Hour)
		if diff := cmp.Diff([]string{"a-child"}, c.list(items)); diff != "" {
			t.Errorf("children (-want +got):\n%s", diff)
		}
		if left := e.Remembered(); len(left) > 0 {
			t.Errorf("remembered: %v", left)
		}
	})
}
