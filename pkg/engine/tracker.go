package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/priorityqueue"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
)

// attempts is how often a settling engine tries what may get better by itself.
const attempts = breaker.Attempts

// tracker knows the work that is not done yet. It lets [Engine.Settle] see when
// everything that can settle has. The zero value keeps no books, as an engine
// that runs for ever needs none. It is safe for concurrent use.
type tracker struct {
	lanes  *priorityqueue.Queue[handle] // of what is queued or in hand, nil where that is the caller's; immutable
	synced *syncedCaches                // immutable
	more   func() bool                  // reports whether there is more housekeeping to do; immutable

	mu      sync.Mutex
	calm    chan struct{}         // closed when nothing is left but housekeeping, and made anew; nil while no books are kept
	lists                         // that come first
	house   bool                  // there is housekeeping to do
	delayed map[Key]bool          // objects that are looked at again after a while
	looks   map[Key]guard.Outcome // of the last evaluation of each object
	rounds  map[Key]int           // of writes
	answers map[write.Class]int   // to all writes
	unkept  error                 // why the housekeeping could not be done
}

// lists are the first lists that a settling engine waits for.
type lists struct {
	caches []informer.Key
	late   error // why they are not waited for any more, nil while they are
}

// begin keeps books from now on, new ones each time. The caches are to be listed first, and with house, the housekeeping done once.
func (o *tracker) begin(caches []informer.Key, house bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calm, o.caches, o.house, o.unkept = make(chan struct{}), caches, house, nil
	o.delayed, o.looks, o.rounds, o.answers = map[Key]bool{}, map[Key]guard.Outcome{}, map[Key]int{}, map[write.Class]int{}
}

// giveUp ends the wait for first lists.
func (o *tracker) giveUp(why error) {
	o.mu.Lock()
	o.late = why
	o.mu.Unlock()
	o.check()
}

// later notes that an object is looked at again after a while, and what has failed until then.
func (o *tracker) later(key Key, result guard.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calm == nil {
		return
	}
	o.delayed[key] = true
	if known, looked := o.looks[key]; looked || result.Failures != nil {
		known.Failures = result.Failures
		o.looks[key] = known
	}
}

// done notes that nothing more can be done about an object now, and keeps what is left undone.
func (o *tracker) done(key Key, result guard.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.delayed, key)
	delete(o.looks, key)
	if o.calm != nil && (result.Looked || result.Failures != nil) {
		o.looks[key] = result
	}
}

// busy reports whether a settling engine has still to list or to look at something.
func (o *tracker) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.working()
}

// wait returns once no object is left to look at, and with house, once the housekeeping is done too. It returns at once where no
// books are kept.
func (o *tracker) wait(ctx context.Context, house bool) error {
	for {
		o.mu.Lock()
		busy, calm := o.working() || house && o.house, o.calm
		o.mu.Unlock()
		if calm == nil || !busy {
			return nil
		}
		select {
		case <-calm:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// keepHouse notes that there is more housekeeping to do.
func (o *tracker) keepHouse() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.house = true
}

// kept notes that the housekeeping is done, unless there has come more, or why it cannot
// be, which counts until it can.
func (o *tracker) kept(err error) {
	defer o.check()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil || !o.more() {
		o.unkept, o.house = err, false
	}
}

// givesUp reports whether a settling engine leaves an object as it is. What was
// written just now may still lead to something.
func (o *tracker) givesUp(result guard.Outcome, tried int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calm != nil && !result.Wrote && (result.Hopeless || tried+1 >= attempts)
}

// maxRounds is how often an object may be written for while it settles. Rules that
// undo themselves or each other would go on for ever.
const maxRounds = 20

// unsettled reports whether there have been too many rounds of writes for an object.
func (o *tracker) unsettled(key Key) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rounds[key] >= maxRounds
}

// round counts an evaluation that has changed something.
func (o *tracker) round(key Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calm != nil {
		o.rounds[key]++
	}
}

// wrote counts an answer.
func (o *tracker) wrote(class write.Class) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calm != nil {
		o.answers[class]++
	}
}

// summary is the report, with the failures in the order of the objects.
func (o *tracker) summary() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := Report{
		Objects: len(o.looks), Written: o.answers[write.Written], Simulated: o.answers[write.Simulated], Audited: o.answers[write.Audited],
		Unkept: o.unkept,
	}
	for _, key := range o.caches {
		s := o.synced.get(key)
		if o.late != nil && s.waits() {
			out.TimedOut = true
			s.err = errors.Join(o.late, s.err)
		}
		if !s.listed && s.err != nil {
			out.Unlisted = append(out.Unlisted, informer.Status{Key: key, Err: s.err})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(o.looks), Key.Compare) {
		for _, failure := range o.looks[key].Failures {
			if limit.HoldOf(failure.Err) == limit.HoldWave {
				out.Deferred = append(out.Deferred, Failure{key, failure})
				continue
			}
			unkept := errors.Is(failure.Err, guard.ErrUnrecorded) || errors.Is(failure.Err, limit.ErrUnknown)
			if out.Unkept == nil || !unkept { // Unkept says why it waits.
				out.Failures = append(out.Failures, Failure{key, failure})
			}
		}
		if o.looks[key].Waits {
			out.Waiting++
		}
	}
	return out
}

// working reports whether something is still to be listed or to be looked at; the lock is held.
func (o *tracker) working() bool {
	return len(o.delayed) > 0 || o.lanes != nil && !o.lanes.Idle() ||
		o.late == nil && slices.ContainsFunc(o.caches, func(key informer.Key) bool { return o.synced.get(key).waits() })
}

// check tells who waits for the end of the work.
func (o *tracker) check() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calm != nil && !o.working() {
		close(o.calm)
		o.calm = make(chan struct{})
	}
}
