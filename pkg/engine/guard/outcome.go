package guard

import (
	"errors"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Why an operation is not sent, or an object given up.
var (
	// ErrUnrecorded keeps a rule from leaving what nobody would clean up. It passes once the inventory is written.
	ErrUnrecorded = errors.New("it waits until the inventory says what it leaves behind")
	// ErrRestless is why a settling engine gives up an object that its rules go on writing for.
	ErrRestless = errors.New("it does not settle")
)

// State says when an object is to be looked at next.
type State uint8

// The states.
const (
	Settled State = iota // after the next event
	Waiting              // once the caches have seen what was written, by us or by who was faster
	Again                // at once
	Retry                // after a while
)

// Outcome is what became of an object in one attempt.
type Outcome struct {
	State State
	After time.Duration // of Retry: what the API server asked for
	// Hopeless says that a retry helps only after a change of the object, the rules or the cluster.
	Hopeless bool
	// Replan says that there is a new plan to try at once: a rule knows of a failure that it reads, or, with Split, the requests of
	// several rules are sent apart from now on.
	Replan, Split bool
	// Wrote says that something was written besides.
	Wrote bool
	// Looked says that rules were evaluated, and Waits that one of them waits for its `when` to have held long enough.
	Looked, Waits bool
	// LookAgainAt is when time alone changes what the rules want, zero for never.
	LookAgainAt time.Time
	// PutOffUntil is when to try again what is put off, zero for never. It is a moment of the process, which setting the
	// clock does not move.
	PutOffUntil time.Time
	Failures    []Failure
}

// Cause says why something was not done, and what helps.
type Cause uint8

// The causes.
const (
	Retryable   Cause = iota // it was tried and failed, and a retry may help
	Hopeless                 // it was, but a retry helps only after a change of the object, the rules or the cluster
	Passing                  // it is not for the object that it failed: it is tried again as soon as that makes sense
	Unevaluated              // the rule cannot be evaluated, which is a function of what it reads: only a change of that helps
	Decided                  // the rule decided so
	Delayed                  // a guard holds it back
)

// Failure is one thing that could not be done.
type Failure struct {
	Rules []plan.Rule // none where it is not known whose it is
	Err   error
	Cause Cause
	Told  bool // an Event tells of it already
	// After is how long the API server asked to wait, zero where it did not.
	After  time.Duration
	Reacts bool // it is of an action that reads failure
}

// Fail adds something that was tried and failed; a retry that may help one of several is worth while.
func (o *Outcome) Fail(f Failure) {
	o.Hopeless = f.Cause == Hopeless && (o.Hopeless || o.State != Retry)
	o.State = Retry
	o.After = max(o.After, f.After)
	o.Failures = append(o.Failures, f)
}

// PlanAgain has the rules evaluated again at once.
func (o *Outcome) PlanAgain() {
	o.Replan, o.Hopeless = true, false
	if o.State == Settled {
		o.State = Again
	}
}

// Delay adds what a guard holds back.
func (o *Outcome) Delay(rules []plan.Rule, d Delay) {
	if d.Retry {
		o.Fail(Failure{Rules: rules, Err: d.Err, Cause: Passing})
		return
	}
	o.Failures = append(o.Failures, Failure{Rules: rules, Err: d.Err, Cause: Delayed})
	o.PutOff(d.Until)
}

// PutOff has the object looked at by a moment; zero is for never.
func (o *Outcome) PutOff(until time.Time) { o.PutOffUntil = earlier(o.PutOffUntil, until) }

// LookAgain has the rules evaluated by a moment; zero is for never.
func (o *Outcome) LookAgain(at time.Time) { o.LookAgainAt = earlier(o.LookAgainAt, at) }

// Owed says which rules have not done yet what they want of an object, and why. It is nil where all have, and empty where it is not
// known which. A rule that waits for its time counts as [Retryable], and one that had no turn, as another failed before it, as [Passing].
type Owed map[plan.Rule]Cause

// Owed is what is left to do, where these rules wait for their time and these operations were not carried out.
func (o *Outcome) Owed(waiting []plan.Rule, undone []plan.Operation) Owed {
	if o.State != Settled && (o.Wrote || len(o.Failures) == 0) {
		return Owed{}
	}
	out := Owed{}
	for _, rule := range waiting {
		out[rule] = Retryable
	}
	for _, f := range o.Failures {
		if len(f.Rules) == 0 {
			return Owed{}
		}
		for _, rule := range f.Rules { // Of several causes, that counts after which the rule may act soonest.
			before, owes := out[rule]
			if !owes || f.Cause == Passing || f.Cause == Retryable && before != Passing {
				out[rule] = f.Cause
			}
		}
	}
	for _, operation := range undone {
		for _, rule := range operation.Rules {
			if _, owes := out[rule]; !owes {
				out[rule] = Passing
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// earlier is the earlier of two moments, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
