package engine

import (
	"slices"
	"time"

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
	// troubles are what could not be done, each with the rules concerned.
	troubles []trouble
}

// trouble is one thing that could not be done.
type trouble struct {
	rules []plan.Rule
	err   error
}

// failed adds a failure; a retry that may help one of several is worth while.
func (o outcome) failed(t trouble, hopeless bool, after time.Duration) outcome {
	o.hopeless = hopeless && (o.hopeless || o.state != retry)
	o.state = retry
	o.after = max(o.after, after)
	o.troubles = append(o.troubles, t)
	return o
}

// later adds what is put off until a moment, or until something changes where that is
// zero.
func (o outcome) later(t trouble, until time.Time) outcome {
	if !until.IsZero() && (o.lookAgainAt.IsZero() || until.Before(o.lookAgainAt)) {
		o.lookAgainAt = until
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
