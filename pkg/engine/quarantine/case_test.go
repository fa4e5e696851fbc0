package quarantine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/engine/quarantine"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestList holds what is told of the quarantine, and in which order.
func TestList(t *testing.T) {
	last := plan.Rule{Kind: "ClusterRuleSet", Namespace: "z", Set: "z", Name: "z"}
	byKind := plan.Rule{Kind: "RuleSet", Namespace: "a", Set: "z", Name: "z"}
	byNamespace := plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "a", Name: "z"}
	bySet := plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "b", Name: "a"}
	byName := plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "b", Name: "b"}
	inOrder := []plan.Rule{all, one, two, last, byKind, byNamespace, bySet, byName}
	w := newWorld()
	for _, rule := range inOrder {
		w.Fail("a", rule, hopeless, w.saw("1"))
		w.Fail("a", rule, hopeless, w.saw("1"))
		w.Fail("b", rule, hopeless, w.saw("1"))
	}
	w.Fail("B", two, quarantine.Setback{Err: errEarlier, Hopeless: true}, w.saw("1"))
	w.clock.Step(time.Hour)
	w.Fail("B", two, futile, w.saw("1"))
	var want []quarantine.Case[string]
	for _, rule := range inOrder {
		want = append(want, quarantine.Case[string]{
			Key: "a", Rule: rule, Err: errRefused, Since: start, Attempts: 2, Next: start.Add(2 * quarantine.Respite), Isolated: true,
		})
	}
	want = append(want, quarantine.Case[string]{Key: "B", Rule: two, Err: errRefused, Since: start, Attempts: 2, Isolated: true})
	var got []quarantine.Case[string]
	for range 20 { // Maps are in another order each time.
		got = w.List(func(a, b string) int { return strings.Compare(b, a) })
		if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
			t.Fatalf("in quarantine (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff("B", w.List(strings.Compare)[0].Key); diff != "" {
		t.Errorf("in the order that is asked for (-want +got):\n%s", diff)
	}
	for _, c := range got {
		if of, fails := w.Of(c.Key, c.Rule); of != c || !fails {
			t.Errorf("of %s and %s is known %v, want %v", c.Key, c.Rule, of, c)
		}
	}
	if c, fails := w.Of("b", one); !fails || c.Isolated || c.Attempts != 1 {
		t.Errorf("of what is not in quarantine is known %v", c)
	}
	if w.Len() != 3 {
		t.Errorf("%d objects are remembered, want 3", w.Len())
	}
	counts := w.Counts()
	wantCounts := map[plan.Rule]int{all: 1, one: 1, two: 2, last: 1, byKind: 1, byNamespace: 1, bySet: 1, byName: 1}
	if diff := cmp.Diff(wantCounts, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	clear(counts)
	if len(w.Counts()) == 0 {
		t.Error("who is told the counts can change them")
	}
	if got := newWorld().List(strings.Compare); got != nil {
		t.Errorf("nothing has failed, but listed is %v", got)
	}
}
