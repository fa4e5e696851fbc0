package conflict

import (
	"log/slog"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestToldWhenCarriedOut holds that a conflict is told of by an attempt that is carried out, and by no earlier one.
func TestToldWhenCarriedOut(t *testing.T) {
	g := newGame(t)
	conflicts := &Guard{Tracker: g.tracker, log: slog.New(slog.DiscardHandler)}
	undo(g.tracker, target, Repeats+2)
	key := guard.Key{GVR: schema.GroupVersionResource{Group: widgets.Group, Version: "v1", Resource: widgets.Resource}, Namespace: target.Namespace, Name: target.Name}
	told := 0
	attempt := func(carriedOut bool) {
		a := &guard.Attempt{Key: key, CarriedOut: carriedOut}
		check, _ := conflicts.Begin(a)
		if carriedOut {
			a.Mask = func(err error) error { return err }
			a.Warn = func(plan.Rule, string, string) { told++ }
		}
		check.Finish(&guard.Outcome{Looked: true})
	}
	attempt(false)
	if told != 0 {
		t.Error("somebody is told of it who has done nothing")
	}
	attempt(true)
	attempt(true)
	if told != 1 {
		t.Errorf("told %d times, want once", told)
	}
}
