package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestDryRunSettles holds that what is simulated is told once, whatever else happens.
func TestDryRunSettles(t *testing.T) {
	tests := map[string]struct {
		reason string
		rules  string
		want   int
	}{
		"Patch":  {"A field that stays as it is.", atLeastThree, 1},
		"Create": {"New objects, whose names are thought of each time.", three, 3},
		"Apply":  {"A child that never comes.", "\n" + pruned[1:], 1},
		"Delete": {"An object that stays.", unbacked, 1},
		"Finalizer": {
			"One that is never on.", `
  - name: holder
    watch: widgets
    onDelete: {actions: [{event: {reason: Bye, message: bye}}]}
    actions: [{event: {reason: Hello, message: hello}}]
`, 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			c.answer = func(operation plan.Operation) *write.Result {
				return &write.Result{Class: write.Simulated, Object: operation.Predicted}
			}
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, _ *engine.Engine) {
				for i := range 5 {
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a, labels: {other: "yes"}}, spec: {size: 1, other: %d}}`, i))
					pass(time.Hour)
				}
				if n := c.count(); n != tc.want {
					t.Errorf("%s\ntold of %d writes, want %d: %+v", tc.reason, n, tc.want, c.writes)
				}
			})
		})
	}
}

// TestIneffectiveWriteToAChild holds that what is written to another object without
// effect is not repeated, and is again when something changes there.
func TestIneffectiveWriteToAChild(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, newItem("a-child", ""))
	c.answer = func(operation plan.Operation) *write.Result {
		return &write.Result{Class: write.Unchanged, Object: c.of(item(operation.Target.Name))}
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: paints
    watch: widgets
    with: {child: {resource: items, name: "${object.metadata.name}-child"}}
    actions: [{patch: {target: child, merge: {spec: {color: red}}}}]
`), func(t *testing.T, _ *engine.Engine) {
		for i := range 5 {
			c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a}, spec: {size: %d}}`, i))
			pass(time.Hour)
		}
		if n := c.count(); n != 1 {
			t.Errorf("%d writes, want one", n)
		}
		c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: a-child}, spec: {color: blue}}`)
		synctest.Wait()
		if n := c.count(); n != 2 {
			t.Errorf("%d writes, want another to what is another colour", n)
		}
	})
}

// TestChildThatIsBeingDeleted holds that it is left alone until it is gone, and made
// again then.
func TestChildThatIsBeingDeleted(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	runWith(t, c, engine.Housekeeping{}, families(t, pruned), func(t *testing.T, _ *engine.Engine) {
		child := c.of(item("a-child"))
		c.put(t, string(encode(merged(child, map[string]any{"spec": map[string]any{"changed": true}, "metadata": map[string]any{
			"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": []any{"theirs"},
		}}))))
		pass(time.Hour)
		if n := c.count(); n != 1 {
			t.Errorf("%d writes, want none to what is going", n-1)
		}
		c.drop(item("a-child"))
		synctest.Wait()
		if again := c.of(item("a-child")); again == nil || uidOf(again) == uidOf(child) {
			t.Errorf("the child is %v", again)
		}
	})
}

// TestSettleCountsNoObjectThatIsGone holds the same of the books of --once, and that it
// waits for what is still to be pruned.
func TestSettleCountsNoObjectThatIsGone(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, gadget)
	synctest.Test(t, func(t *testing.T) {
		if report, err := c.engine().Settle(t.Context(), families(t, twoParents)); err != nil || report.Objects != 2 || report.Written != 2 {
			t.Errorf("err %v, report %+v; want two objects and two writes", err, report)
		}
	})
	c.restart()
	c.remove("a")
	synctest.Test(t, func(t *testing.T) {
		report, err := c.engine().Settle(t.Context(), families(t, twoParents))
		if err != nil || report.Objects != 1 || report.Written != 1 || len(report.Failures) > 0 {
			t.Errorf("err %v, report %+v; want one object, and the child of the other pruned", err, report)
		}
	})
	c.restart()
	c.drop(engine.Key{GVR: gadgets, Namespace: "ns", Name: "g"})
	c.liveOK = func() error { return errRefused }
	synctest.Test(t, func(t *testing.T) {
		report, err := c.engine().Settle(t.Context(), families(t, twoParents))
		if err != nil || report.Written != 0 || len(report.Failures) != 1 {
			t.Errorf("err %v, report %+v; want the live read that fails to be told", err, report)
		}
	})
}
