package guard

import (
	"context"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Guard may hold operations back. Its methods are called by all workers at the same time.
type Guard interface {
	// Begin is called before an object is looked at. With a delay, it is not looked at now. What it returns otherwise takes
	// part in the attempt; most of the attempt is filled in only later.
	Begin(a *Attempt) (Check, *Delay)
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

// Delay is why an operation is not sent now although its rules want it, or why an object is not looked at.
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
	// Planned is as the rules wanted it, and Told as it may be told: values of Secrets are masked.
	Planned, Told plan.Operation
}

// Answer is what became of an operation.
type Answer struct {
	write.Result
	// Sent says that there is a result. Whether that has changed something may not be known: Effective says that it has,
	// or may have.
	Sent, Effective bool
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

// Begin begins an attempt with all guards, unless one of them delays it.
func (c Chain) Begin(a *Attempt) (Checks, *Delay) {
	checks := make(Checks, len(c))
	for i, guard := range c {
		check, delay := guard.Begin(a)
		if delay != nil {
			return nil, delay
		}
		checks[i] = check
	}
	return checks, nil
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
			c[:i].Observe(Operation{o, o, o}, Answer{})
			return delay
		}
	}
	return nil
}

// Observe tells all of them what became of an operation.
func (c Checks) Observe(o Operation, answer Answer) {
	for _, check := range c {
		check.Observe(o, answer)
	}
}

// Finish tells all of them that nothing is sent any more.
func (c Checks) Finish(outcome *Outcome) {
	for _, check := range c {
		check.Finish(outcome)
	}
}
