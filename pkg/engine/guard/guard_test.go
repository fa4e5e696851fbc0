package guard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var errHeld = errors.New("held")

// recording is a guard that notes what it is told.
type recording struct {
	name  string
	begin time.Time
	admit *guard.Delay
	calls *[]string
}

func (r recording) Begin(*guard.Attempt) (guard.Check, time.Time) {
	*r.calls = append(*r.calls, r.name+" begins")
	return r, r.begin
}

func (r recording) Admit(context.Context, plan.Operation) *guard.Delay {
	*r.calls = append(*r.calls, r.name+" is asked")
	return r.admit
}

func (r recording) Observe(_ guard.Operation, answer guard.Answer) {
	sent := " observes what was not sent"
	if answer.Effective {
		sent = " observes"
	}
	*r.calls = append(*r.calls, r.name+sent)
}

func (r recording) Finish(*guard.Outcome) { *r.calls = append(*r.calls, r.name+" finishes") }

// TestChain holds who is told what: each guard that has admitted an operation observes it once.
func TestChain(t *testing.T) {
	held := &guard.Delay{Err: errHeld}
	tests := map[string]struct {
		reason string
		guards []recording
		want   []string
	}{
		"Admitted": {
			"It is sent.",
			[]recording{{name: "a"}, {name: "b"}},
			[]string{
				"a begins", "b begins", "a is asked", "b is asked", "a observes", "b observes",
				"a finishes", "b finishes",
			},
		},
		"HeldBack": {
			"Who has admitted it gives back what it has reserved, and who comes later is not asked.",
			[]recording{{name: "a"}, {name: "b", admit: held}, {name: "c"}},
			[]string{
				"a begins", "b begins", "c begins", "a is asked", "b is asked", "a observes what was not sent",
				"a finishes", "b finishes", "c finishes",
			},
		},
		"Rests": {"The object is not looked at.", []recording{{name: "a", begin: time.Unix(1, 0)}, {name: "b"}}, []string{"a begins"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var calls []string
			var chain guard.Chain
			for _, g := range tc.guards {
				g.calls = &calls
				chain = append(chain, g)
			}
			checks, rests := chain.Begin(&guard.Attempt{})
			if rests.IsZero() {
				if checks.Admit(t.Context(), plan.Operation{}) == nil {
					checks.Observe(guard.Operation{}, guard.Answer{Effective: true})
				}
				checks.Finish(&guard.Outcome{})
			}
			if diff := cmp.Diff(tc.want, calls); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOutcome holds what several failures of one attempt come to.
func TestOutcome(t *testing.T) {
	soon, late := time.Unix(100, 0), time.Unix(200, 0)
	tests := map[string]struct {
		reason string
		do     func(o *guard.Outcome)
		want   guard.Outcome
	}{
		"Hopeless": {
			"Nothing helps but a change.",
			func(o *guard.Outcome) {
				o.Fail(guard.Failure{Cause: guard.Hopeless})
				o.Fail(guard.Failure{Cause: guard.Hopeless})
			},
			guard.Outcome{State: guard.Retry, Hopeless: true},
		},
		"OneMayPass": {
			"A retry that helps one of them is worth while.",
			func(o *guard.Outcome) {
				o.Fail(guard.Failure{})
				o.Fail(guard.Failure{Cause: guard.Hopeless})
			},
			guard.Outcome{State: guard.Retry},
		},
		"Longest": {
			"The API server asked to wait.",
			func(o *guard.Outcome) {
				o.Fail(guard.Failure{After: 2 * time.Second})
				o.Fail(guard.Failure{After: time.Second})
			},
			guard.Outcome{State: guard.Retry, After: 2 * time.Second},
		},
		"PutOff": {
			"The first of two moments counts, and nothing has failed.",
			func(o *guard.Outcome) {
				o.Delay(nil, guard.Delay{Until: late})
				o.Delay(nil, guard.Delay{Until: soon})
				o.Delay(nil, guard.Delay{})
			},
			guard.Outcome{PutOffUntil: soon},
		},
		"Retried": {
			"What is held back for a moment is tried again like what failed.",
			func(o *guard.Outcome) { o.Delay(nil, guard.Delay{Retry: true, Until: late}) },
			guard.Outcome{State: guard.Retry},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got guard.Outcome
			tc.do(&got)
			got.Failures = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
