package engine

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// obstacle is why an operation is not sent now although its rules want it.
type obstacle struct {
	err error
	// retry says that it is tried again like what failed. Otherwise the object is looked
	// at when something changes, or at the latest at until if that is set.
	retry bool
	until time.Time
}

// obstacle is the first that is in the way of an operation, nil for none.
func (a *attempt) obstacle(operation plan.Operation) *obstacle {
	for _, find := range []func(plan.Operation) *obstacle{
		a.unrecorded,
		a.slowedDown,
		a.quarantined,
		a.crowded,
		a.beyondLimits, // The last: what it grants counts.
	} {
		if found := find(operation); found != nil {
			return found
		}
	}
	return nil
}

// unrecorded keeps rules from leaving what nobody would clean up.
func (a *attempt) unrecorded(operation plan.Operation) *obstacle {
	if a.engine.house == nil || !a.engine.house.holdsBack(a.now, a.key, operation.Rules) {
		return nil
	}
	return &obstacle{err: ErrUnrecorded, retry: true}
}

// putOff leaves an operation for later. Other rules go on, those of the same request
// too.
func (a *attempt) putOff(operation plan.Operation, because *obstacle) {
	a.leave(operation)
	trouble := trouble{operation.Rules, a.asked.hidden.error(because.err)}
	if because.retry {
		a.outcome = a.outcome.heldBack(trouble)
	} else {
		a.outcome = a.outcome.later(trouble, because.until)
	}
	a.split(operation)
}

// split has each rule sent on its own from now on, where one of several may
// have been refused, or held back, for another.
func (a *attempt) split(operation plan.Operation) {
	if len(operation.Rules) < 2 || a.record.separate {
		return
	}
	a.record.separate = true
	a.outcome.split, a.outcome.hopeless = true, false
	if a.outcome.state == settled {
		a.outcome.state = again
	}
}
