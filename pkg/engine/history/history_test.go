package history_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/history"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// TestKeeps holds what is kept of a rule from one decision to the next: of one that does not match nothing, unless
// it has written.
func TestKeeps(t *testing.T) {
	one, two := plan.Rule{Set: "s", Name: "one"}, plan.Rule{Set: "s", Name: "two"}
	at := func(minute int) time.Time { return time.Unix(0, 0).Add(time.Duration(minute) * time.Minute).UTC() }
	matched, other := plan.Decision{Rule: one, Outcome: plan.Matched}, plan.Decision{Rule: two, Outcome: plan.Matched}
	unmatched := plan.Decision{Rule: one, Outcome: plan.Unmatched}
	audited := plan.Decision{Rule: one, Outcome: plan.Matched, Audited: true}
	record := func(rule plan.Rule, outcome plan.Outcome, looked, since, written time.Time) trace.Record {
		return trace.Record{Rule: rule, Outcome: outcome, At: looked, Since: since, WrittenAt: written}
	}
	never := time.Time{}
	type step struct {
		decisions []plan.Decision
		partly    bool
		wrote     bool
	}
	cases := map[string]struct {
		reason string
		steps  []step
		kept   int
		want   []trace.Record
	}{
		"nothing":   {"No rule has looked.", nil, 0, nil},
		"again":     {"It decides so since the first time.", []step{{decisions: []plan.Decision{matched}}, {decisions: []plan.Decision{matched}}}, 1, []trace.Record{record(one, plan.Matched, at(2), at(1), never)}},
		"unmatched": {"There are too many of them.", []step{{decisions: []plan.Decision{unmatched}}, {decisions: []plan.Decision{unmatched}}}, 0, []trace.Record{record(one, plan.Unmatched, at(2), never, never)}},
		"over":      {"It does not match any more.", []step{{decisions: []plan.Decision{matched}}, {decisions: []plan.Decision{unmatched}}}, 0, []trace.Record{record(one, plan.Unmatched, at(2), never, never)}},
		"otherwise": {
			"It decides otherwise now, and has written before.",
			[]step{{decisions: []plan.Decision{matched}, wrote: true}, {decisions: []plan.Decision{unmatched}}, {decisions: []plan.Decision{unmatched}}},
			1,
			[]trace.Record{record(one, plan.Unmatched, at(3), at(2), at(1))},
		},
		"lets go": {
			"It has written though it does not match. Since when that is so is not known.",
			[]step{{decisions: []plan.Decision{unmatched}, wrote: true}, {decisions: []plan.Decision{unmatched}}},
			1,
			[]trace.Record{record(one, plan.Unmatched, at(2), never, at(1))},
		},
		"audited": {
			"To act and to report are not the same.",
			[]step{{decisions: []plan.Decision{matched}}, {decisions: []plan.Decision{audited}}, {decisions: []plan.Decision{matched}}},
			1,
			[]trace.Record{record(one, plan.Matched, at(3), at(3), never)},
		},
		"left": {
			"A rule that has no say any more is forgotten.",
			[]step{{decisions: []plan.Decision{matched, other}}, {decisions: []plan.Decision{other}}},
			1,
			[]trace.Record{record(two, plan.Matched, at(2), at(1), never)},
		},
		"late": {
			"Unless it could not be asked. When it decided last is not known.",
			[]step{{decisions: []plan.Decision{matched, other}}, {decisions: []plan.Decision{other}, partly: true}, {decisions: []plan.Decision{matched}, partly: true}},
			2,
			[]trace.Record{record(one, plan.Matched, at(3), at(1), never), record(two, plan.Matched, never, at(1), never)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var h history.History
			var got trace.Memory
			for i, s := range tc.steps {
				h.Decided(at(i+1), s.decisions, s.partly)
				if s.wrote {
					h.Wrote(at(i+1), []plan.Rule{one})
				}
				got = trace.Memory{}
				h.Tell(&got, plan.Plan{Decisions: s.decisions}, nil, s.partly)
			}
			if diff := cmp.Diff(tc.want, got.Records); diff != "" || h.Kept() != tc.kept {
				t.Errorf("%s %d are kept, want %d; it tells (-want +got):\n%s", tc.reason, h.Kept(), tc.kept, diff)
			}
		})
	}
}

// TestFailures holds whose failure is whose, and for how long.
func TestFailures(t *testing.T) {
	one, two := plan.Rule{Set: "s", Name: "one"}, plan.Rule{Set: "s", Name: "two"}
	down, denied := errors.New("down"), errors.New("denied")
	of := func(err error, rules ...plan.Rule) guard.Outcome {
		return guard.Outcome{Looked: true, State: guard.Retry, Failures: []guard.Failure{{Rules: rules, Err: err}}}
	}
	fine := guard.Outcome{Looked: true}
	paused := fmt.Errorf("not now: %w", &limit.PausedError{})
	wave := &limit.RolloutError{Wave: 2, Waves: 3, Objects: 4, Of: 40}
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
		"decided":   {"What the decision says already is no attempt.", []guard.Outcome{{Looked: true, Failures: []guard.Failure{{Rules: []plan.Rule{two}, Err: errors.New("wrong"), Cause: guard.Decided}}}}, []trace.Trouble{{}, {}}},
		"wave":      {"Its turn comes.", []guard.Outcome{of(wave, one)}, []trace.Trouble{{Wave: wave.Error()}, {}}},
		"unseen":    {"So it does before it is known for whom the wave is.", []guard.Outcome{of(limit.ErrUnseen, one)}, []trace.Trouble{{Wave: limit.ErrUnseen.Error()}, {}}},
		"paused":    {"It is told apart from failing.", []guard.Outcome{of(paused, one)}, []trace.Trouble{{Paused: paused.Error()}, {}}},
		"contested": {"And so is this.", []guard.Outcome{of(contested, one)}, []trace.Trouble{{Contest: contested.Error()}, {}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var h history.History
			decided := plan.Plan{Decisions: []plan.Decision{{Rule: one, Outcome: plan.Matched}, {Rule: two, Outcome: plan.Failed, Reason: "wrong"}}}
			h.Decided(time.Unix(1, 0), decided.Decisions, false)
			for _, outcome := range tc.outcomes {
				h.Finished(outcome)
			}
			var memory trace.Memory
			h.Tell(&memory, decided, nil, false)
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

// BenchmarkHistory is what an evaluation by ten rules costs more.
func BenchmarkHistory(b *testing.B) {
	var decided plan.Plan
	for i := range 10 {
		decided.Decisions = append(decided.Decisions, plan.Decision{Rule: plan.Rule{Set: "guardrails", Name: string(rune('a' + i))}, Outcome: plan.Matched})
	}
	var h history.History
	b.ReportAllocs()
	for b.Loop() {
		h.Decided(time.Unix(1, 0), decided.Decisions, false)
		h.Finished(guard.Outcome{Looked: true})
	}
}
