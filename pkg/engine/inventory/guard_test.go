package inventory_test

import (
	"errors"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestGuard holds that a rule writes only once everything is recorded that it leaves, and that who has waited is told then.
func TestGuard(t *testing.T) {
	left := leftovers("s/a finalizer pods.v1", "s/a children pods.v1")
	rule, other := left[0].Rule, leftover("s/b finalizer pods.v1").Rule
	key := guard.Key{Name: "x"}
	g := &inventory.Guard{}
	check, rests := g.Begin(&guard.Attempt{Key: key, Rules: &guard.Rules{Leaves: map[plan.Rule][]plan.Leftover{rule: left}}})
	if !rests.IsZero() {
		t.Error("the object is left alone")
	}
	if delay := check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{other}}); delay != nil {
		t.Errorf("a rule that leaves nothing waits: %v", delay.Err)
	}
	for _, recorded := range [][]plan.Leftover{nil, left[:1]} {
		g.Recorded(inventory.NewBook(recorded...))
		delay := check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{other, rule}})
		if delay == nil || !delay.Retry || !errors.Is(delay.Err, guard.ErrUnrecorded) {
			t.Errorf("with %v recorded: %v", recorded, delay)
		}
	}
	if waiting := g.Recorded(inventory.NewBook(left...)); len(waiting) != 1 || waiting[0] != key {
		t.Errorf("waiting are %v", waiting)
	}
	if delay := check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{rule}}); delay != nil {
		t.Errorf("it waits still: %v", delay.Err)
	}
	if waiting := g.Recorded(inventory.NewBook(left...)); len(waiting) != 0 {
		t.Errorf("waiting again are %v", waiting)
	}
}
