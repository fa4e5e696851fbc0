package setstatus

import (
	"fmt"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// BenchmarkTally is one evaluation of an object that rules match: linear in their number.
func BenchmarkTally(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var ids []plan.Rule
			var decisions []plan.Decision
			for i := range n {
				id := plan.Rule{Kind: "ClusterRuleSet", Set: "guardrails", Name: fmt.Sprintf("rule-number-%04d", i)}
				ids = append(ids, id)
				decisions = append(decisions, plan.Decision{Rule: id, Outcome: plan.Matched})
			}
			tally := newTally()
			tally.Follow(ids)
			snapshot := rules.Snapshot{GVR: pods, Object: map[string]any{
				"metadata": map[string]any{"name": "a", "namespace": "shop", "uid": "u"},
			}}
			b.ReportAllocs()
			for b.Loop() {
				tally.Looked(snapshot, decisions)
				tally.Concluded(pod("a"), nil)
			}
		})
	}
}
