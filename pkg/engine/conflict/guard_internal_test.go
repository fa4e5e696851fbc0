package conflict

import (
	"context"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestToldWhenCarriedOut holds that a conflict is told of by an attempt that is carried out, and by no earlier one.
func TestToldWhenCarriedOut(t *testing.T) {
	g := newGame(t)
	conflicts := g.conflicts
	undo(conflicts, target, Repeats+2)
	key := guard.Key{GVR: schema.GroupVersionResource{Group: widgets.Group, Version: "v1", Resource: widgets.Resource}, Namespace: target.Namespace, Name: target.Name}
	told := 0
	attempt := func(carriedOut bool) {
		a := &guard.Attempt{Key: key, CarriedOut: carriedOut}
		check, _ := conflicts.Begin(a)
		check.Finish(&guard.Outcome{Looked: true})
		told += len(a.Warnings)
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

// TestPreparesWhatIsSent holds that only what is about to be sent is remembered: a rule that is held back for thousands of
// objects does not push out what others have written.
func TestPreparesWhatIsSent(t *testing.T) {
	g := newGame(t)
	conflicts := g.conflicts
	undo(conflicts, target, Repeats)
	check, _ := conflicts.Begin(&guard.Attempt{Evaluation: guard.Evaluation{Read: func() []guard.Input { return nil }}})
	for i := range 2 * conflicts.maxHistories {
		o := plan.Operation{Rules: []plan.Rule{rule("b")}, Target: plan.Object{Name: strconv.Itoa(i)}}
		if delay := check.Admit(t.Context(), o); delay != nil {
			t.Fatal(delay.Err)
		}
		check.Observe(guard.Operation{Operation: o, Admitted: o}, guard.Answer{}) // Another guard holds it back.
	}
	if !conflicts.suspects([]plan.Rule{rule("a")}, target) {
		t.Error("what rule a has written is forgotten")
	}
}

// TestReadsLiveWhatIsSent holds that the target is read live that is written to, also where the rules wanted to make it and
// it turned out to be there: its managedFields name the rival.
func TestReadsLiveWhatIsSent(t *testing.T) {
	g := newGame(t)
	conflicts := g.conflicts
	conflicts.live = managedBy("script")
	undo(conflicts, target, Repeats)
	begun, _ := conflicts.Begin(&guard.Attempt{Evaluation: guard.Evaluation{Read: func() []guard.Input { return nil }}})
	gvr := schema.GroupVersionResource{Group: widgets.Group, Version: "v1", Resource: widgets.Resource}
	wanted := plan.Operation{Type: plan.Create, Rules: []plan.Rule{rule("a")}, Target: plan.Object{GVR: gvr, Namespace: target.Namespace, Name: target.Name}}
	sent := wanted
	sent.Type, sent.Target.UID = plan.Merge, "u"
	begun.Admit(t.Context(), wanted)
	begun.Prepare(t.Context(), guard.Operation{Operation: sent, Admitted: wanted})
	if c, is := begun.(*check); !is || len(c.sent[target]) != 1 || c.sent[target][0] == nil {
		t.Error("the target was not read live")
	}
}

// managedBy is a live object of a field manager.
type managedBy string

func (m managedBy) Get(context.Context, schema.GroupVersionResource, string, string) (map[string]any, error) {
	return managed(entry(string(m), "2026-01-01T00:00:00Z")), nil
}
