package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// TestRecordedKeepsItsPlace holds what is kept of a rule from one decision to the next.
func TestRecordedKeepsItsPlace(t *testing.T) {
	one, two := plan.Rule{Set: "s", Name: "one"}, plan.Rule{Set: "s", Name: "two"}
	at := func(minute int) time.Time { return time.Unix(0, 0).Add(time.Duration(minute) * time.Minute).UTC() }
	decide := func(decisions ...plan.Decision) plan.Plan { return plan.Plan{Decisions: decisions} }
	matched := plan.Decision{Rule: one, Outcome: plan.Matched}
	record := func(rule plan.Rule, outcome plan.Outcome, looked, since, written time.Time) trace.Record {
		return trace.Record{Rule: trace.RuleOf(rule), Outcome: outcome, At: looked, Since: since, WrittenAt: written}
	}
	cases := map[string]struct {
		reason string
		happen func(*recorded)
		want   []trace.Record
	}{
		"nothing": {"No rule has looked.", func(*recorded) {}, nil},
		"again": {"It decides so since the first time.", func(r *recorded) {
			r.decide(at(1), decide(matched), false)
			r.decide(at(2), decide(matched), false)
		}, []trace.Record{record(one, plan.Matched, at(2), at(1), time.Time{})}},
		"otherwise": {"It decides otherwise now, and has written before.", func(r *recorded) {
			r.decide(at(1), decide(matched), false)
			r.wrote(at(2), []plan.Rule{one, two}, write.Written)
			r.decide(at(3), decide(plan.Decision{Rule: one, Outcome: plan.Unmatched}), false)
		}, []trace.Record{record(one, plan.Unmatched, at(3), at(3), at(2))}},
		"audited": {"To act and to report are not the same.", func(r *recorded) {
			r.decide(at(1), decide(matched), false)
			r.decide(at(2), decide(plan.Decision{Rule: one, Outcome: plan.Matched, Audited: true}), false)
			r.decide(at(3), decide(matched), false)
		}, []trace.Record{record(one, plan.Matched, at(3), at(3), time.Time{})}},
		"not written": {"Only what changed something counts.", func(r *recorded) {
			r.decide(at(1), decide(matched), false)
			for _, class := range []write.Class{write.Unchanged, write.Simulated, write.Terminal, write.Audited} {
				r.wrote(at(2), []plan.Rule{one}, class)
			}
		}, []trace.Record{record(one, plan.Matched, at(1), at(1), time.Time{})}},
		"left": {"A rule that has no say any more is forgotten.", func(r *recorded) {
			r.decide(at(1), decide(matched, plan.Decision{Rule: two, Outcome: plan.Matched}), false)
			r.decide(at(2), decide(plan.Decision{Rule: two, Outcome: plan.Matched}), false)
		}, []trace.Record{record(two, plan.Matched, at(2), at(1), time.Time{})}},
		"late": {"Unless it could not be asked.", func(r *recorded) {
			r.decide(at(1), decide(matched, plan.Decision{Rule: two, Outcome: plan.Matched}), false)
			r.decide(at(2), decide(plan.Decision{Rule: two, Outcome: plan.Matched}), true)
			r.decide(at(3), decide(matched), true)
		}, []trace.Record{record(one, plan.Matched, at(3), at(1), time.Time{}), record(two, plan.Matched, at(2), at(1), time.Time{})}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r recorded
			tc.happen(&r)
			var got trace.Memory
			r.read(&got)
			if diff := cmp.Diff(tc.want, got.Records); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRecordedTroubles holds whose failure is whose, and for how long.
func TestRecordedTroubles(t *testing.T) {
	one, two := plan.Rule{Set: "s", Name: "one"}, plan.Rule{Set: "s", Name: "two"}
	down, denied := errors.New("down"), errors.New("denied")
	of := func(err error, rules ...plan.Rule) guard.Outcome {
		return guard.Outcome{Looked: true, State: guard.Retry, Failures: []guard.Failure{{Rules: rules, Err: err}}}
	}
	fine := guard.Outcome{Looked: true}
	paused := fmt.Errorf("not now: %w", &limit.PausedError{})
	contested := fmt.Errorf("not now: %w", &conflict.Error{})
	cases := map[string]struct {
		reason   string
		outcomes []guard.Outcome
		want     []trace.Trouble
	}{
		"none":      {"All is well.", []guard.Outcome{fine}, []trace.Trouble{{}, {}}},
		"one":       {"The other has none.", []guard.Outcome{of(down, one)}, []trace.Trouble{{Failure: "down"}, {}}},
		"several":   {"The last one counts.", []guard.Outcome{of(down, one), of(denied, one)}, []trace.Trouble{{Failure: "denied"}, {}}},
		"recovered": {"It ends with the first success.", []guard.Outcome{of(down, one), fine}, []trace.Trouble{{}, {}}},
		"by turns":  {"Each for itself.", []guard.Outcome{of(down, one), of(down, two)}, []trace.Trouble{{}, {Failure: "down"}}},
		"of all":    {"Nobody knows whose it is.", []guard.Outcome{of(down)}, []trace.Trouble{{Failure: "down"}, {Failure: "down"}}},
		"not asked": {"That nobody looked says nothing.", []guard.Outcome{of(down, one), {}}, []trace.Trouble{{Failure: "down"}, {}}},
		"decided":   {"What the decision says already is no attempt.", []guard.Outcome{of(errors.New("wrong"), two)}, []trace.Trouble{{}, {}}},
		"paused":    {"It is told apart from failing.", []guard.Outcome{of(paused, one)}, []trace.Trouble{{Paused: paused.Error()}, {}}},
		"contested": {"And so is this.", []guard.Outcome{of(contested, one)}, []trace.Trouble{{Contest: contested.Error()}, {}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r recorded
			r.decide(time.Unix(1, 0), plan.Plan{Decisions: []plan.Decision{
				{Rule: one, Outcome: plan.Matched}, {Rule: two, Outcome: plan.Failed, Reason: "wrong"},
			}}, false)
			for _, outcome := range tc.outcomes {
				r.conclude(outcome)
			}
			var memory trace.Memory
			r.read(&memory)
			var got []trace.Trouble
			for _, record := range memory.Records {
				got = append(got, record.Trouble)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// BenchmarkRecorded is what an evaluation by ten rules costs more.
func BenchmarkRecorded(b *testing.B) {
	var decided plan.Plan
	for i := range 10 {
		decided.Decisions = append(decided.Decisions, plan.Decision{Rule: plan.Rule{Set: "guardrails", Name: string(rune('a' + i))}, Outcome: plan.Matched})
	}
	var r recorded
	b.ReportAllocs()
	for b.Loop() {
		r.decide(time.Unix(1, 0), decided, false)
		r.conclude(guard.Outcome{Looked: true})
	}
}
