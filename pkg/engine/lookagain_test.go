package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const due = `
  - name: due
    watch: widgets
    when: after(object.spec.at)
    actions: [{patch: {merge: {spec: {due: true}}}}]
`

// in is an instant of the bubble's time, which is needed before it begins.
func in(d time.Duration) string {
	return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(d).Format(time.RFC3339Nano)
}

func dueIn(d time.Duration) string {
	return fmt.Sprintf(`{metadata: {namespace: ns, name: a}, spec: {size: 1, at: %q}}`, in(d))
}

func TestLooksAgainAtTheInstant(t *testing.T) {
	for name, wait := range map[string]time.Duration{
		"Soon":       1500 * time.Millisecond,
		"AMinute":    time.Minute,
		"FarAhead":   3*time.Hour + 30*time.Second,
		"BarelyThen": time.Nanosecond,
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, dueIn(wait))
			run(t, c, due, func(t *testing.T, _ *engine.Engine) {
				if wait > time.Nanosecond {
					pass(wait - time.Nanosecond)
					synctest.Wait()
					if c.count() != 0 {
						t.Error("the rule acted before its time")
					}
				}
				pass(time.Nanosecond)
				synctest.Wait()
				if c.count() != 1 {
					t.Error("the rule did not act when its time had come")
				}
				if n := c.seen.of(&c.seen.evaluated); n > 3 {
					t.Errorf("the rule was evaluated %d times, want once before, once then, and once for the write", n)
				}
			})
		})
	}
}

// TestLooksAgainNoLongerThanNeeded holds that nothing wakes the engine for an
// object whose time has come, for one that is gone, and for rules that do not ask
// for the time any more.
func TestLooksAgainNoLongerThanNeeded(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *cluster, *engine.Engine){
		"Over": func(*testing.T, *cluster, *engine.Engine) { pass(2 * time.Hour) },
		"Gone": func(_ *testing.T, c *cluster, _ *engine.Engine) { c.remove("a") },
		"Reloaded": func(t *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(load(t, labelled))
		},
		"NoRules": func(_ *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(&rules.Set{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, dueIn(time.Hour))
			run(t, c, due, func(t *testing.T, e *engine.Engine) {
				end(t, c, e)
				pass(2 * time.Minute) // What is armed already goes off once.
				synctest.Wait()
				evaluated, views := c.seen.of(&c.seen.evaluated), c.seen.of(&c.seen.views)
				pass(24 * time.Hour)
				synctest.Wait()
				if c.seen.evaluated != evaluated || c.seen.views != views {
					t.Errorf("in a day without changes: %d evaluations, %d looks at the caches", c.seen.evaluated-evaluated, c.seen.views-views)
				}
			})
		})
	}
}

// TestBackOffDoesNotDelayOthers holds that a rule is on time although a write of
// another rule fails, and that time alone does not repeat what failed.
func TestBackOffDoesNotDelayOthers(t *testing.T) {
	c := newCluster()
	c.put(t, dueIn(time.Hour+time.Second))
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Rules[0].Name == "labelled" {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
	run(t, c, labelled+due, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if n := c.count(); n > 25 {
			t.Errorf("what was refused was sent %d times in an hour", n)
		}
		pass(time.Second)
		synctest.Wait()
		if spec(c, "a")["due"] == nil {
			t.Error("the rule did not act when its time had come")
		}
	})
}

// TestSplitIsTriedAtOnce holds that a rule does not wait for a back-off because it
// shared its first request with a rule that is refused.
func TestSplitIsTriedAtOnce(t *testing.T) {
	c := newCluster()
	c.put(t, dueIn(20*time.Minute))
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Rules[0].Name == "labelled" {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
	run(t, c, labelled+due, func(t *testing.T, _ *engine.Engine) {
		pass(20 * time.Minute)
		synctest.Wait()
		if spec(c, "a")["due"] == nil {
			t.Error("the rule waits for the back-off of another one")
		}
	})
}

// TestSettleWaitsForNoTimer holds that --once ends although rules would act
// later, and says so of those that wait.
func TestSettleWaitsForNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, dueIn(time.Millisecond))
		start := time.Now()
		report, err := c.engine().Settle(t.Context(), load(t, due+lasting))
		if err != nil || report.Written != 0 || len(report.Failures) != 0 || report.Waiting != 1 {
			t.Errorf("err %v, report %+v; want nothing written and one object that is not waited for", err, report)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("settling took %s, want no wait", took)
		}
	})
}

// TestSettleIgnoresTimers holds that what --once does depends on its start and not
// on how long it takes.
func TestSettleIgnoresTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, dueIn(100*time.Millisecond))
		c.put(t, `{metadata: {namespace: ns, name: slow}, spec: {at: "1999-01-01T00:00:00Z"}}`)
		c.answer = failures(4)
		report, err := c.engine().Settle(t.Context(), load(t, due))
		if err != nil || report.Written != 1 || spec(c, "a")["due"] != nil {
			t.Errorf("err %v, report %+v, spec %v; want only what was due at the start", err, report, spec(c, "a"))
		}
	})
}
