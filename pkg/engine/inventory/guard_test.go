package inventory_test

import (
	"errors"
	"fmt"
	"runtime"
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
		g.Recorded(inventory.NewBook(recorded...), left)
		delay := check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{other, rule}})
		if delay == nil || !delay.Retry || !errors.Is(delay.Err, guard.ErrUnrecorded) {
			t.Errorf("with %v recorded: %v", recorded, delay)
		}
	}
	if waiting := g.Recorded(inventory.NewBook(left...), left); len(waiting) != 1 || waiting[0] != key {
		t.Errorf("waiting are %v", waiting)
	}
	if delay := check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{rule}}); delay != nil {
		t.Errorf("it waits still: %v", delay.Err)
	}
	if waiting := g.Recorded(inventory.NewBook(left...), left); len(waiting) != 0 {
		t.Errorf("waiting again are %v", waiting)
	}
}

// TestGuardRecordsNow holds that a rule waits which the inventory knows, but not as it is now, or which was none when it was written.
func TestGuardRecordsNow(t *testing.T) {
	left := leftovers("s/a finalizer pods.v1", "s/b fields pods.v1")
	changed := left[1]
	changed.Release = plan.RemoveFields
	g := &inventory.Guard{}
	g.Recorded(inventory.NewBook(left...), left[1:])
	for _, of := range []plan.Leftover{left[0], changed} {
		check, _ := g.Begin(&guard.Attempt{Rules: &guard.Rules{Leaves: map[plan.Rule][]plan.Leftover{of.Rule: {of}}}})
		if delay := check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{of.Rule}}); delay == nil {
			t.Errorf("%s does not wait", of)
		}
	}
}

// TestGuardWithManyWaiting holds that each object that waits costs the same, however many there are.
func TestGuardWithManyWaiting(t *testing.T) {
	left := leftovers("s/a finalizer pods.v1")
	g := &inventory.Guard{}
	admit := func(i int) {
		a := &guard.Attempt{Key: guard.Key{Name: fmt.Sprint(i)}, Rules: &guard.Rules{Leaves: map[plan.Rule][]plan.Leftover{left[0].Rule: left}}}
		check, _ := g.Begin(a)
		check.Admit(t.Context(), plan.Operation{Rules: []plan.Rule{left[0].Rule}})
	}
	for i := range 10_000 {
		admit(i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 100 {
		admit(i)
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / 100; bytes > 10_000 {
		t.Errorf("one more object takes %d bytes", bytes)
	}
}
