package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// keptRecheck is how often it is looked whether an object that a rule keeps, and that
// no cache shows, is there still: no event tells when it goes.
const keptRecheck = 5 * time.Minute

// unselectedError is why an object is not made: one that the rules do not see has the
// name.
type unselectedError struct{ event plan.Event }

// Error implements error.
func (e *unselectedError) Error() string { return e.event.Message }

// goingError is the same where that object is being deleted, so that it only takes time.
type goingError struct{ target plan.Object }

// Error implements error.
func (e *goingError) Error() string {
	return fmt.Sprintf("%s is being deleted and not among what is selected; it is made anew when it is gone", e.target)
}

// meet looks at what has the name of an object that is to be made, where the rules may
// not see it. It returns the answer instead of sending the operation, or nil. What is
// ours and has lost what makes it seen is given that back, so the operation is turned to
// it.
func (a *attempt) meet(ctx context.Context, sent *sending) *write.Result {
	if sent.Unseen == nil || sent.Target.UID != "" {
		return nil
	}
	target := sent.Target
	there, err := a.engine.options.Live.Get(ctx, target.GVR, target.Namespace, target.Name)
	switch {
	case err != nil:
		err = fmt.Errorf("looking for %s among what is not selected: %w", target, err)
		return unconfirmed(err)
	case there == nil:
		return nil
	case sees(sent.Unseen, there):
		target.UID, target.ResourceVersion = uidOf(there), versionOf(there)
		return &write.Result{Class: write.Stale, Err: errContradicted, Echo: &write.Echo{Object: target}, Object: there}
	case plan.BeingDeleted(there):
		return &write.Result{Class: write.Taken, Err: &goingError{target}}
	case sent.Unseen.Event == nil:
		sent.kept = true
		return &write.Result{}
	}
	if over := sent.Over(there); a.isOurs(over, there) && sees(sent.Unseen, over.Predicted) {
		if marks := over.All(); a.tried.Has(marks) {
			sent.kept, sent.known = true, marks
			return &write.Result{}
		}
		sent.Operation = over
		return nil
	}
	return &write.Result{Class: write.Terminal, Err: &unselectedError{*sent.Unseen.Event}}
}

// hides returns what would be sent again over an object that has come back without what
// makes it seen, as where admission has taken that off, and the fields that are in vain.
func (sent sending) hides(object map[string]any) (plan.Marks, []plan.Change) {
	if sent.Unseen == nil || object == nil || sees(sent.Unseen, object) {
		return nil, nil
	}
	over := sent.planned.Over(object)
	if !sees(sent.Unseen, over.Predicted) {
		return nil, nil
	}
	return over.All(), over.Changes
}

// sees reports whether the rules find an object where they have looked for it.
func sees(unseen *plan.Unseen, object map[string]any) bool {
	return slices.ContainsFunc(unseen.From, func(s plan.Selection) bool { return s.Admits(object) })
}

// foreseen takes on what need not be told each time that it is tried: that time has to
// pass, or what is told as the refusal of a rule is, once an episode.
func (a *attempt) foreseen(err error) bool {
	if unselected, is := errors.AsType[*unselectedError](err); is {
		if event := a.asked.hidden.event(unselected.event); a.interject(event) {
			a.engine.log(a.Key).Warn("rule did not act",
				"rule", event.Rule.String(), "outcome", string(plan.Refused), "reason", event.Message)
		}
		return true
	}
	_, going := errors.AsType[*goingError](err)
	return going
}

// keep leaves what a rule keeps as it is, which is no write and no failure.
func (a *attempt) keep() {
	if !a.Settling { // Who settles waits for no timer.
		a.outcome.LookAgain(a.engine.options.Clock.Now().Add(keptRecheck))
	}
}
