package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// wished are the Events that rules asked for.
func (c *cluster) wished() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.events), isolation)
}

func isolation(event string) bool { return strings.HasPrefix(event, "Quarantined ") }

// refusing answers that rules of the name are refused, and notes when they were tried,
// since the cluster began.
type refusing struct {
	c     *cluster
	rule  string
	as    write.Class
	after time.Duration
	begun time.Time
	tries []time.Duration
}

func refuse(c *cluster, rule string, as write.Class) *refusing {
	r := &refusing{c: c, rule: rule, as: as}
	c.answer = func(operation plan.Operation) *write.Result {
		if !slices.ContainsFunc(operation.Rules, func(rule plan.Rule) bool { return rule.Name == r.rule }) {
			return nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.begun.IsZero() {
			r.begun = time.Now()
		}
		r.tries = append(r.tries, time.Since(r.begun))
		return &write.Result{Class: r.as, Err: errRefused, RetryAfter: r.after}
	}
	return r
}

// since are the tries since the last call, as far from the one before.
func (r *refusing) since() []time.Duration {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	out := r.tries
	r.tries, r.begun = nil, time.Time{}
	return out
}

// isolated lists what is in quarantine: object, rule, attempts and when it is tried next.
func isolated(e *engine.Engine) []string {
	var out []string
	for _, q := range e.Quarantined() {
		next := "never"
		if !q.Next.IsZero() {
			next = time.Until(q.Next).Round(100 * time.Millisecond).String()
		}
		out = append(out, fmt.Sprintf("%s [%s]: %v, %d, next %s", q.Key.Name, q.Rule.Name, q.Err, q.Attempts, next))
	}
	return out
}

// logged counts the lines of the log with a text.
func (c *cluster) logged(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Count(c.log.String(), text)
}

// TestQuarantine holds when what fails is put in quarantine, and how often it is tried
// then.
func TestQuarantine(t *testing.T) {
	const seconds = time.Second
	tests := map[string]struct {
		reason string
		as     write.Class
		tries  []int64  // in the first minute, in milliseconds
		want   []string // after it
	}{
		"Refused": {
			"It will be refused again, so it is not tried again soon.", write.Terminal,
			[]int64{0, 10_000, 30_000},
			[]string{"a [at-least-three]: refused, 3, next 10s"},
		},
		"OwnedByAnother": {
			"The same is true of fields that somebody else owns.", write.OwnedByAnother,
			[]int64{0, 10_000, 30_000},
			[]string{"a [at-least-three]: refused, 3, next 10s"},
		},
		"MayPass": {
			"It may get better soon, until it has been tried a few times.", write.Ambiguous,
			[]int64{0, 50, 150, 350, 750, 1550, 3150, 6350, 16_350, 36_350},
			[]string{"a [at-least-three]: refused, 10, next 16.4s"},
		},
		"Overloaded": {
			"It is not for the object that it fails.", write.Overloaded,
			[]int64{0, 50, 150, 350, 750, 1550, 3150, 6350, 12750, 25550, 51150},
			nil,
		},
		"Unreachable": {
			"It is not for the object that it fails.", write.Unreachable,
			[]int64{0, 50, 150, 350, 750, 1550, 3150, 6350, 12750, 25550, 51150},
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			r := refuse(c, "at-least-three", tc.as)
			run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
				pass(60 * seconds)
				var tries []int64
				for _, at := range r.since() {
					tries = append(tries, at.Milliseconds())
				}
				if diff := cmp.Diff(tc.tries, tries); diff != "" {
					t.Errorf("%s tries (-want +got):\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.want, isolated(e)); diff != "" {
					t.Errorf("%s quarantine (-want +got):\n%s", tc.reason, diff)
				}
				told := len(tc.want)
				if got := c.logged("is in quarantine"); got != told || len(c.events) != told || !slices.ContainsFunc(c.events, isolation) && told > 0 {
					t.Errorf("%s %d lines in the log, events %v", tc.reason, got, c.events)
				}
				if got := breaker.Counts(e.Quarantined())[plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "at-least-three"}]; got != told {
					t.Errorf("%s %v objects are counted", tc.reason, breaker.Counts(e.Quarantined()))
				}
				pass(time.Hour)
				slow := r.since()
				if last := slow[len(slow)-1] - slow[len(slow)-2]; last != 5*time.Minute {
					t.Errorf("%s it is tried every %s in the end, want 5 minutes", tc.reason, last)
				}
				c.locked(func() { c.answer = nil })
				pass(6 * time.Minute)
				if got := size(c, "a"); got != int64(3) || e.Quarantined() != nil || len(breaker.Counts(e.Quarantined())) > 0 {
					t.Errorf("size is %v, in quarantine %v", got, isolated(e))
				}
				if got := c.logged("out of quarantine"); got != told {
					t.Errorf("%s its end is told %d times", tc.reason, got)
				}
			})
		})
	}
}

// TestOneFailure holds that a rule which was refused once is not said to keep failing.
func TestOneFailure(t *testing.T) {
	tests := map[string]struct {
		reason string
		after  func(c *cluster)
	}{
		"Allowed": {"An API server that has just started did not know the right yet.", func(c *cluster) {
			c.locked(func() { c.answer = nil })
		}},
		"Gone": {"The object was just being deleted.", func(c *cluster) { c.remove("a") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			refuse(c, "at-least-three", write.Terminal)
			run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
				tc.after(c)
				if got := e.Quarantined(); len(got) > 0 || len(breaker.Counts(e.Quarantined())) > 0 {
					t.Errorf("%s in quarantine: %v", tc.reason, got)
				}
				pass(breaker.Respite + time.Second)
				if got := size(c, "a"); got != int64(3) && c.get("a") != nil {
					t.Errorf("%s it is not tried again: size %v", tc.reason, got)
				}
				if n := c.logged("quarantine"); n > 0 || slices.ContainsFunc(c.events, isolation) {
					t.Errorf("%s %d lines in the log, events %v", tc.reason, n, c.events)
				}
			})
		})
	}
}

// TestReleasedByChange holds that a change has a rule tried again: at once, but not again
// and again.
func TestReleasedByChange(t *testing.T) {
	const reads = `
  - name: reads
    watch: widgets
    with: {found: {resource: items, name: "b"}}
    actions: [{patch: {merge: {spec: {found: "${found?.spec.size ?? 0}"}}}}]
`
	fixed := strings.ReplaceAll(reads, "?? 0", "?? 1")
	same := families(t, reads)
	tests := map[string]struct {
		reason string
		change func(t *testing.T, c *cluster, e *engine.Engine)
	}{
		"Again": {"Somebody who has regained a right has the same rules take effect again.", func(_ *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(same)
		}},
		"Object": {"It may have been for the object.", func(t *testing.T, c *cluster, _ *engine.Engine) {
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`)
		}},
		"Related": {"It may have been for what the rule reads.", func(t *testing.T, c *cluster, _ *engine.Engine) {
			c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: b}, spec: {size: 2}}`)
		}},
		"Rule": {"It may have been for the rule.", func(t *testing.T, _ *cluster, e *engine.Engine) {
			e.SetRules(families(t, fixed))
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			r := refuse(c, "reads", write.Terminal)
			runWith(t, c, engine.Housekeeping{}, same, func(t *testing.T, e *engine.Engine) {
				pass(2 * time.Hour)
				pass(time.Minute) // Since the last retry, some time.
				r.since()
				tried := e.Quarantined()[0].Attempts
				c.touch()
				synctest.Wait()
				if tries := r.since(); len(tries) > 0 {
					t.Errorf("tried although nothing has changed: %v", tries)
				}
				tc.change(t, c, e)
				synctest.Wait()
				if tries := r.since(); len(tries) != 1 {
					t.Errorf("%s tried %d times at once, want once", tc.reason, len(tries))
				}
				if diff := cmp.Diff([]string{fmt.Sprintf("a [reads]: refused, %d, next 10s", tried+1)}, isolated(e)); diff != "" {
					t.Errorf("%s the back-off is not forgotten (-want +got):\n%s", tc.reason, diff)
				}
				if len(c.events) != 1 {
					t.Errorf("told again: %v", c.events)
				}
			})
		})
	}
}

// TestHighRateOfChanges holds that a rule which keeps failing for an object that changes
// all the time is not tried all the time, and that no change is dropped.
func TestHighRateOfChanges(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	r := refuse(c, "at-least-three", write.Terminal)
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		r.since()
		for range 600 {
			c.put(t, small)
			pass(100 * time.Millisecond)
		}
		if tries := r.since(); len(tries) < 6 || len(tries) > 7 { // Every ten seconds.
			t.Errorf("tried %d times in a minute of changes: %v", len(tries), tries)
		}
		pass(50 * time.Millisecond) // The try that is due at the same moment is over.
		c.put(t, small)
		c.locked(func() { c.answer = nil })
		pass(11 * time.Second)
		if got := size(c, "a"); got != int64(3) || e.Quarantined() != nil {
			t.Errorf("size is %v, in quarantine %v: the last change was dropped", got, isolated(e))
		}
		if diff := cmp.Diff([]string{"Grown was 1"}, c.wished()); diff != "" || len(c.events) != 2 {
			t.Errorf("events %v, want one of the quarantine, and what the rule asks for (-want +got):\n%s", c.events, diff)
		}
	})
}

// TestInnocentRule holds that a rule whose request is joined with that of one in
// quarantine acts as if there were no such rule.
func TestInnocentRule(t *testing.T) {
	const mirrors = `
  - name: mirrors
    watch: widgets
    actions: [{patch: {merge: {spec: {seen: "${object.spec.size}"}}}}]
`
	const applies = `
  - name: mirrors
    watch: widgets
    actions: [{patch: {apply: {spec: {seen: "${object.spec.size}"}}, force: true}}]
`
	for name, innocent := range map[string]string{"Joined": mirrors, "Apply": applies} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			r := refuse(c, "labelled", write.Terminal)
			run(t, c, labelled+innocent, func(t *testing.T, e *engine.Engine) {
				if got := spec(c, "a")["seen"]; got != int64(1) {
					t.Errorf("it acted on %v at once, want 1", got)
				}
				pass(2*time.Hour + time.Minute)
				r.since()
				tried := e.Quarantined()[0].Attempts
				for i := range 5 {
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a}, spec: {size: %d}}`, i+10))
					synctest.Wait()
					if got := spec(c, "a")["seen"]; got != int64(i+10) {
						t.Errorf("it acted on %v at once, want %d", got, i+10)
					}
				}
				if tries := r.since(); len(tries) != 1 {
					t.Errorf("the other was tried %d times by five changes at once, want once", len(tries))
				}
				want := []string{fmt.Sprintf("a [labelled]: refused, %d, next 10s", tried+1)}
				if diff := cmp.Diff(want, isolated(e)); diff != "" {
					t.Errorf("quarantine (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestOwnWriteIsNoChange holds that what the engine writes for another rule does not have
// one in quarantine tried again.
func TestOwnWriteIsNoChange(t *testing.T) {
	const late = `
  - name: late
    watch: widgets
    when: olderThan(object.metadata.creationTimestamp, "1h")
    actions: [{patch: {merge: {spec: {old: true}}}}]
`
	c := newCluster()
	r := refuse(c, "at-least-three", write.Terminal)
	synctest.Test(t, func(t *testing.T) {
		created := time.Now().UTC().Format(time.RFC3339)
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a, creationTimestamp: %q}, spec: {size: 1}}`, created))
		e := c.engine()
		stop := start(t, e, load(t, atLeastThree+late))
		defer stop()
		pass(time.Hour - time.Second)
		r.since()
		next := e.Quarantined()[0].Next
		pass(5 * time.Second)
		if spec(c, "a")["old"] != any(true) {
			t.Fatal("the other rule has not acted")
		}
		if tries := r.since(); len(tries) > 0 || e.Quarantined()[0].Next != next {
			t.Errorf("tried %v, next in %s, want %s", tries, time.Until(e.Quarantined()[0].Next), time.Until(next))
		}
	})
}
