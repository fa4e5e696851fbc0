package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Why an engine cannot be driven, or only that.
var (
	errNoQueue = errors.New("an engine can only be driven with a queue that does not block")
	errDriven  = errors.New("an engine with a queue of the caller's is driven by the caller")
	errHouse   = errors.New("housekeeping cannot be driven: it has a goroutine of its own")
)

// spareTurns is how many turns [Engine.Drain] takes beyond those that the objects in the
// queue may need. Rules that go on making new objects would go on for ever.
const spareTurns = 1000

// Start loads rules into an engine that is driven by its caller: one with
// [Options.Queue] and without housekeeping. What happens is up to Drain and Wake, and
// all of it happens in the caller's goroutine. The caches must tell what they see before
// a write returns, or before Drain is called; later sets of rules are loaded with
// SetRules. The caches are complete when [Caches.Want] returns, and the error is that of one
// that is not. The caller stops the caches in the end; nothing else has to be stopped.
func (e *Engine) Start(set *rules.Set) error {
	switch {
	case e.runs() != stepwise:
		return errNoQueue
	case e.keepsHouse():
		return errHouse
	}
	e.wake()
	e.SetRules(set)
	for _, key := range e.active.Load().all {
		if err := e.synced.get(key).err; err != nil {
			return err // It says what could not be listed.
		}
	}
	return nil
}

// Drain takes one turn of the loop after the other until the queue is empty, and reports
// on these turns alone: an object counts that was looked at, and its failures are those
// of the last look. What may get better by itself is tried a few times, and an object
// may be written for in so many rounds, as in [Engine.Settle]; the next Drain counts
// anew. The error is that of the context, or tells of rules that make new objects
// without end; the report is then of what has been done, and the queue has the rest.
func (e *Engine) Drain(ctx context.Context) (Report, error) {
	e.tracker.begin(nil, false)
	err := e.turns(ctx, spareTurns+maxRounds*e.Len())
	return e.tracker.summary(), err
}

// Look takes one turn of the loop for an object, whatever is queued, and reports on that alone.
func (e *Engine) Look(ctx context.Context, key Key) Report {
	e.tracker.begin(nil, false)
	e.loop.process(ctx, key)
	return e.tracker.summary()
}

// turns takes as many turns as there is work for, up to a limit.
func (e *Engine) turns(ctx context.Context, most int) error {
	for turn := 0; ; turn++ {
		if ctx.Err() != nil {
			return fmt.Errorf("settling: %w", context.Cause(ctx))
		}
		key, empty := e.Get()
		if empty {
			return nil
		}
		if turn == most {
			e.Add(key)
			e.Done(key)
			next := plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name}
			return fmt.Errorf("the rules do not come to rest: after %d turns %s is still to be looked at", most, next)
		}
		e.loop.process(ctx, key)
		e.Done(key)
	}
}

// Wake queues the objects of which time alone has changed what the rules want, by the
// engine's clock, and returns when it will do so next: the zero time is never. An object
// that was given up is among them once it would have been tried again at the latest.
func (e *Engine) Wake() (next time.Time) {
	var keys []Key
	for _, due := range e.timers.take(e.options.Clock.Now()) {
		keys = append(keys, due.Key)
	}
	e.enqueueEach(keys)
	for _, due := range e.timers.all() {
		return due.At
	}
	return time.Time{}
}
