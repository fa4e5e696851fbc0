package guard_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestConcluded holds which outcomes say how the episodes of a rule go on: of a rule that was refused, the Events from before
// the refusal are recorded.
func TestConcluded(t *testing.T) {
	rule := plan.Rule{Set: "set", Name: "rule"}
	wrote, unfinished := map[plan.Rule]bool{rule: true}, map[plan.Rule]int{rule: 0}
	for outcome, want := range map[plan.Outcome]bool{
		plan.Matched: true, plan.Unmatched: true, plan.Waiting: true, plan.Skipped: true, plan.Refused: true,
		plan.Withheld: false, plan.Failed: false,
	} {
		decision := plan.Decision{Rule: rule, Outcome: outcome}
		if got := (&guard.Attempt{}).Concluded(decision); got != want {
			t.Errorf("%s concludes: %t", outcome, got)
		}
		if (&guard.Attempt{Progress: guard.Progress{Unfinished: unfinished}}).Concluded(decision) {
			t.Errorf("%s concludes although a write of the rule failed", outcome)
		}
		if (&guard.Attempt{Progress: guard.Progress{Stopped: true}}).Concluded(decision) {
			t.Errorf("%s concludes although the snapshot is out of date", outcome)
		}
		if got := (&guard.Attempt{Progress: guard.Progress{Stopped: true, Wrote: wrote}}).Concluded(decision); got != want {
			t.Errorf("%s concludes after the last write: %t", outcome, got)
		}
		if got := (&guard.Attempt{Evaluation: guard.Evaluation{Unanswered: true}}).Concluded(decision); got != (want && outcome != plan.Skipped) {
			t.Errorf("%s concludes without all answers: %t", outcome, got)
		}
	}
}
