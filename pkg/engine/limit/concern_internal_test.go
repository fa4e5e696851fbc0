package limit

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestConcern holds which writes count for the limits of a rule, and which a paused rule may still send.
func TestConcern(t *testing.T) {
	rule, other := plan.Rule{Kind: "ClusterRuleSet", Set: "s", Name: "a"}, plan.Rule{Kind: "ClusterRuleSet", Set: "s", Name: "b"}
	own, theirs := any(rule.Finalizer()), any("example.com/theirs")
	finalizers := func(before, after []any) plan.Change {
		return plan.Change{Rule: rule, Path: plan.Path{"metadata", "finalizers"}, Before: before, After: after}
	}
	label := plan.Change{Rule: rule, Path: plan.Path{"metadata", "labels", "x"}, After: "y"}
	adopted := plan.Change{Rule: rule, Path: plan.Path{"metadata", "annotations", plan.AdoptedAnnotation}, Before: "x"}
	tests := map[string]struct {
		reason  string
		kind    plan.Type
		changes []plan.Change
		want    concern
	}{
		"Apply":       {"It changes what is there.", plan.Apply, nil, counts},
		"Delete":      {"So does a deletion.", plan.Delete, nil, counts},
		"Label":       {"And a merge.", plan.Merge, []plan.Change{label}, counts},
		"OfAnother":   {"What another rule changes is its own.", plan.Merge, []plan.Change{{Rule: other, Path: label.Path, After: "y"}}, none},
		"Holds":       {"The finalizer of the rule holds.", plan.Merge, []plan.Change{finalizers([]any{theirs}, []any{theirs, own})}, holds},
		"Frees":       {"Taking it off frees.", plan.JSON, []plan.Change{finalizers([]any{theirs, own}, []any{theirs})}, none},
		"Theirs":      {"That of somebody else is a change like any other.", plan.Merge, []plan.Change{finalizers([]any{theirs, own}, []any{own})}, counts},
		"HoldsAndSet": {"Both together count.", plan.Merge, []plan.Change{label, finalizers(nil, []any{own})}, counts},
		"GivesUp":     {"What was adopted is given up with all that was set.", plan.Merge, []plan.Change{label, adopted}, none},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := check{attempt: &guard.Attempt{Rules: &guard.Rules{Limited: map[plan.Rule]guard.Limited{rule: {}}}}}
			if got := c.concern(plan.Operation{Type: tc.kind, Changes: tc.changes}, rule); got != tc.want {
				t.Errorf("%s got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
