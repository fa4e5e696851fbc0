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
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
)

// attempts is how often a settling engine tries what may get better by itself.
const attempts = breaker.Attempts

// open is the work that is not done yet. It lets [Engine.Settle] see when
// everything that can settle has. The zero value keeps no books, as an engine
// that runs for ever needs none. It is safe for concurrent use.
type open struct {
	mu     sync.Mutex
	idle   chan struct{} // closed when nothing is left; nil while no books are kept
	caches map[informer.Key]int
	house  bool          // there is housekeeping to do
	calm   chan struct{} // closed when nothing else is left; nil where nobody waits
	more   func() bool   // reports whether there has come more; immutable
	keys   map[Key]int   // counts how often the key was queued
	// looks are the last evaluation of each object.
	looks  map[Key]left
	rounds map[Key]int // of writes
	report Report
	// faults are why caches could not be listed when that was tried last.
	faults map[informer.Key]error
}

// left is what is left undone of an object.
type left struct {
	failures []Failure
	waits    bool
}

// begin keeps books from now on. The caches are to be listed first, and with house,
// the housekeeping done once.
func (o *open) begin(caches []informer.Key, house bool) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = make(chan struct{})
	o.keys = map[Key]int{}
	o.looks = map[Key]left{}
	o.rounds = map[Key]int{}
	o.faults = map[informer.Key]error{}
	o.house = house
	o.caches = map[informer.Key]int{}
	for _, key := range caches {
		o.caches[key] = 0
	}
	o.check()
	return o.idle
}

// renew begins the books of another round. Work that is under way stays.
func (o *open) renew() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks, o.rounds, o.report = map[Key]left{}, map[Key]int{}, Report{}
}

// keeping reports whether books are kept.
func (o *open) keeping() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.idle != nil
}

// add notes that the key was queued.
func (o *open) add(key Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle != nil {
		o.keys[key]++
	}
}

// count is how often the key has been queued so far.
func (o *open) count(key Key) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keys[key]
}

// done closes the key, unless it has been queued again since count, and keeps
// what is left undone.
func (o *open) done(key Key, count int, result guard.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil || o.keys[key] != count {
		return
	}
	failures := failures(key, result)
	delete(o.looks, key)
	if result.Looked || failures != nil {
		o.looks[key] = left{failures, result.Waits}
	}
	delete(o.keys, key)
	o.check()
}

// listed notes the end of a first list, or a failed attempt at it.
func (o *open) listed(key informer.Key, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle != nil {
		o.faults[key] = err
	}
	tried, waiting := o.caches[key]
	if !waiting {
		return
	}
	o.caches[key]++
	if err != nil && write.Classify(err) != write.Terminal && tried+1 < attempts {
		return
	}
	if err != nil {
		o.report.Unlisted = append(o.report.Unlisted, informer.Status{Key: key, Err: err})
	}
	delete(o.caches, key)
	o.check()
}

// fault is why a cache could not be listed, nil where it was, or where nothing is known.
func (o *open) fault(key informer.Key) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.faults[key]
}

// busy reports whether a settling engine has still to list or to look at something.
func (o *open) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.keys) > 0 || len(o.caches) > 0
}

// calmed returns once there is nothing to do but housekeeping, at once where no books are
// kept.
func (o *open) calmed(ctx context.Context) error {
	o.mu.Lock()
	if o.idle == nil || len(o.keys)+len(o.caches) == 0 {
		o.mu.Unlock()
		return nil
	}
	if o.calm == nil {
		o.calm = make(chan struct{})
	}
	calm := o.calm
	o.mu.Unlock()
	return wait(ctx, calm)
}

// keepHouse notes that there is more housekeeping to do.
func (o *open) keepHouse() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.house = o.house || o.idle != nil
}

// kept notes that the housekeeping is done, unless there has come more, or why it cannot
// be, which counts until it can.
func (o *open) kept(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil || err == nil && o.more != nil && o.more() {
		return
	}
	o.report.Unkept = err
	o.house = false
	o.check()
}

// givesUp reports whether a settling engine leaves an object as it is. What was
// written just now may still lead to something.
func (o *open) givesUp(result guard.Outcome, tried int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.idle != nil && !result.Wrote && (result.Hopeless || tried+1 >= attempts)
}

// maxRounds is how often an object may be written for while it settles. Rules that
// undo themselves or each other would go on for ever.
const maxRounds = 20

// unsettled reports whether there have been too many rounds of writes for an object.
func (o *open) unsettled(key Key) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rounds[key] >= maxRounds
}

// round counts an evaluation that has changed something.
func (o *open) round(key Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle != nil {
		o.rounds[key]++
	}
}

// wrote counts an answer.
func (o *open) wrote(class write.Class) {
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
func (o *open) summary() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.report
	out.Objects = len(o.looks)
	for _, key := range slices.SortedFunc(maps.Keys(o.looks), Key.Compare) {
		for _, failure := range o.looks[key].failures {
			if out.Unkept == nil || !errors.Is(failure.Err, ErrUnrecorded) { // Unkept says why it waits.
				out.Failures = append(out.Failures, failure)
			}
		}
		if o.looks[key].waits {
			out.Waiting++
		}
	}
	return out
}

func (o *open) check() {
	if len(o.keys) > 0 || len(o.caches) > 0 {
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
