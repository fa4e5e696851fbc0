package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/priorityqueue"
)

// queue has the keys of the objects that are to be looked at.
type queue struct {
	workqueue.TypedDelayingInterface[Key]
	lanes      *priorityqueue.Queue[handle] // nil where the queue is the caller's, who wants the engine to be predictable
	awake      atomic.Bool                  // somebody works on what is queued, or is about to
	clock      clock.WithTicker
	tracker    tracker
	unfinished *unfinished
	rechecks   timers // of objects that wait for the caches: when each is looked at although no cache has told a change
}

// handles is a work queue of handles, used as one of keys.
type handles struct {
	workqueue.TypedDelayingInterface[handle]
}

func (h handles) Add(key Key) { h.TypedDelayingInterface.Add(unique.Make(key)) }

func (h handles) AddAfter(key Key, delay time.Duration) {
	h.TypedDelayingInterface.AddAfter(unique.Make(key), delay)
}

func (h handles) Done(key Key) { h.TypedDelayingInterface.Done(unique.Make(key)) }

func (h handles) Get() (key Key, shutdown bool) {
	next, shutdown := h.TypedDelayingInterface.Get()
	if shutdown {
		return Key{}, true
	}
	return next.Value(), false
}

func (q *queue) enqueue(key Key) {
	if !q.awake.Load() {
		return
	}
	if q.lanes != nil {
		q.lanes.Announce(unique.Make(key))
	}
	q.Add(key)
}

// hurry has an object that is queued next go before what is only looked at once more.
func (q *queue) hurry(key Key) {
	if q.lanes != nil && q.awake.Load() {
		q.lanes.Hurry(unique.Make(key))
	}
}

// changed queues objects in no order to which a change matters. fresh says that it is
// one just now.
func (q *queue) changed(keys []Key, fresh bool) {
	if fresh && q.awake.Load() {
		at := q.clock.Now()
		for _, key := range keys {
			q.unfinished.change(key, at)
			q.hurry(key)
		}
	}
	q.enqueueEach(keys)
}

// enqueueAt queues an object at a moment of the wall clock, before what is only looked at once more.
func (q *queue) enqueueAt(due Due) {
	q.hurry(due.Key)
	q.AddAfter(due.Key, due.At.Sub(q.clock.Now().Round(0)))
}

// lookAgainIn has an object looked at when something is to be tried again that was put off,
// unless that is zero. What is queued for sooner stays.
func (q *queue) lookAgainIn(key Key, until time.Time) {
	if !until.IsZero() {
		q.AddAfter(key, max(until.Sub(q.clock.Now()), time.Nanosecond))
	}
}

// setRecheck has an object that waits for the caches looked at after a while, although they tell nothing. One that does not wait is
// not looked at.
func (q *queue) setRecheck(key Key, waits bool) {
	switch {
	case !waits:
		q.rechecks.set(key, time.Time{})
	case q.lanes == nil: // No time passes.
		q.AddAfter(key, recheck)
	default:
		q.rechecks.set(key, q.clock.Now().Add(recheck))
	}
}

// recheck is after how long an object that waits for the caches is looked at although they tell nothing, or half of that later: what
// is missed in a relist is told by no event.
const recheck = 5 * time.Second

// followRechecks queues what waits for the caches for long, until the context is done.
func (q *queue) followRechecks(ctx context.Context) {
	wait.UntilWithContext(ctx, func(context.Context) {
		for _, due := range q.rechecks.take(q.clock.Now()) {
			q.enqueue(due.Key)
		}
	}, recheck/2)
}

// enqueueEach queues keys that are in no order, which it may sort.
func (q *queue) enqueueEach(keys []Key) {
	if q.lanes == nil {
		slices.SortFunc(keys, Key.Compare)
	}
	for _, key := range keys {
		q.enqueue(key)
	}
}

// unfinished is which objects rules have not done with, and since when. The housekeeper asks it, as rules may still take over what
// a removed one has left there. It is safe for concurrent use.
type unfinished struct {
	lanes *priorityqueue.Queue[handle] // of what is queued, nil where that is the caller's; immutable

	mu    sync.Mutex
	looks map[Key]int        // objects that a worker looks at, by the generation of the rules; guarded by mu
	owing map[Key]guard.Owed // rules that have not done with an object; guarded by mu
	// since is the first change that rules have not done with; what comes until then, as the echoes of their own writes, is part of the
	// same. It is zero where an object is looked at, and no change led to it; guarded by mu.
	since map[Key]time.Time
	// awaited are the objects that the housekeeper waits for; guarded by mu.
	awaited map[Key]bool
}

// change notes that rules have something to do for an object.
func (u *unfinished) change(key Key, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, begun := u.since[key]; !begun {
		u.since[key] = at
	}
}

// settled notes that they have done it, and returns since when they had not.
func (u *unfinished) settled(key Key) (since time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	since = u.since[key]
	delete(u.since, key)
	return since
}

// begin notes that a worker looks at an object, and returns the rules in effect.
func (u *unfinished) begin(key Key, rules *atomic.Pointer[active]) *active {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := rules.Load()
	u.looks[key] = now.generation
	return now
}

// owe notes that rules which a worker has looked at an object by have not done with it, and done that they have, or that it
// is gone.
func (u *unfinished) owe(key Key, owed guard.Owed) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.owing[key] = owed
}

func (u *unfinished) done(key Key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.owing, key)
}

// end notes that a worker has done with an object. It reports whether it was the last that the housekeeper waits for.
func (u *unfinished) end(key Key) (last bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lanes != nil {
		u.lanes.Finish(unique.Make(key))
	}
	delete(u.looks, key)
	if _, owes := u.owing[key]; owes || !u.awaited[key] {
		return false
	}
	delete(u.awaited, key)
	return len(u.awaited) == 0
}
