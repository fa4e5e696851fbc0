package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestHeirsInclude(t *testing.T) {
	one, other, foreign := plan.Rule{Set: "set", Name: "one"}, plan.Rule{Set: "set", Name: "other"}, plan.Rule{Set: "another", Name: "one"}
	elsewhere := Key{Name: "a"}
	elsewhere.GVR.Resource = "gadgets"
	for name, tc := range map[string]struct {
		reason string
		kind   plan.LeftoverKind
		key    Key
		late   []plan.Rule
		want   bool
	}{
		"Any":       {"It may be one of them.", plan.LeftChildren, objectNamed("a"), nil, true},
		"AnyFields": {"The same holds for fields.", plan.LeftFields, objectNamed("a"), nil, true},
		"Elsewhere": {"None of them watches that.", plan.LeftChildren, elsewhere, nil, false},
		"One":       {"It has not got the children yet.", plan.LeftChildren, objectNamed("a"), []plan.Rule{other, one}, true},
		"Other":     {"The other can take over nothing.", plan.LeftFinalizer, objectNamed("a"), []plan.Rule{other}, false},
		"Foreign":   {"A set that is deleted does not wait for trouble of others.", plan.LeftChildren, objectNamed("a"), []plan.Rule{foreign}, false},
		"Fields":    {"It may be refused them because they are not given up.", plan.LeftFields, objectNamed("a"), []plan.Rule{one}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := heirs{
				set: plan.Rule{Set: "set"}, kind: tc.kind, rules: []plan.Rule{one, foreign},
				resources: map[schema.GroupVersionResource]bool{objectNamed("").GVR: true},
			}
			if got := h.include(tc.key, tc.late); got != tc.want {
				t.Errorf("%s\ngot %v", tc.reason, got)
			}
		})
	}
}

// TestOwed holds when rules have done with an object.
func TestOwed(t *testing.T) {
	rule := []plan.Rule{{Set: "set", Name: "rule"}}
	for name, tc := range map[string]struct {
		reason  string
		outcome guard.Outcome
		waiting []plan.Rule
		rules   int
		owe     bool
	}{
		"Settled":  {reason: "Nothing is left to do.", outcome: guard.Outcome{}},
		"Written":  {reason: "The caches have not shown it.", outcome: guard.Outcome{State: guard.Waiting}, owe: true},
		"Retried":  {reason: "Nobody knows what else was left.", outcome: failed(rule, errLate, false), owe: true},
		"Refused":  {reason: "The others have had their turn.", outcome: failed(rule, errLate, true), rules: 1, owe: true},
		"Unknown":  {reason: "It is not known whose it is.", outcome: failed(nil, errLate, true), owe: true},
		"Surprise": {reason: "The rest may have been left.", outcome: wrote(failed(rule, errLate, true)), owe: true},
		"Waiting":  {reason: "It will want something.", outcome: guard.Outcome{}, waiting: rule, rules: 1, owe: true},
	} {
		t.Run(name, func(t *testing.T) {
			if rules, owe := tc.outcome.Owed(tc.waiting); len(rules) != tc.rules || owe != tc.owe {
				t.Errorf("%s\n%v, owed: %v", tc.reason, rules, owe)
			}
		})
	}
}

func wrote(outcome guard.Outcome) guard.Outcome {
	outcome.Wrote = true
	return outcome
}
