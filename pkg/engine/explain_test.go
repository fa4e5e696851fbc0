package engine_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// recorded is what is remembered of the object a, by the names of the rules.
func recorded(t *testing.T, e *engine.Engine, c *cluster) map[string]trace.Record {
	t.Helper()
	memory := e.Recorded(keyOf(c.get("a")))
	out := map[string]trace.Record{}
	for _, record := range memory.Records {
		out[record.Rule.Name] = record
	}
	if len(out) != len(memory.Records) {
		t.Errorf("a rule has several records: %+v", memory.Records)
	}
	return out
}

func ago(record trace.Record, what func(trace.Record) time.Time) time.Duration {
	return time.Since(what(record)).Round(time.Second)
}

func since(r trace.Record) time.Time     { return r.Since }
func looked(r trace.Record) time.Time    { return r.At }
func writtenAt(r trace.Record) time.Time { return r.WrittenAt }

// TestRecordsDecisions holds that it can be told of every rule what it decided last, since
// when it decides so, and when it wrote.
func TestRecordsDecisions(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, atLeastThree+labelled, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		got := recorded(t, e, c)
		three := got["at-least-three"]
		if three.Outcome != plan.Unmatched || ago(three, since) != time.Hour || ago(three, writtenAt) != time.Hour {
			t.Errorf("after its write, the rule has nothing to do: %+v", three)
		}
		if got["labelled"].Outcome != plan.Matched || got["labelled"].Audited || got["labelled"].Trouble != (trace.Trouble{}) {
			t.Errorf("a rule without when always matches: %+v", got["labelled"])
		}
		c.put(t, `{metadata: {namespace: ns, name: a, labels: {seen: "yes"}}, spec: {size: 4, unrelated: true}}`)
		pass(time.Minute)
		three = recorded(t, e, c)["at-least-three"]
		if ago(three, looked) != time.Minute || ago(three, since) != time.Hour+time.Minute {
			t.Errorf("it decides as before, and has looked again: %+v", three)
		}
		e.SetRules(load(t, labelled))
		synctest.Wait()
		if _, kept := recorded(t, e, c)["at-least-three"]; kept {
			t.Error("a rule that is gone is remembered")
		}
		c.remove("a")
		synctest.Wait()
		if left := e.Recorded(engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}).Records; len(left) > 0 {
			t.Errorf("of an object that is gone nothing is remembered, have %+v", left)
		}
	})
}

// TestRecordsFailures holds that what keeps failing is counted until it does not fail any
// more, each rule for itself, and that a text is bounded.
func TestRecordsFailures(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	refused := errors.New("no: " + strings.Repeat("€", 1000))
	c.answer = func(o plan.Operation) *write.Result {
		if o.Rules[0].Name == "labelled" && len(o.Rules) == 1 {
			return nil
		}
		return &write.Result{Class: write.Terminal, Err: refused}
	}
	run(t, c, atLeastThree+labelled, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		got := recorded(t, e, c)
		first := got["at-least-three"].Trouble
		if first.Attempts < 3 || !strings.HasPrefix(first.Failure, "no: €") || len(first.Failure) > 512 || !strings.HasSuffix(first.Failure, "€...") {
			t.Errorf("the failure is %+v", first)
		}
		if got["at-least-three"].Outcome != plan.Matched || !got["at-least-three"].WrittenAt.IsZero() {
			t.Errorf("it matches, and has written nothing: %+v", got["at-least-three"])
		}
		if trouble := got["labelled"].Trouble; trouble != (trace.Trouble{}) {
			t.Errorf("the other rule succeeds, have %+v", trouble)
		}
		pass(time.Hour)
		later := recorded(t, e, c)["at-least-three"].Trouble
		if later.Attempts <= first.Attempts || !later.Quarantined || !later.Next.After(time.Now()) {
			t.Errorf("%+v, and an hour later %+v", first, later)
		}
		c.mu.Lock()
		c.answer = nil
		c.mu.Unlock()
		pass(time.Hour)
		if trouble := recorded(t, e, c)["at-least-three"].Trouble; trouble != (trace.Trouble{}) {
			t.Errorf("it has recovered, have %+v", trouble)
		}
	})
}

// TestRecordsWhy holds the other outcomes.
func TestRecordsWhy(t *testing.T) {
	const failing = `
  - name: failing
    watch: widgets
    when: fromJSON(object.spec.text).a == 1
    actions:
    - patch: {merge: {spec: {size: 3}}}
`
	cases := map[string]struct {
		reason string
		rules  string
		want   trace.Record
	}{
		"fails": {
			"The reason says why, and is not said twice.", failing,
			trace.Record{Outcome: plan.Failed, Reason: "invalid JSON", Trouble: trace.Trouble{Attempts: 1, Quarantined: true}},
		},
		"waits": {
			"It is known since when it holds, and when it acts.", strings.Replace(atLeastThree, "    actions", "    for: 3h\n    actions", 1),
			trace.Record{Outcome: plan.Waiting, HeldSince: time.Unix(1, 0), LookAgainAt: time.Unix(1, 0)},
		},
		"audited": {
			"It is known that it only reports.", strings.Replace(atLeastThree, "    actions", "    mode: Audit\n    actions", 1),
			trace.Record{Outcome: plan.Matched, Audited: true},
		},
		"suspended": {
			"It says so.", strings.Replace(atLeastThree, "    actions", "    suspend: true\n    actions", 1),
			trace.Record{Outcome: plan.Skipped, Reason: "suspended"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, text: "{"}}`)
			run(t, c, tc.rules, func(t *testing.T, e *engine.Engine) {
				pass(time.Hour)
				var got trace.Record
				for _, record := range recorded(t, e, c) {
					got = record
				}
				if !strings.Contains(got.Reason, tc.want.Reason) {
					t.Errorf("%s\nthe reason is %q", tc.reason, got.Reason)
				}
				if got.HeldSince.IsZero() != tc.want.HeldSince.IsZero() || got.LookAgainAt.IsZero() != tc.want.LookAgainAt.IsZero() {
					t.Errorf("%s\nheld since %s, looks again at %s", tc.reason, got.HeldSince, got.LookAgainAt)
				}
				if !got.HeldSince.IsZero() && got.LookAgainAt.Sub(got.HeldSince) != 3*time.Hour {
					t.Errorf("%s\nheld since %s, looks again at %s", tc.reason, got.HeldSince, got.LookAgainAt)
				}
				ignored := cmpopts.IgnoreFields(trace.Record{}, "Rule", "Reason", "At", "Since", "HeldSince", "LookAgainAt")
				if diff := cmp.Diff(tc.want, got, ignored); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestRecordsWaiting holds that an object which waits for its own write says so.
func TestRecordsWaiting(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.lagging = true
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		if waits := e.Recorded(keyOf(c.get("a"))).Waits; waits == "" {
			t.Error("nothing is said of the write that is to be seen")
		}
		c.see(keyOf(c.get("a")))
		pass(time.Minute)
		if waits := e.Recorded(keyOf(c.get("a"))).Waits; waits != "" {
			t.Errorf("the write was seen, and it waits for %s", waits)
		}
	})
}

// TestRecordsNoSecrets holds that what was masked for others is masked here.
func TestRecordsNoSecrets(t *testing.T) {
	const chooses = `
  - name: chooses
    watch: widgets
    with: {login: {resource: secrets, name: login}}
    when: fromJSON(fromBase64(login?.data?.password ?? '')).a == 1
    actions: [{event: {reason: Never, message: never}}]
`
	for name, tc := range map[string]struct{ reason, rules string }{
		"refused": {"The answer quotes it.", copies},
		"fails":   {"The failure may.", chooses},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, login)
			c.put(t, small)
			c.answer = func(plan.Operation) *write.Result {
				return &write.Result{Class: write.Terminal, Err: errors.New("it must not be " + canary)}
			}
			set := withSecrets(t, tc.rules)
			synctest.Test(t, func(t *testing.T) {
				e := c.engine()
				if _, err := e.Settle(t.Context(), set); err != nil {
					t.Fatal(err)
				}
				records := e.Recorded(keyOf(c.get("a"))).Records
				if len(records) != 1 || records[0].Reason+records[0].Trouble.Failure == "" {
					t.Fatalf("%s\nhave %+v", tc.reason, records)
				}
				if leaks(records[0].Reason + records[0].Trouble.Failure) {
					t.Errorf("%s\nhave %+v", tc.reason, records)
				}
			})
		})
	}
}

// TestRecordedWhileItWorks is for the race detector.
func TestRecordedWhileItWorks(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, atLeastThree+labelled, func(t *testing.T, e *engine.Engine) {
		key := keyOf(c.get("a"))
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for range 100 {
					e.Recorded(key)
				}
			})
		}
		for range 100 {
			c.put(t, small)
		}
		readers.Wait()
		pass(time.Minute)
	})
}

// TestRecordsWhatCannotBeLookedAt holds that it is said of an object that no rule was asked
// about, why, and when that is tried again; and of others nothing.
func TestRecordsWhatCannotBeLookedAt(t *testing.T) {
	for name, tc := range map[string]struct {
		want string
		fail func() error
	}{
		"Error": {errRefused.Error(), func() error { return errRefused }},
		"Panic": {"panic: poisoned", func() error { panic("poisoned") }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			runWith(t, c, engine.Housekeeping{}, families(t, making("items", "prune: true")), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				c.locked(func() { c.liveOK = tc.fail })
				c.remove("a")
				pass(time.Minute)
				key := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
				got := e.Recorded(key).Trouble
				if !strings.Contains(got.Failure, tc.want) || got.Attempts < 8 || !got.Quarantined || !got.Next.After(time.Now()) {
					t.Errorf("it says %+v", got)
				}
				key.Name = "b"
				if got := e.Recorded(key).Trouble; got != (trace.Trouble{}) {
					t.Errorf("of another object it says %+v", got)
				}
				c.locked(func() { c.liveOK = nil })
				pass(6 * time.Minute)
				key.Name = "a"
				if got := e.Recorded(key).Trouble; got != (trace.Trouble{}) {
					t.Errorf("when it is over it says %+v", got)
				}
			})
		})
	}
}
