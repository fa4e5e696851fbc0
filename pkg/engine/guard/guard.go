package guard

import (
	"context"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Guard may hold operations back. Its methods are called by all workers at the same time.
type Guard interface {
	// Begin is called before an object is looked at. What it returns takes part in the attempt, most of which is filled in
	// only later. Where a moment is returned, the object is left alone until then, and nothing else is called. That is not
	// for an engine that settles.
	Begin(a *Attempt) (check Check, rests time.Time)
}

// Check is the part of one guard in one attempt. Its methods are called one after the other.
type Check interface {
	// Admit decides whether an operation may be sent now: nil is for yes.
	Admit(ctx context.Context, o plan.Operation) *Delay
	// Observe learns what became of an operation. It is called once for each that was admitted, also for one that was not
	// sent in the end: what Admit has reserved is given back.
	Observe(o Operation, answer Answer)
	// Finish is called once, when nothing is sent any more. It may change the outcome.
	Finish(outcome *Outcome)
}

// Forgetter is a [Guard] that is told when nothing is remembered of an object any more.
type Forgetter interface {
	Forget(key Key)
}

// Delay is why an operation is not sent now although its rules want it.
type Delay struct {
	Err error
	// Retry says that it is tried again like what failed. Otherwise the object is looked at when something changes, or at
	// Until at the latest if that is set.
	Retry bool
	Until time.Time
}

// Operation is one that was admitted.
type Operation struct {
	plan.Operation // as it was sent, or would have been
	Admitted       plan.Operation
	// Told is as it may be told: values of Secrets are masked. It is only there where something was sent.
	Told plan.Operation
}

// Answer is what became of an operation.
type Answer struct {
	write.Result // of no class where nothing was sent
	// Effective says that it has changed something, or may have: that may not be known.
	Effective bool
}

// Pass is a [Check] that admits everything.
type Pass struct{}

// Admit implements [Check].
func (Pass) Admit(context.Context, plan.Operation) *Delay { return nil }

// Observe implements [Check].
func (Pass) Observe(Operation, Answer) {}

// Finish implements [Check].
func (Pass) Finish(*Outcome) {}

// Chain is a list of guards. An operation is sent once all of them admit it.
type Chain []Guard

// Begin begins an attempt with all guards, unless one of them leaves the object alone.
func (c Chain) Begin(a *Attempt) (checks Checks, rests time.Time) {
	checks = make(Checks, len(c))
	for i, guard := range c {
		if checks[i], rests = guard.Begin(a); !rests.IsZero() {
			return nil, rests
		}
	}
	return checks, time.Time{}
}

// Forget tells the guards of an object of which nothing is remembered any more.
func (c Chain) Forget(key Key) {
	for _, guard := range c {
		if forgetter, is := guard.(Forgetter); is {
			forgetter.Forget(key)
		}
	}
}

// Checks are the parts of all guards in one attempt.
type Checks []Check

// Admit asks all of them. Those that have admitted what a later one holds back are told that it was not sent.
func (c Checks) Admit(ctx context.Context, o plan.Operation) *Delay {
	for i, check := range c {
		if delay := check.Admit(ctx, o); delay != nil {
			c[:i].Observe(Operation{Operation: o, Admitted: o}, Answer{})
			return delay
		}
	}
	return nil
}

// Observe tells all of them what became of an operation, also where one of them panics.
func (c Checks) Observe(o Operation, answer Answer) {
	if len(c) > 0 {
		defer c[1:].Observe(o, answer)
		c[0].Observe(o, answer)
	}
}

// Finish tells all of them that nothing is sent any more.
func (c Checks) Finish(outcome *Outcome) {
	for _, check := range c {
		check.Finish(outcome)
	}
}
