package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

var configmaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// inMode is the text of a set whose rules are in another mode, or suspended.
func inMode(text, mode string) string {
	return strings.Replace(text, "    watch:", "    "+mode+"\n    watch:", 1)
}

// TestMeasure holds that the rules of all tenants are measured, each once, for as long as
// they are there.
func TestMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		if got := k.Measure(); len(got.Rules)+len(got.Caches) > 0 {
			t.Errorf("nothing is there yet, have %+v", got)
		}
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		k.configMap("shop", "b", nil)
		k.files(paints("own", "", "red"), inMode(paints("audited", "", "red"), "mode: Audit"), inMode(paints("resting", "", "red"), "suspend: true"))
		defer k.start()()
		k.setObjects(asObject(t, inMode(paints("anns", "ann", "red"), "mode: Audit")))
		k.pass(20 * time.Second)
		expect := func(reason string, want ...telemetry.Rule) {
			t.Helper()
			if diff := cmp.Diff(want, k.Measure().Rules); diff != "" {
				t.Errorf("%s (-want +got):\n%s", reason, diff)
			}
		}
		rule := func(set string, standing telemetry.Standing, matched int64) telemetry.Rule {
			return telemetry.Rule{ID: plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: set, Name: "paint"}, Standing: standing, Matched: matched}
		}
		expect("A rule that acts has nothing left to do, an audited one matches on.",
			rule("audited", telemetry.Audited, 2), rule("own", telemetry.Active, 0), rule("resting", telemetry.Suspended, 0),
			rule("anns", telemetry.Audited, 2))

		k.remove("configmaps", "shop", "a")
		k.pass(moment)
		expect("What is gone does not match.",
			rule("audited", telemetry.Audited, 1), rule("own", telemetry.Active, 0), rule("resting", telemetry.Suspended, 0),
			rule("anns", telemetry.Audited, 1))

		measured := k.Measure()
		if len(measured.Caches) != 2 || measured.Caches[0].Objects != 1 || measured.Caches[1].Objects != 1 {
			t.Errorf("each tenant has a cache of one object, have %+v", measured.Caches)
		}

		k.files(paints("own", "", "red"))
		k.setObjects()
		k.pass(moment)
		expect("Rules that are gone are not measured.", rule("own", telemetry.Active, 0))
	})
}

// TestMeasureMoves holds that a rule which passes from one identity to another is measured
// all the while, and once: what is counted of a rule goes when it is not.
func TestMeasureMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		whose := []*rules.Set{load(t, paints("own", "ann", "red")), load(t, paints("own", "bob", "red"))}
		if err := k.SetFiles(whose[0]); err != nil {
			t.Fatal(err)
		}
		defer k.start()()
		moved := make(chan struct{})
		go func() {
			defer close(moved)
			for i := range 200 {
				if err := k.SetFiles(whose[i%2]); err != nil {
					t.Error(err)
				}
			}
		}()
		for moving := true; moving; {
			select {
			case <-moved:
				moving = false
			default:
			}
			if got := k.Measure().Rules; len(got) != 1 || got[0].ID.Set != "own" {
				t.Fatalf("want the one rule, have %+v", got)
			}
		}
	})
}

// TestRecorded holds that what all tenants know of an object is told.
func TestRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		k.files(paints("own", "", "red"))
		defer k.start()()
		k.setObjects(asObject(t, paints("anns", "ann", "red")))
		k.pass(20 * time.Second)
		key := engine.Key{GVR: configmaps, Namespace: "shop", Name: "a"}
		got := k.Recorded(key)
		var rules []string
		for _, record := range got.Records {
			if record.Outcome != plan.Unmatched || record.WrittenAt.IsZero() {
				t.Errorf("it has written, and has nothing left to do: %+v", record)
			}
			rules = append(rules, record.Rule.String())
		}
		if diff := cmp.Diff([]string{"own/paint", "anns/paint"}, rules); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		key.Name = "unknown"
		none := k.Recorded(key)
		if diff := cmp.Diff("configmaps shop/unknown", none.Object.String()); diff != "" || len(none.Records) > 0 {
			t.Errorf("nothing is known of it, have %+v", none)
		}
	})
}

// TestMeasureFailing holds that a rule says on how many objects it fails.
func TestMeasureFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.configMap("shop", "a", nil)
		k.configMap("shop", "b", nil)
		k.files(paints("own", "", "red"))
		k.deny("patch configmaps")
		k.set(func(w *world) { w.fails["PATCH configmaps"] = 403 })
		defer k.start()()
		k.pass(20 * time.Second)
		want := []telemetry.Rule{{
			ID:       plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "own", Name: "paint"},
			Standing: telemetry.Active, Matched: 2, Failing: 2, Quarantined: 2,
		}}
		if diff := cmp.Diff(want, k.Measure().Rules); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestRivals(t *testing.T) {
	t.Parallel()
	one, two := plan.Rule{Set: "s", Name: "one"}, plan.Rule{Set: "s", Name: "two"}
	of := func(rule plan.Rule, rival conflict.Rival) conflict.Conflict {
		return conflict.Conflict{Rule: rule, Rival: rival}
	}
	got := rivals([]conflict.Conflict{
		of(one, conflict.Rival{Kind: conflict.Rule, Rule: two}), of(two, conflict.Rival{Kind: conflict.Rule, Rule: one}),
		of(one, conflict.Rival{Kind: conflict.Rule, Rule: two}), of(one, conflict.Rival{Kind: conflict.Manager, Manager: "kubectl-edit"}),
		of(one, conflict.Rival{Kind: conflict.Itself}), of(one, conflict.Rival{Kind: conflict.OtherIdentity}),
		of(one, conflict.Rival{Kind: conflict.Admission}), of(one, conflict.Rival{Kind: conflict.Unknown}),
	})
	want := map[plan.Rule]map[string]int64{
		one: {"s/two": 2, "kubectl-edit": 1, "itself": 1, "another identity": 1, "admission": 1, "unknown": 1},
		two: {"s/one": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMeasureQueues holds that what waits for a worker is measured as it is then, of all tenants.
func TestMeasureQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			k.configMap("shop", name, nil)
		}
		defer k.start()()
		answer := make(chan struct{})
		k.set(func(w *world) { w.hold["PATCH configmaps"] = answer })
		expect := func(reason string, want int) {
			t.Helper()
			if got := k.Measure().Queued; got != want {
				t.Errorf("%s: want %d in the queues, have %d", reason, want, got)
			}
		}
		k.files(paints("own", "", "red"), paints("anns", "ann", "red"))
		synctest.Wait()
		expect("each of both tenants has two workers, which wait for an answer, and five objects", 6)
		close(answer)
		k.pass(moment)
		expect("all is written", 0)
	})
}
