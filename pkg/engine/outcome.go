package engine

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine/crew"
	"github.com/dyncontroller/dyncontroller/pkg/engine/quarantine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// state says when an object is to be looked at next.
type state uint8

const (
	settled state = iota // after the next event
	waiting              // once the caches have seen what was written
	again                // at once
	retry                // after a while
)

// outcome is what became of an object in one turn of the loop.
type outcome struct {
	state state
	after time.Duration // of retry: what the API server asked for
	// hopeless says that a retry helps only after a change of the object, the
	// rules or the cluster.
	hopeless bool
	// split says that the requests of several rules are sent apart from now on,
	// so that there is a new plan to try at once.
	split bool
	// wrote says that something was written besides.
	wrote bool
	// looked says that rules were evaluated, and waits that one of them waits for
	// its `when` to have held long enough.
	looked, waits bool
	// lookAgainAt is when time alone changes what the rules want, zero for never.
	lookAgainAt time.Time
	// putOffUntil is when to try again what is put off, zero for never. It is a moment of the
	// process, which setting the clock does not move.
	putOffUntil time.Time
	// troubles are what could not be done, each with the rules concerned, and setbacks
	// those among them that were tried.
	troubles []trouble
	setbacks []setback
}

// trouble is one thing that could not be done.
type trouble struct {
	rules []plan.Rule
	err   error
}

// setback is something that failed, with the rules concerned.
type setback struct {
	rules []plan.Rule
	quarantine.Setback
}

// failed adds a failure; a retry that may help one of several is worth while.
func (o outcome) failed(t trouble, hopeless bool) outcome {
	return o.setBack(t.rules, quarantine.Setback{Err: t.err, Hopeless: hopeless})
}

// refused adds what was answered to a write.
func (o outcome) refused(t trouble, class write.Class, after time.Duration) outcome {
	return o.setBack(t.rules, quarantine.Setback{
		Err: t.err, After: after,
		Hopeless: class == write.Terminal || class == write.OwnedByAnother,
		Passes:   class == write.Stale || passes(class, t.err),
	})
}

// unread adds a live read that failed. One that is not allowed may be, later.
func (o outcome) unread(t trouble) outcome {
	class := write.Classify(t.err)
	return o.setBack(t.rules, quarantine.Setback{
		Err: t.err, After: suggestedDelay(t.err),
		Passes: passes(class, t.err) || errors.Is(t.err, crew.ErrCrowded),
	})
}

// passes reports whether it is for the API server, or what is before it, that something
// failed. A 500 is not: a webhook that fails for one object is answered so.
func passes(class write.Class, err error) bool {
	if class == write.Overloaded || class == write.Unreachable {
		return true
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return slices.Contains([]int32{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status.Status().Code)
	}
	_, unanswered := errors.AsType[*url.Error](err)
	return unanswered
}

// heldBack adds what was not even tried, and is tried again like what failed.
func (o outcome) heldBack(t trouble) outcome {
	return o.setBack(t.rules, quarantine.Setback{Err: t.err, Passes: true})
}

func (o outcome) setBack(rules []plan.Rule, s quarantine.Setback) outcome {
	o.hopeless = s.Hopeless && (o.hopeless || o.state != retry)
	o.state = retry
	o.after = max(o.after, s.After)
	o.troubles, o.setbacks = append(o.troubles, trouble{rules, s.Err}), append(o.setbacks, setback{rules, s})
	return o
}

// unconfirmed is the answer to a write that is not sent, as what it was decided by could
// not be read.
func unconfirmed(err error) *write.Result {
	result := &write.Result{Class: write.Classify(err), Err: err, RetryAfter: suggestedDelay(err)}
	if errors.Is(err, crew.ErrCrowded) {
		result.Class = write.Overloaded
	}
	return result
}

// suggestedDelay is how long the API server asked to wait, zero where it did not.
func suggestedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(seconds) * time.Second
}

// later adds what is put off until a moment, or until something changes where that is
// zero.
func (o outcome) later(t trouble, until time.Time) outcome {
	if !until.IsZero() && (o.putOffUntil.IsZero() || until.Before(o.putOffUntil)) {
		o.putOffUntil = until
	}
	o.troubles = append(o.troubles, t)
	return o
}

// owed are the rules that have not done yet what they want of the object, among them
// those that wait for something, and whether there are any. Where it is not known
// which, none is named.
func (o outcome) owed(waiting []plan.Rule) (rules []plan.Rule, owe bool) {
	if o.state != settled && (o.state != retry || !o.hopeless || o.wrote) {
		return nil, true
	}
	rules = slices.Clone(waiting)
	for _, t := range o.troubles {
		if len(t.rules) == 0 {
			return nil, true
		}
		rules = append(rules, t.rules...)
	}
	return rules, len(rules) > 0
}

// failures are the troubles of an object, for who is told of them.
func (o outcome) failures(key Key) []Failure {
	var out []Failure
	for _, t := range o.troubles {
		out = append(out, Failure{Key: key, Rules: t.rules, Err: t.err})
	}
	return out
}
