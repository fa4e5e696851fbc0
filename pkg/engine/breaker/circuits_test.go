package breaker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestList holds what is told of the quarantine, and in which order.
func TestList(t *testing.T) {
	bySet := plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "a", Name: "z"}
	last := plan.Rule{Kind: "ClusterRuleSet", Namespace: "z", Set: "z", Name: "z"}
	byKind := plan.Rule{Kind: "RuleSet", Namespace: "a", Set: "z", Name: "z"}
	byNamespace := plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "z", Name: "a"}
	byName := plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "z", Name: "b"}
	inOrder := []plan.Rule{all, bySet, one, two, last, byKind, byNamespace, byName}
	w := newWorld()
	for _, rule := range inOrder {
		w.Fail(named("a"), rule, hopeless, "1")
		w.Fail(named("a"), rule, hopeless, "1")
		w.Fail(named("b"), rule, hopeless, "1")
	}
	w.Fail(named("B"), two, guard.Failure{Err: errEarlier, Cause: guard.Hopeless}, "1")
	w.clock.Step(time.Hour)
	w.Fail(named("B"), two, futile, "1")
	var want []Circuit
	for _, rule := range inOrder {
		want = append(want, Circuit{
			Key: named("a"), Rule: rule, Err: errRefused, Attempts: 2, Next: start.Add(2 * Respite), Open: true,
		})
	}
	want = append([]Circuit{{Key: named("B"), Rule: two, Err: errRefused, Attempts: 2, Open: true}}, want...)
	var got []Circuit
	for range 20 { // Maps are in another order each time.
		got = w.List()
		if diff := cmp.Diff(want, got, cmpopts.EquateErrors(), cmpopts.IgnoreUnexported(Circuit{})); diff != "" {
			t.Fatalf("in quarantine (-want +got):\n%s", diff)
		}
	}
	for _, c := range got {
		if of, fails := w.Of(c.Key, c.Rule); of != c || !fails {
			t.Errorf("of %v and %s is known %v, want %v", c.Key, c.Rule, of, c)
		}
	}
	if c, fails := w.Of(named("b"), one); !fails || c.Open || c.Attempts != 1 {
		t.Errorf("of what is not in quarantine is known %v", c)
	}
	if w.Len() != 3 {
		t.Errorf("%d objects are remembered, want 3", w.Len())
	}
	counts := Counts(w.List())
	wantCounts := map[plan.Rule]int{all: 1, one: 1, two: 2, last: 1, byKind: 1, byNamespace: 1, bySet: 1, byName: 1}
	if diff := cmp.Diff(wantCounts, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	clear(counts)
	if len(Counts(w.List())) == 0 {
		t.Error("who is told the counts can change them")
	}
	if got := newWorld().List(); got != nil {
		t.Errorf("nothing has failed, but listed is %v", got)
	}
}
