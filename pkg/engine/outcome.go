package engine

import (
	"errors"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
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
	after time.Duration // of retry; zero for the queue's own back-off
	// hopeless says that a retry helps only after a change of the object, the
	// rules or the cluster.
	hopeless bool
	err      error // of retry
	// failures are the rules that could not act.
	failures []plan.Decision
}

// failed adds a refused write; what helps one of several helps the object.
func (o outcome) failed(result write.Result) outcome {
	hopeless := result.Class == write.Terminal || result.Class == write.OwnedByAnother
	if o.state == retry {
		hopeless = hopeless && o.hopeless
	}
	return outcome{
		state:    retry,
		after:    max(o.after, result.RetryAfter),
		hopeless: hopeless,
		err:      errors.Join(o.err, result.Err),
		failures: o.failures,
	}
}
