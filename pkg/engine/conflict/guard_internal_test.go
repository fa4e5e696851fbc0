package conflict

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestToldOnce holds that a conflict is told of by the attempt that names it, and by no other.
func TestToldOnce(t *testing.T) {
	conflicts := newGame(t).conflicts
	written := guard.Answer{Result: write.Result{Class: write.Written, Echo: &write.Echo{Object: plan.Object{UID: "u"}}}}
	o := guard.Operation{Operation: plan.Operation{
		Type: plan.Merge, Rules: []plan.Rule{rule("a")}, Target: objectOf(target),
		Changes: []plan.Change{{Rule: rule("a"), Path: replicas, Before: 0, After: 1}},
	}}
	o.Target.UID = "u"
	o.Admitted, o.Told = o.Operation, o.Operation
	conflicts.live = managedBy("script")
	var told []string
	for i := range rounds {
		a := &guard.Attempt{Key: keyOf(target), CarriedOut: true, Evaluation: guard.Evaluation{Read: func() []guard.Input { return nil }}}
		check, _ := conflicts.Begin(a)
		o.Target.ResourceVersion, written.Echo.Object.ResourceVersion = strconv.Itoa(2*i), strconv.Itoa(2*i+1)
		check.Admit(t.Context(), o.Admitted)
		check.Observe(o, written)
		check.Finish(&guard.Outcome{Looked: true})
		for _, warning := range a.Warnings {
			told = append(told, warning.Message)
		}
	}
	want := []string{
		`spec.replicas of widgets.example.com ns/target: field manager "script" undoes what rule set/a writes; slowed down to one write in 30s`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRemembersWhatIsSent holds that only what was sent is remembered: a rule that is held back for thousands of objects does not
// push out what others have written.
func TestRemembersWhatIsSent(t *testing.T) {
	g := newGame(t)
	conflicts := g.conflicts
	undo(conflicts, target, Repeats)
	check, _ := conflicts.Begin(&guard.Attempt{Evaluation: guard.Evaluation{Read: func() []guard.Input { return nil }}})
	for i := range 2 * maxHistories {
		o := plan.Operation{Rules: []plan.Rule{rule("b")}, Target: plan.Object{Name: strconv.Itoa(i)}}
		if delay := check.Admit(t.Context(), o); delay != nil {
			t.Fatal(delay.Err)
		}
		check.Observe(guard.Operation{Operation: o, Admitted: o}, guard.Answer{}) // Another guard holds it back.
	}
	if _, suspect := conflicts.look([]plan.Rule{rule("a")}, target); !suspect {
		t.Error("what rule a has written is forgotten")
	}
}

// TestReadsLiveWhatIsSent holds that the target is read live that is about to be written to, also where the rules want to make
// it and it may turn out to be there: its managedFields name the rival.
func TestReadsLiveWhatIsSent(t *testing.T) {
	g := newGame(t)
	conflicts := g.conflicts
	conflicts.live = managedBy("script")
	undo(conflicts, target, Repeats)
	begun, _ := conflicts.Begin(&guard.Attempt{Evaluation: guard.Evaluation{Read: func() []guard.Input { return nil }}})
	gvr := schema.GroupVersionResource{Group: widgets.Group, Version: "v1", Resource: widgets.Resource}
	wanted := plan.Operation{Type: plan.Create, Rules: []plan.Rule{rule("a")}, Target: plan.Object{GVR: gvr, Namespace: target.Namespace, Name: target.Name}}
	begun.Admit(t.Context(), wanted)
	if c, is := begun.(*check); is && c.live[target] == nil {
		t.Error("the target was not read live")
	}
}

// managedBy is a live object of a field manager.
type managedBy string

func (m managedBy) Get(context.Context, schema.GroupVersionResource, string, string) (map[string]any, error) {
	return managed(entry(string(m), "2026-01-01T00:00:00Z")), nil
}

// TestWaitsForAnAnswer holds that of two writes to an object the first is judged first: the second waits where it may have found
// what the first has left.
func TestWaitsForAnAnswer(t *testing.T) {
	conflicts := newGame(t).conflicts
	by := func(watched Object, name, version string) (guard.Check, guard.Operation) {
		check, _ := conflicts.Begin(&guard.Attempt{Key: keyOf(watched), Evaluation: guard.Evaluation{Read: func() []guard.Input { return nil }}})
		o := plan.Operation{
			Type: plan.Merge, Rules: []plan.Rule{rule(name)}, Target: objectOf(target),
			Changes: []plan.Change{{Rule: rule(name), Path: replicas, Before: 0, After: 1}},
		}
		o.Target.UID, o.Target.ResourceVersion = "u", version
		return check, guard.Operation{Operation: o, Admitted: o, Told: o}
	}
	left := func(version string) guard.Answer {
		return guard.Answer{Result: write.Result{Class: write.Written, Echo: &write.Echo{Object: plan.Object{UID: "u", ResourceVersion: version}}}}
	}
	check, o := by(target, "a", "1")
	check.Admit(t.Context(), o.Admitted)
	check.Observe(o, left("2"))
	first, firstSent := by(target, "a", "2")
	second, secondSent := by(source, "b", "3")
	for _, step := range []struct {
		reason string
		check  guard.Check
		o      guard.Operation
		waits  bool
	}{
		{"It is as it was left.", first, firstSent, false},
		{"Somebody has changed it, who may be the first.", second, secondSent, true},
	} {
		if delay := step.check.Admit(t.Context(), step.o.Admitted); (delay != nil) != step.waits || step.waits && !delay.Retry {
			t.Errorf("%s It has to wait: %v", step.reason, delay)
		}
	}
	first.Observe(firstSent, left("3"))
	if delay := second.Admit(t.Context(), secondSent.Admitted); delay != nil {
		t.Errorf("it still waits: %v", delay.Err)
	}
	second.Observe(secondSent, left("4"))
	if n := len(conflicts.underWay); n > 0 {
		t.Errorf("%d are under way in the end", n)
	}
}

// TestPanic holds that nothing is locked, and nothing under way, after a live read that panics, which the engine contains.
func TestPanic(t *testing.T) {
	conflicts := newGame(t).conflicts
	conflicts.live = nil
	undo(conflicts, target, Repeats)
	func() {
		defer func() { _ = recover() }()
		held(conflicts, rule("a"), target)
		t.Error("nothing was read")
	}()
	conflicts.live = managedBy("script")
	held(conflicts, rule("a"), target)
	if n := len(conflicts.underWay); n > 0 {
		t.Errorf("%d writes are under way", n)
	}
}
