package engine

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestConcluded holds which outcomes say how the episodes of a rule go on: of a
// rule that was refused, the Events from before the refusal are recorded.
func TestConcluded(t *testing.T) {
	rule := plan.Rule{Set: "set", Name: "rule"}
	for outcome, want := range map[plan.Outcome]bool{
		plan.Matched: true, plan.Unmatched: true, plan.Waiting: true, plan.Skipped: true, plan.Refused: true,
		plan.Withheld: false, plan.Failed: false,
	} {
		decision := plan.Decision{Rule: rule, Outcome: outcome}
		if got := (&attempt{asked: &source{}}).concluded(decision); got != want {
			t.Errorf("%s concludes: %t", outcome, got)
		}
		if (&attempt{asked: &source{}, Attempt: guard.Attempt{Unfinished: map[plan.Rule]bool{rule: true}}}).concluded(decision) {
			t.Errorf("%s concludes although a write of the rule failed", outcome)
		}
	}
}
