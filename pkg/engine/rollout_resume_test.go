package engine_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestRolloutExcuses holds that a rule that is asked to resume goes on without the objects that are not healthy.
func TestRolloutExcuses(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, sick: true}}`)
	c.putMany(t, 40)
	runWith(t, c, s.house(false), load(t, rolling), func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if n := c.grown(); n != 1 || len(e.Paused()) != 1 {
			t.Fatalf("it has written for %d objects, paused %v", n, e.Paused())
		}
		s.resume(e, "grows")
		pass(11 * time.Minute)
		if n := c.grown(); n != 4 || len(e.Paused()) != 0 {
			t.Errorf("it has written for %d objects, paused %v", n, e.Paused())
		}
	})
}

// TestRolloutGoesOnWithoutAWrite holds that an object which could not be written for is tried once more when the rule is asked to resume, also by
// another process, and has to be healthy then. If that fails, another object takes its place, so each wave has objects that have to be healthy.
func TestRolloutGoesOnWithoutAWrite(t *testing.T) {
	refused, unanswered := write.Result{Class: write.Terminal, Err: errRefused}, write.Result{Class: write.Ambiguous, Err: errRefused}
	for name, tc := range map[string]struct {
		reason string
		before write.Result  // of the writes for a, until users ask the rule to resume
		after  time.Duration // until they are accepted, from then on
		others int
		sick   string
		grown  []int // 11 minutes after the rule was asked, and so on
		paused int   // in the end
	}{
		"Refused":      {"It is still refused, so it is left out.", refused, 24 * time.Hour, 40, "", []int{4, 20, 40}, 0},
		"Later":        {"It comes last.", refused, time.Minute, 40, "", []int{4, 20, 41}, 0},
		"LaterAndSick": {"It comes last, when no wave waits for it.", refused, time.Minute, 40, "a", []int{4, 20, 41, 41}, 0},
		"NextIsSick":   {"The object that takes its place has to be healthy.", refused, time.Minute, 40, "b", []int{1, 1, 1}, 1},
		"Accepted":     {"It is the first one.", refused, 0, 40, "", []int{4, 20, 41}, 0},
		"Sick":         {"It is the first one, and has to be healthy.", refused, 0, 40, "a", []int{1, 1, 1}, 1},
		"Unanswered":   {"The API server did not answer, and the object is as it was.", unanswered, 0, 40, "a", []int{1, 1, 1}, 1},
		"Alone":        {"There is no other object.", refused, time.Minute, 0, "", []int{1}, 0},
		"AloneAndSick": {"There is no other object, so it has to be healthy.", refused, time.Minute, 0, "a", []int{1, 1, 1, 1}, 1},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, restarts), func(t *testing.T) {
				c, s := newCluster(), &shelf{}
				for _, object := range []string{"a", "b"}[:min(2, 1+tc.others)] {
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s}, spec: {size: 1, sick: %t}}`, object, object == tc.sick))
				}
				c.putMany(t, max(0, tc.others-1))
				var accepted atomic.Bool
				c.answer = func(o plan.Operation) *write.Result {
					if o.Target.Name == "a" && !accepted.Load() {
						return &tc.before
					}
					return nil
				}
				synctest.Test(t, func(t *testing.T) {
					e := c.engineWith(s.house(false))
					stop := start(t, e, load(t, rolling))
					pass(time.Hour)
					if n := c.grown(); n != 0 || len(e.Paused()) != 1 {
						t.Fatalf("it has written for %d objects, paused %v", n, e.Paused())
					}
					if restarts {
						stop()
						c.restart()
						e = c.engineWith(s.house(false))
						stop = start(t, e, load(t, rolling))
						pass(time.Minute)
					}
					defer func() { stop() }()
					accepted.Store(tc.after == 0)
					s.resume(e, "grows")
					pass(tc.after % (24 * time.Hour))
					accepted.Store(tc.after < 24*time.Hour)
					var grown []int
					for wait := 11*time.Minute - tc.after%(24*time.Hour); len(grown) < len(tc.grown); wait = 11 * time.Minute {
						pass(wait)
						grown = append(grown, c.grown())
					}
					if diff := cmp.Diff(tc.grown, grown); diff != "" || len(e.Paused()) != tc.paused {
						t.Errorf("%s It has written for so many objects (-want +got):\n%spaused %v", tc.reason, diff, e.Paused())
					}
				})
			})
		}
	}
}

// TestRolloutResumesElsewhere holds that a process which has not seen the rule pause leaves out what is not healthy when it is asked to resume.
func TestRolloutResumesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newCluster(), &shelf{}
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, sick: true}}`)
		c.putMany(t, 40)
		stop := start(t, c.engineWith(s.house(false)), load(t, rolling))
		pass(time.Hour)
		stop()
		c.restart()
		e := c.engineWith(s.house(false))
		stop = start(t, e, load(t, rolling))
		defer stop()
		pass(time.Minute)
		if n := c.grown(); n != 1 || len(e.Paused()) != 1 {
			t.Fatalf("it has written for %d objects, paused %v", n, e.Paused())
		}
		s.resume(e, "grows")
		pass(11 * time.Minute)
		if n := c.grown(); n != 4 || len(e.Paused()) != 0 {
			t.Errorf("it has written for %d objects, paused %v", n, e.Paused())
		}
	})
}
