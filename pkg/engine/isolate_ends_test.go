package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestQuarantineEnds holds that nothing is listed of rules and objects that are gone, and
// that what fails again is told again.
func TestQuarantineEnds(t *testing.T) {
	tests := map[string]struct {
		reason string
		end    func(t *testing.T, c *cluster, e *engine.Engine)
	}{
		"Gone": {"There is no object.", func(_ *testing.T, c *cluster, _ *engine.Engine) { c.remove("a") }},
		"Replaced": {"It is another object.", func(t *testing.T, c *cluster, _ *engine.Engine) {
			c.put(t, `{metadata: {namespace: ns, name: a, uid: other}, spec: {size: 3}}`)
		}},
		"Unmatched": {"The rule wants nothing any more.", func(t *testing.T, c *cluster, _ *engine.Engine) {
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 3}}`)
		}},
		"NoRule": {"There is no such rule.", func(t *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(load(t, strings.ReplaceAll(atLeastThree, "name: at-least-three", "name: other")))
		}},
		"NoRules": {"There are no rules.", func(_ *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(&rules.Set{})
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			refuse(c, "at-least-three", write.Terminal)
			run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
				pass(breaker.Respite + time.Second)
				if len(e.Quarantined()) != 1 {
					t.Fatalf("in quarantine: %v", isolated(e))
				}
				tc.end(t, c, e)
				pass(time.Second)
				if len(e.Quarantined()) > 0 || len(breaker.Counts(e.Quarantined())) > 0 {
					t.Errorf("%s in quarantine: %v", tc.reason, isolated(e))
				}
			})
		})
	}
	c := newCluster()
	c.put(t, small)
	refuse(c, "at-least-three", write.Terminal)
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 3}}`)
		pass(time.Minute)
		c.put(t, small)
		pass(time.Minute)
		if len(c.events) != 2 || !strings.HasSuffix(c.events[1], "(again)") {
			t.Errorf("events %v, want a second quarantine to be told as such", c.events)
		}
	})
}

// TestUnevaluated holds that a rule that cannot be evaluated for an object is listed, and
// that it is not time that is waited for.
func TestUnevaluated(t *testing.T) {
	const fails = `
  - name: fails
    watch: widgets
    when: object.spec.size + 0 > 3
    actions: [{patch: {merge: {spec: {big: true}}}}]
`
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: "none"}}`)
	run(t, c, fails+labelled, func(t *testing.T, e *engine.Engine) {
		evaluated := c.seen.of(&c.seen.evaluated)
		pass(time.Hour)
		list := e.Quarantined()
		if len(list) != 1 || list[0].Rule.Name != "fails" || !list[0].Next.IsZero() || list[0].Err == nil {
			t.Errorf("in quarantine: %v", isolated(e))
		}
		if got := c.seen.of(&c.seen.evaluated); got != evaluated {
			t.Errorf("it was evaluated %d times more although nothing has changed", got-evaluated)
		}
		if len(c.events) > 0 {
			t.Errorf("events %v: such a rule may fail for all objects at once", c.events)
		}
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 4}}`)
		pass(time.Second)
		if spec(c, "a")["big"] != any(true) || e.Quarantined() != nil {
			t.Errorf("the spec is %v, in quarantine %v", spec(c, "a"), isolated(e))
		}
	})
}

// TestUnreadable holds the same of an object that cannot be looked at at all, however
// often it is told of.
func TestUnreadable(t *testing.T) {
	for name, fail := range map[string]func() error{
		"Error": func() error { return errRefused },
		"Panic": func() error { panic("poisoned") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			runWith(t, c, engine.Housekeeping{}, families(t, making("items", "prune: true")), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				c.locked(func() { c.liveOK = fail })
				c.remove("a")
				pass(time.Minute)
				list := e.Quarantined()
				if len(list) == 0 || list[0].Rule != (plan.Rule{}) || list[0].Attempts < 8 || list[0].Next.IsZero() {
					t.Fatalf("in quarantine: %v", isolated(e))
				}
				before := list[0].Attempts
				for range 600 {
					c.touch()
					pass(100 * time.Millisecond)
				}
				if got := e.Quarantined()[0].Attempts - before; got < 2 || got > 8 {
					t.Errorf("tried %d times in a minute of events", got)
				}
				c.locked(func() { c.liveOK = nil })
				pass(6 * time.Minute)
				if e.Quarantined() != nil {
					t.Errorf("in quarantine: %v", isolated(e))
				}
			})
		})
	}
}

// TestEventsNotAllowed holds that rules need not be allowed to tell of their quarantine.
func TestEventsNotAllowed(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	refuse(c, "at-least-three", write.Terminal)
	tried := 0
	c.eventOK = func() error {
		tried++
		return apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errRefused)
	}
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if tried != 1 || len(e.Quarantined()) != 1 || c.logged("events were not recorded") > 0 {
			t.Errorf("tried to tell %d times; in quarantine %v", tried, isolated(e))
		}
	})
}

// TestSettleKnowsNoQuarantine holds that who settles gives up as before.
func TestSettleKnowsNoQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, small)
		r := refuse(c, "at-least-three", write.Ambiguous)
		e := c.engine()
		report, err := e.Settle(t.Context(), load(t, atLeastThree))
		if err != nil || len(report.Failures) != 1 || e.Quarantined() != nil || len(r.since()) != 8 || len(c.events) > 0 {
			t.Errorf("report %+v, error %v, in quarantine %v, events %v", report, err, isolated(e), c.events)
		}
	})
}

// TestChildrenInQuarantine holds that what is to be cleaned up after an object that is
// gone is not forgotten when that is refused.
func TestChildrenInQuarantine(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	c.put(t, another)
	runWith(t, c, engine.Housekeeping{}, families(t, pruned), func(t *testing.T, e *engine.Engine) {
		tries := 0
		c.locked(func() {
			c.answer = func(operation plan.Operation) *write.Result {
				if operation.Type != plan.Delete {
					return nil
				}
				tries++
				return &write.Result{Class: write.Terminal, Err: errRefused}
			}
		})
		c.remove("a")
		pass(time.Hour)
		list := e.Quarantined()
		if len(list) != 1 || list[0].Key.UID != "uid-of-a" || tries < 10 || tries > 30 {
			t.Errorf("tried %d times in an hour; in quarantine %v", tries, isolated(e))
		}
		if len(c.events) > 0 {
			t.Errorf("events %v about an object that is gone", c.events)
		}
		c.locked(func() { c.answer = nil })
		pass(6 * time.Minute)
		if diff := cmp.Diff([]string{"b-child"}, c.list(items)); diff != "" || e.Quarantined() != nil {
			t.Errorf("in quarantine %v; children (-want +got):\n%s", isolated(e), diff)
		}
		if left := e.Remembered()["trials"]; left > 0 {
			t.Errorf("%d trials are remembered in the end", left)
		}
	})
}

// TestBesideRetriesNothing holds that rules which wait change nothing for what is in quarantine:
// it is tried again once they are in effect.
func TestBesideRetriesNothing(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	refused := refuse(c, "at-least-three", write.Terminal)
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		for time.Until(e.Quarantined()[0].Next) < time.Minute {
			pass(time.Minute)
		}
		refused.since()
		c.locked(func() { c.unsynced[otherWidgets] = true })
		reload(t, e, load(t, atLeastThree+strings.ReplaceAll(labelled, "watch: widgets", "watch: others")))
		for range 4 {
			c.touch()
			pass(time.Second)
		}
		expectRules(t, e, "They wait still.", "at-least-three")
		if tries := refused.since(); len(tries) > 0 {
			t.Errorf("tried after %v while others wait", tries)
		}
	})
}
