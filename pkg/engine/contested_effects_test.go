package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestContestLeavesOthersAlone holds that what is slowed down is the rule, in the object:
// not other rules there, nor the rule elsewhere.
func TestContestLeavesOthersAlone(t *testing.T) {
	c, r := newCluster(), &rival{}
	c.put(t, small)
	r.script(t, c)
	run(t, c, atLeastThree+labelled, func(t *testing.T, _ *engine.Engine) {
		pass(time.Second)
		r.stop()
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1}}`)
		c.put(t, `{metadata: {namespace: ns, name: b}, spec: {size: 1}}`)
		synctest.Wait()
		labels, _ := c.get("a")["metadata"].(map[string]any)["labels"].(map[string]any)
		if labels["seen"] != "yes" || size(c, "a") != int64(1) {
			t.Errorf("want the label at once, and the size later: %v", c.get("a"))
		}
		if size(c, "b") != int64(3) {
			t.Errorf("want no other object to wait: %v", c.get("b"))
		}
		pass(conflict.Interval)
		if size(c, "a") != int64(3) {
			t.Errorf("want the size in the end: %v", c.get("a"))
		}
	})
}

// TestContestIsTrouble holds that a rule which is slowed down is in trouble for as long as
// it wants to write, as a typed error says. When it may write again is no moment of the wall
// clock, which somebody may set.
func TestContestIsTrouble(t *testing.T) {
	c, r := newCluster(), &rival{}
	c.put(t, small)
	r.script(t, c)
	var mu sync.Mutex
	var last []guard.Failure
	c.tune = func(options *engine.Options) {
		options.Observer = hooks{Observer: options.Observer, concluded: func(failures []guard.Failure) {
			mu.Lock()
			defer mu.Unlock()
			last = failures
		}}
	}
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		troubled := func() (out []string) {
			mu.Lock()
			defer mu.Unlock()
			for _, failure := range last {
				if err, is := errors.AsType[*conflict.Error](failure.Err); is {
					out = append(out, err.Conflict.Rule.Name)
				}
			}
			return out
		}
		if diff := cmp.Diff([]string{"at-least-three"}, troubled()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if due := e.Due(); len(due) > 0 {
			t.Errorf("it waits for the moments %v", due)
		}
		r.stop()
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 4}}`)
		synctest.Wait()
		if got := troubled(); got != nil {
			t.Errorf("in trouble although nothing is wanted: %v", got)
		}
	})
}

// TestContestIsForgotten holds that rules which have changed begin anew, and others do not.
func TestContestIsForgotten(t *testing.T) {
	tests := map[string]struct {
		reason string
		after  string
		want   int
	}{
		"Same":    {reason: "The same rule is slowed down as before.", after: atLeastThree + labelled, want: 1},
		"Changed": {reason: "A rule that has changed may do better.", after: strings.ReplaceAll(atLeastThree, "size: 3", "size: 4")},
		"Gone":    {reason: "One that is gone writes nothing.", after: labelled},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, r := newCluster(), &rival{}
			c.put(t, small)
			r.script(t, c)
			run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
				r.stop()
				if n := len(e.Contests()); n != 1 {
					t.Fatalf("%d contests before", n)
				}
				e.SetRules(load(t, tc.after))
				synctest.Wait()
				if n := len(e.Contests()); n != tc.want {
					t.Errorf("%s %d contests", tc.reason, n)
				}
			})
		})
	}
}

// TestContestOfAnObjectThatIsGone holds that nothing is kept of it.
func TestContestOfAnObjectThatIsGone(t *testing.T) {
	c, r := newCluster(), &rival{}
	c.put(t, small)
	r.script(t, c)
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		c.remove("a")
		synctest.Wait()
		if got := e.Contests(); len(got) > 0 {
			t.Errorf("%v", got)
		}
	})
}

// TestNoContest holds that rules which do what they are for are not slowed down.
func TestNoContest(t *testing.T) {
	const size = `{metadata: {namespace: ns, name: a}, spec: {size: %d}, status: {phase: %q}}`
	tests := map[string]struct {
		reason string
		rules  string
		edit   func(i int) string
	}{
		"Normaliser": {
			reason: "Each new value is corrected.",
			rules: `
  - name: even
    watch: widgets
    when: object.spec.size % 2 != 0
    actions: [{patch: {merge: {spec: {size: "${object.spec.size + 1}"}}}}]
`,
			edit: func(i int) string { return fmt.Sprintf(size, 2*i+1, "") },
		},
		"InTurn": {
			reason: "Two rules follow what a controller says.",
			rules: `
  - name: ready
    watch: widgets
    when: object.status.phase == "Ready"
    actions: [{patch: {merge: {metadata: {labels: {ready: "yes"}}}}}]
  - name: unready
    watch: widgets
    when: object.status.phase != "Ready"
    actions: [{patch: {merge: {metadata: {labels: {ready: "no"}}}}}]
`,
			edit: func(i int) string {
				phase, before := []string{"Ready", "Failed"}[i%2], []string{"no", "yes"}[i%2]
				return fmt.Sprintf(`{metadata: {namespace: ns, name: a, labels: {ready: %q}}, spec: {size: 1}, status: {phase: %s}}`, before, phase)
			},
		},
		"Ramp": {
			reason: "A rule takes a few steps each time.",
			rules: `
  - name: ramp
    watch: widgets
    when: object.spec.size % 5 != 0
    actions: [{patch: {merge: {spec: {size: "${object.spec.size + 1}"}}}}]
`,
			edit: func(i int) string { return fmt.Sprintf(size, 5*i+1, "") },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			run(t, c, tc.rules, func(t *testing.T, e *engine.Engine) {
				for i := range 30 {
					before := c.count()
					c.put(t, tc.edit(i))
					synctest.Wait()
					if c.count() == before {
						t.Fatalf("%s nothing was written in round %d", tc.reason, i)
					}
					pass(time.Second)
				}
				if got := e.Contests(); len(got) > 0 {
					t.Errorf("%s %v", tc.reason, got)
				}
			})
		})
	}
}

// TestClockIsNoContest holds that rules which write whenever a moment comes are not slowed
// down, and that waiting does not excuse two rules that undo each other.
func TestClockIsNoContest(t *testing.T) {
	tests := map[string]struct {
		reason string
		rules  string
		writes int // in an hour, at least
		named  bool
	}{
		"Heartbeat": {
			"The moment is known only after the write.", `
  - name: beats
    watch: widgets
    when: olderThan(object.spec.beat ?? "1999-01-01T00:00:00Z", "20s")
    actions: [{patch: {merge: {spec: {beat: "${stamp()}", count: "${(object.spec.count ?? 0) + 1}"}}}}]
`, 170, false,
		},
		"Heartbeat beside a rule that fails": {
			"Another rule always wants to write.", `
  - name: beats
    watch: widgets
    when: olderThan(object.spec.beat ?? "1999-01-01T00:00:00Z", "20s")
    actions: [{patch: {merge: {spec: {beat: "${stamp()}", count: "${(object.spec.count ?? 0) + 1}"}}}}]
  - name: refused
    watch: widgets
    actions: [{patch: {merge: {spec: {size: 5}}}}]
`, 170, false,
		},
		"Blinks": {
			"Two rules take turns by the clock.", `
  - name: lights
    watch: widgets
    when: object.spec.lit != true && olderThan(object.spec.since ?? "1999-01-01T00:00:00Z", "20s")
    actions: [{patch: {merge: {spec: {lit: true, since: "${stamp()}"}}}}]
  - name: darkens
    watch: widgets
    when: object.spec.lit == true && olderThan(object.spec.since ?? "1999-01-01T00:00:00Z", "20s")
    actions: [{patch: {merge: {spec: {lit: false, since: "${stamp()}"}}}}]
`, 170, false,
		},
		"Window": {
			"The answer changes at the full minute, and half a minute later.", `
  - name: minutely
    watch: widgets
    actions: [{patch: {merge: {spec: {now: "${inWindow('* * * * *', '30s', 'UTC')}", of: "${window('* * * * *', '30s', 'UTC')?.start}"}}}}]
`, 110, false,
		},
		"Follows": {
			"The second rule follows what the first one writes by the clock.", `
  - name: rings
    watch: widgets
    actions: [{patch: {merge: {spec: {day: "${inWindow('* * * * *', '30s', 'UTC')}"}}}}]
  - name: follows
    watch: widgets
    when: object.spec.day != nil
    actions: [{patch: {merge: {spec: {size: "${object.spec.day ? 5 : 6}"}}}}]
`, 220, false,
		},
		"Waits": {
			"The first rule waits each time before it is undone again.", `
  - name: up
    watch: widgets
    when: object.spec.size != 5
    for: 10s
    actions: [{patch: {merge: {spec: {size: 5}}}}]
  - name: down
    watch: widgets
    when: object.spec.size == 5
    actions: [{patch: {merge: {spec: {size: 6}}}}]
`, 20, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.answer = func(o plan.Operation) *write.Result {
				if !slices.ContainsFunc(o.Rules, func(rule plan.Rule) bool { return rule.Name == "refused" }) {
					return nil
				}
				return &write.Result{Class: write.Terminal, Err: errors.New("refused")}
			}
			run(t, c, tc.rules, func(t *testing.T, e *engine.Engine) {
				pass(time.Hour)
				if got := c.count(); got < tc.writes {
					t.Errorf("%s %d writes in an hour, want %d", tc.reason, got, tc.writes)
				}
				if got := e.Contests(); len(got) > 0 != tc.named {
					t.Errorf("%s named are %v", tc.reason, got)
				}
			})
		})
	}
}

// TestContestTellsNoValues holds that what is told of a contest has names and paths only.
func TestContestTellsNoValues(t *testing.T) {
	c, r := newCluster(), &rival{}
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, text: canary}}`)
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		if r.acts() {
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, text: canary}}`)
		}
		return result
	}
	run(t, c, `
  - name: words
    watch: widgets
    when: object.spec.text == "canary"
    actions: [{patch: {merge: {spec: {text: "parrot"}}}}]
`, func(t *testing.T, e *engine.Engine) {
		data, err := json.Marshal(e.Contests())
		if err != nil || len(e.Contests()) != 1 {
			t.Fatalf("err %v, contests %v", err, e.Contests())
		}
		told := strings.Join(slices.Concat(contests(c), []string{string(data), c.log.String()}), "\n")
		for _, value := range []string{"canary", "parrot"} {
			if strings.Contains(told, value) {
				t.Errorf("%q is in:\n%s", value, told)
			}
		}
	})
}

// TestPanicEndsItsWrite holds that a write which nobody could judge is not waited for: the
// contest about its target is named as soon as without it.
func TestPanicEndsItsWrite(t *testing.T) {
	c, r := newCluster(), &rival{}
	c.put(t, small)
	r.script(t, c)
	var lost sync.Once
	c.answer = func(plan.Operation) (out *write.Result) {
		lost.Do(func() { out = &write.Result{Class: write.Ambiguous, Err: errors.New("who knows")} })
		return out
	}
	var broken sync.Once
	c.liveOK = func() error {
		broken.Do(func() { panic("cannot be read") })
		return nil
	}
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		pass(time.Second) // What has panicked is tried again.
		synctest.Wait()
		if !strings.Contains(c.log.String(), "reconciling panicked") {
			t.Fatalf("nothing has panicked:\n%s", c.log.String())
		}
		if n := len(e.Contests()); n != 1 {
			t.Errorf("%d contests", n)
		}
		if n := c.count(); n > conflict.Repeats+2 {
			t.Errorf("named after %d writes, one of which is lost", n)
		}
	})
}
