package engine

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/dependencies"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/engine/priorityqueue"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// queueName is that of the queues of all engines in the metrics of a process.
const queueName = "objects"

// Engine runs one set of rules at a time. Its methods are safe for concurrent
// use, but for those of a caller who drives it; Run, Settle or Start is called once.
//
// Until then the caches of the rules are kept, and nothing is queued: a process that
// only stands by needs no more memory than the objects take.
type Engine struct {
	*core
	loop    *loop
	loader  *loader
	house   *housekeeper
	workers *workers.Pool
}

// New returns an engine without rules.
func New(options Options) *Engine {
	if options.Observer == nil {
		options.Observer = NopObserver{}
	}
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	options.Clock = cmp.Or[clock.WithTicker](options.Clock, clock.RealClock{})
	options.Workers = cmp.Or(options.Workers, 10)
	if options.Name == nil {
		options.Name = func(_ Key, prefix string) string { return naming.Random(prefix) }
	}
	if options.Shared == nil {
		options.Shared = &Shared{made: conflict.NewMade(), names: naming.NewSent(options.Clock)}
	}
	pool := workers.New(options.Workers)
	c := &core{options: options, related: dependencies.NewIndex[Key](), memory: memory{records: map[Key]*record{}}}
	c.tidying = &tidying{wanted: make(chan struct{}, 1), changing: make(chan struct{}, 1), stop: func() {}}
	calls := attended{c, pool, options.Writer, options.Live, options.Recorder}
	c.options.Writer, c.options.Live, c.options.Recorder = calls, calls, calls
	c.timers.of, c.rechecks.of = map[Key]time.Time{}, map[Key]time.Time{}
	c.cluster = cluster{live: c.options.Live, clock: options.Clock, elected: options.Elected}
	c.queue.clock, c.TypedDelayingInterface = options.Clock, options.Queue
	if options.Queue != nil {
		c.mode.Store(int32(stepwise))
	} else {
		c.lanes = priorityqueue.New[handle]()
		c.TypedDelayingInterface = handles{workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[handle]{
			Name: queueName, Clock: options.Clock,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[handle]{Name: queueName, Clock: options.Clock, Queue: c.lanes}),
		})}
	}
	c.active.Store(activate(&rules.Set{}))
	c.guards = newGuards(c, pool, rand.N[time.Duration])
	c.unfinished = &unfinished{lanes: c.lanes, looks: map[Key]int{}, owing: map[Key]guard.Owed{}, since: map[Key]time.Time{}}
	c.tracker.lanes, c.tracker.synced, c.tracker.more = c.lanes, &c.synced, c.guards.limits.Unsaved
	e := &Engine{core: c, workers: pool}
	e.loop = &loop{
		core:     c,
		failures: workqueue.NewTypedItemExponentialFailureRateLimiter[Key](firstRetry, lastRetry),
		delays:   workqueue.NewTypedItemExponentialFailureRateLimiter[Key](firstRetry, lastRetry),
	}
	e.loader = &loader{core: c, changed: make(chan struct{}, 1)}
	e.house = &housekeeper{core: c, loader: e.loader}
	c.caches = options.Caches(handler{c, e.loader})
	return e
}

// Run works until the context is done, and stops the caches. Writes that are under way
// are finished. With a context that is done already, it ends an engine that never worked.
func (e *Engine) Run(ctx context.Context) {
	e.loader.mu.Lock() // Caches may be about to go that keep less than the rules in effect read.
	e.wake()
	e.loader.mu.Unlock()
	var workers sync.WaitGroup
	workers.Go(func() { e.workers.Run(ctx, e.loop.turn) })
	workers.Go(func() { e.loader.followRules(ctx) })
	workers.Go(func() { e.followRechecks(ctx) })
	if e.keepsHouse() {
		workers.Go(func() { e.house.run(ctx) })
	}
	if e.runs() == forever { // Who settles waits for no timer.
		workers.Go(func() { e.followTimers(ctx) })
	}
	<-ctx.Done()
	e.ShutDown()
	workers.Wait()
	e.caches.Stop()
}

// Queued is how many objects wait for a worker now.
func (e *Engine) Queued() int { return e.Len() }

// Rules are those in effect: by them objects are evaluated.
func (e *Engine) Rules() *rules.Set { return e.active.Load().Set }

// SetRules replaces the rules as a whole. Informers that both sets want are left alone. Objects are looked at again of
// which rules may want something else now: those that a rule watches, or has watched, which is new, gone or has changed.
// The same set once more has all objects looked at again.
//
// Rules that need caches which do not run yet, in place of others that do, take effect
// once these are complete, and those from before stay in effect until then: see
// [Engine.Run]. Nothing is waited for that surely cannot be listed, and for nothing
// longer than [PendingLongest]. SetRules returns at once all the same, and the next one
// takes the place of what still waits. Nor is anything waited for where nobody acts by
// the rules from before.
func (e *Engine) SetRules(set *rules.Set) { e.loader.set(set) }

// Deny says which caches may not be had at present, and why; nil is for none. It takes
// the place of what was denied before, holds for rules that are loaded later too, and
// may be called before there are any.
//
// A cache that is denied is dropped at once: nothing of it is read any more. It is then
// like one that is not complete yet, and unsynced is not empty: rules that watch or read
// it rest, and nothing is taken for gone because it is not seen. The others go on, and
// their caches are left alone. An evaluation that has already read from the cache comes
// to its end: what it writes is guarded, and is sent as the same identity.
//
// A cache that is not denied any more begins anew, and all that it concerns is looked at
// when it is complete. So to have a cache begin anew, it is denied, and then it is not:
// nothing is waited for in between.
func (e *Engine) Deny(denied map[informer.Key]error) { e.loader.deny(denied) }

// Quarantined lists the rules that keep failing, in the order of the objects and rules.
func (e *Engine) Quarantined() []breaker.Circuit { return e.guards.breaker.List() }

// Contests lists what rules write and others undo again and again, or they themselves, by the objects that are written to.
func (e *Engine) Contests() []conflict.Conflict { return e.guards.conflicts.Conflicts() }

// Paused lists the rules that are paused, in order.
func (e *Engine) Paused() []limit.Pause { return e.guards.limits.All() }

// Rollouts tells how far rules with a rollout have come.
func (e *Engine) Rollouts() map[plan.Rule]v1alpha1.Rollout { return e.guards.limits.Rollouts() }

// Tidy has the inventory read anew, before anything else that the housekeeping has to do: a set object may ask for something else.
func (e *Engine) Tidy() {
	e.tidying.halt()
	e.tidying.resume()
}

// Due lists the objects that are looked at again although nothing changes, the earliest
// first.
func (e *Engine) Due() []Due { return e.timers.all() }

// Assign says which engine runs each set from now on, before that one is given the rules: nil while none may write for it. The limits of other
// sets are forgotten.
func (s *Shared) Assign(runs map[plan.Rule]*Engine) {
	by := make(map[plan.Rule]*limit.Guard, len(runs))
	for set, engine := range runs {
		if by[set] = nil; engine != nil {
			by[set] = engine.guards.limits
		}
	}
	s.limits.Assign(by)
}
