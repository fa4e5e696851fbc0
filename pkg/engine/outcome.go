package engine

import (
	"errors"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// state says when an object is to be looked at next.
type state uint8

const (
	settled state = iota // after the next event
	waiting              // once the caches have seen what was written
	retry                // after a while
)

// outcome is what became of an object in one turn of the loop.
type outcome struct {
	state state
	after time.Duration // of retry: what the API server asked for
	// hopeless says that a retry helps only after a change of the object, the
	// rules or the cluster.
	hopeless bool
	// wrote says that something was written besides.
	wrote bool
	err   error // of retry
	// failures are the rules that could not act.
	failures []plan.Decision
}

// failed adds a failure; a retry that may help one of several is worth while.
func (o outcome) failed(err error, hopeless bool, after time.Duration) outcome {
	o.hopeless = hopeless && (o.hopeless || o.state != retry)
	o.state = retry
	o.after = max(o.after, after)
	o.err = errors.Join(o.err, err)
	return o
}
