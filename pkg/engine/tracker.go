package engine

import (
	"cmp"
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

// errUnlisted is why a cache is not listed of which nothing else is known.
var errUnlisted = errors.New("there was no answer yet")

// tracker knows the work that is not done yet. It lets [Engine.Settle] see when
// everything that can settle has. The zero value keeps no books, as an engine
// that runs for ever needs none. It is safe for concurrent use.
type tracker struct {
	lanes  *priorityqueue.Queue[Key] // of what is queued or in hand, nil where that is the caller's; immutable
	synced *syncedCaches             // immutable
	more   func() bool               // reports whether there is more housekeeping to do; immutable

	mu      sync.Mutex
	idle    chan struct{}  // closed when nothing is left; nil while no books are kept
	calm    chan struct{}  // closed when nothing but housekeeping is left; nil where nobody waits
	caches  []informer.Key // that are to be listed first
	house   bool           // there is housekeeping to do
	delayed map[Key]bool   // objects that are looked at again after a while
	looks   map[Key]left   // the last evaluation of each object
	rounds  map[Key]int    // of writes
	report  Report
}

// left is what is left undone of an object.
type left struct {
	failures []guard.Failure
	waits    bool
}

// begin keeps books from now on. The caches are to be listed first, and with house,
// the housekeeping done once.
func (o *tracker) begin(caches []informer.Key, house bool) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle, o.caches, o.house = make(chan struct{}), caches, house
	o.delayed, o.looks, o.rounds = map[Key]bool{}, map[Key]left{}, map[Key]int{}
	return o.idle
}

// renew begins the books of another round. Work that is under way stays.
func (o *tracker) renew() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks, o.rounds, o.report = map[Key]left{}, map[Key]int{}, Report{}
}

// later notes that an object is looked at again after a while.
func (o *tracker) later(key Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle != nil {
		o.delayed[key] = true
	}
}

// done notes that nothing more can be done about an object now, and keeps what is left undone.
func (o *tracker) done(key Key, result guard.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil {
		return
	}
	delete(o.looks, key)
	if result.Looked || result.Failures != nil {
		o.looks[key] = left{result.Failures, result.Waits}
	}
	delete(o.delayed, key)
}

// busy reports whether a settling engine has still to list or to look at something.
func (o *tracker) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.working()
}

// calmed returns once there is nothing to do but housekeeping, at once where no books are
// kept.
func (o *tracker) calmed(ctx context.Context) error {
	o.mu.Lock()
	if o.idle == nil || !o.working() {
		o.mu.Unlock()
		return nil
	}
	if o.calm == nil {
		o.calm = make(chan struct{})
	}
	calm := o.calm
	o.mu.Unlock()
	select {
	case <-calm:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keepHouse notes that there is more housekeeping to do.
func (o *tracker) keepHouse() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.house = o.house || o.idle != nil
}

// kept notes that the housekeeping is done, unless there has come more, or why it cannot
// be, which counts until it can.
func (o *tracker) kept(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil || err == nil && o.more != nil && o.more() {
		return
	}
	o.report.Unkept = err
	o.house = false
	o.tell()
}

// givesUp reports whether a settling engine leaves an object as it is. What was
// written just now may still lead to something.
func (o *tracker) givesUp(result guard.Outcome, tried int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.idle != nil && !result.Wrote && (result.Hopeless || tried+1 >= attempts)
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
	if o.idle != nil {
		o.rounds[key]++
	}
}

// wrote counts an answer.
func (o *tracker) wrote(class write.Class) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.idle == nil:
	case class == write.Written:
		o.report.Written++
	case class == write.Simulated:
		o.report.Simulated++
	case class == write.Audited:
		o.report.Audited++
	}
}

// summary is the report, with the failures in the order of the objects.
func (o *tracker) summary() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.report
	for _, key := range o.caches {
		if s := o.synced.get(key); !s.listed {
			out.Unlisted = append(out.Unlisted, informer.Status{Key: key, Err: cmp.Or(s.err, errUnlisted)})
		}
	}
	out.Objects = len(o.looks)
	for _, key := range slices.SortedFunc(maps.Keys(o.looks), Key.Compare) {
		for _, failure := range o.looks[key].failures {
			unkept := errors.Is(failure.Err, guard.ErrUnrecorded) || errors.Is(failure.Err, limit.ErrUnknown)
			if out.Unkept == nil || !unkept { // Unkept says why it waits.
				out.Failures = append(out.Failures, Failure{key, failure})
			}
		}
		if o.looks[key].waits {
			out.Waiting++
		}
	}
	return out
}

// working reports whether something is still to be listed or to be looked at; the lock is held.
func (o *tracker) working() bool {
	return len(o.delayed) > 0 || o.lanes != nil && !o.lanes.Idle() ||
		slices.ContainsFunc(o.caches, func(key informer.Key) bool { return o.synced.get(key).waits(attempts) })
}

// check tells who waits for the end of the work.
func (o *tracker) check() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tell()
}

// tell is check; the lock is held.
func (o *tracker) tell() {
	if o.idle == nil || o.working() {
		return
	}
	if o.calm != nil {
		close(o.calm)
		o.calm = nil
	}
	if o.house {
		return
	}
	select {
	case <-o.idle:
	default:
		close(o.idle)
	}
}
