package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/priorityqueue"
	"github.com/dyncontroller/dyncontroller/pkg/engine/related"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// The delays between attempts on one object: doubled with each failure,
// capped, without end.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = breaker.LastRetry
)

// queueName is that of the queues of all engines in the metrics of a process.
const queueName = "objects"

// Key names the object that a worker looks at.
type Key = guard.Key

// Writer carries out operations: for real, or as a dry run.
type Writer interface {
	Write(ctx context.Context, operation plan.Operation) write.Result
}

// Recorder records Events. With again, it is known that an earlier episode of
// the same text has ended.
type Recorder interface {
	Record(ctx context.Context, event plan.Event, again bool) error
}

// Options are what an engine works with. Caches, Live, Writer and Recorder are
// required.
type Options struct {
	// Caches makes the caches; it is given the handler that they must tell
	// what happens.
	Caches   func(informer.Handler) Caches
	Live     Live
	Writer   Writer
	Recorder Recorder
	// Housekeeping cleans up after rules that are gone; without an inventory nothing is
	// recorded and nothing cleaned up.
	Housekeeping Housekeeping
	// Name makes the name of a new object from its generateName, for the watched object
	// that asks for it; default: [RandomName].
	Name     func(asker Key, prefix string) string
	Observer Observer     // default: none
	Log      *slog.Logger // default: none
	Clock    clock.WithTicker
	Workers  int // default: 4
	// Queue says in which order keys are looked at, by somebody who drives the engine with
	// [Engine.Start]; Run and Settle need the default. The engine is then predictable in
	// the rest, too: what is queued together is queued in the order of the keys, and what
	// a rule creates is sent one after the other. Get must not block: it says that there is
	// nothing as if the queue were shut down.
	Queue workqueue.TypedDelayingInterface[Key]
	// Explain gives the decisions of rules that did not match a reason, which costs time.
	Explain bool
	// Unmasked gives the Observer, the Recorder and reports the values of Secrets as they
	// are, to somebody who masks them.
	Unmasked bool
	// Looked is told of each evaluation, by all workers at the same time; default: none.
	Looked func(rules.Snapshot, []plan.Decision)
	// Concluded is told what could not be done about an object each time that its rules
	// have been evaluated, or could not be, and Forgot when nothing is remembered of it
	// any more; by all workers at the same time. Default: none.
	Concluded func(Key, []Failure)
	Forgot    func(Key)
	// Paused is told of each rule that pauses because of its limits, and Resumed of one
	// that does not any more, once nothing says so that is stored. They must not call the
	// engine. Default: none.
	Paused  func(limit.Pause)
	Resumed func(plan.Rule)
}

// Engine runs one set of rules at a time. Its methods are safe for concurrent
// use, but for those of a caller who drives it; Run, Settle or Start is called once.
//
// Until then the caches of the rules are kept, and nothing is queued: a process that
// only stands by needs no more memory than the objects take.
type Engine struct {
	options Options
	caches  Caches
	queue   workqueue.TypedDelayingInterface[Key]
	lanes   *priorityqueue.Queue[Key] // of the queue, nil where it is the caller's
	workers *workers.Pool
	guards  guards
	limiter workqueue.TypedRateLimiter[Key]
	memory  memory
	open    open
	related *related.Index[Key]
	waiters waiters
	timers  timers
	barrier *barrier
	told    told
	news    news
	house   *housekeeper // nil where nothing is recorded
	active  atomic.Pointer[active]
	awake   atomic.Bool            // somebody works on what is queued, or is about to
	began   time.Time              // when that was so; for those who work
	next    *beside                // rules that wait for their caches
	swap    sync.Mutex             // one change of the rules or of what is denied at a time
	denied  map[informer.Key]error // guarded by swap
	wanted  []informer.Key         // the caches that run, but for those denied; guarded by swap
}

// New returns an engine without rules.
func New(options Options) *Engine {
	if options.Observer == nil {
		options.Observer = NopObserver{}
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.Workers == 0 {
		options.Workers = 4
	}
	if options.Name == nil {
		options.Name = RandomName
	}
	e := &Engine{
		workers: workers.New(options.Workers, options.Clock),
		limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[Key](firstRetry, lastRetry),
		related: related.NewIndex[Key](),
		barrier: newBarrier(),
		next:    newBeside(),
		queue:   options.Queue,
	}
	e.options = attend(e, options)
	if e.queue == nil {
		e.lanes = priorityqueue.New[Key]()
		e.queue = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{
			Name: queueName, Clock: options.Clock,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Name: queueName, Clock: options.Clock, Queue: e.lanes}),
		})
	}
	e.active.Store(activate(&rules.Set{}))
	e.guards = newGuards(e, breaker.Scatter())
	e.open.more = e.guards.limits.Unsaved
	if options.Housekeeping.Inventory != nil {
		e.house = newHousekeeper(e)
	}
	e.caches = options.Caches(handler{e})
	return e
}

// Run works until the context is done, and stops the caches. Writes that are under way
// are finished. With a context that is done already, it ends an engine that never worked.
func (e *Engine) Run(ctx context.Context) {
	e.wake()
	var workers sync.WaitGroup
	workers.Go(func() { e.workers.Run(ctx, e.turn) })
	workers.Go(func() { e.followRules(ctx) })
	if e.house != nil {
		workers.Go(func() { e.house.run(ctx) })
	}
	if !e.open.keeping() { // Who settles waits for no timer.
		workers.Go(func() { e.timers.run(ctx, e.options.Clock, e.enqueueAfter) })
	}
	<-ctx.Done()
	e.queue.ShutDown()
	workers.Wait()
	e.caches.Stop()
}

// turn takes the next object, and reports whether there is one.
func (e *Engine) turn(ctx context.Context) bool {
	key, done, shutdown := e.barrier.take(e.queue.Get)
	if shutdown {
		return false
	}
	if ctx.Err() == nil {
		e.process(ctx, key)
	}
	e.queue.Done(key)
	done()
	return true
}
