package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/related"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// The delays between attempts on one object: doubled with each failure,
// capped, without end.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Minute
)

// Key names the object that a worker looks at. It is comparable.
type Key struct {
	GVR       schema.GroupVersionResource
	Namespace string
	Name      string
	// UID is of an object that is gone, of which more than that may not be known. It is
	// empty for whatever object has the name.
	UID types.UID
}

// compare orders keys as reports list them.
func (k Key) compare(other Key) int {
	return cmp.Or(
		cmp.Compare(plan.ResourceName(k.GVR), plan.ResourceName(other.GVR)),
		cmp.Compare(k.Namespace, other.Namespace),
		cmp.Compare(k.Name, other.Name),
		cmp.Compare(k.UID, other.UID),
	)
}

// Writer carries out operations: for real, or as a dry run.
type Writer interface {
	Write(ctx context.Context, operation plan.Operation) write.Result
}

// Recorder records Events. With again, it is known that an earlier episode of
// the same text has ended.
type Recorder interface {
	Record(ctx context.Context, event plan.Event, again bool) error
}

// Observer is told what the engine does, for metrics. Its methods must return
// quickly and are called by all workers at the same time.
type Observer interface {
	Evaluated(key Key, decision plan.Decision)
	// Wrote is told of every operation that was sent, and of those that were not
	// only because of a dry run or the mode of a rule.
	Wrote(operation plan.Operation, class write.Class)
	Queued(length int)
	// Recorded is told of every attempt to record an Event; err is nil where
	// it succeeded.
	Recorded(event plan.Event, err error)
}

// NopObserver ignores everything.
type NopObserver struct{}

// Evaluated implements [Observer].
func (NopObserver) Evaluated(Key, plan.Decision) {}

// Wrote implements [Observer].
func (NopObserver) Wrote(plan.Operation, write.Class) {}

// Queued implements [Observer].
func (NopObserver) Queued(int) {}

// Recorded implements [Observer].
func (NopObserver) Recorded(plan.Event, error) {}

// Options are what an engine works with. Caches, Live, Writer and Recorder are
// required.
type Options struct {
	// Caches makes the caches; it is given the handler that they must tell
	// what happens.
	Caches   func(informer.Handler) Caches
	Live     Live
	Writer   Writer
	Recorder Recorder
	// Housekeeping cleans up after rules that are gone; without an inventory, as in a
	// dry run, nothing is recorded and nothing cleaned up.
	Housekeeping Housekeeping
	// Name makes the name of a new object from its generateName; default: [RandomName].
	Name     func(prefix string) string
	Observer Observer     // default: none
	Log      *slog.Logger // default: none
	Clock    clock.WithTicker
	Workers  int // default: 4
}

// Engine runs one set of rules at a time. Its methods are safe for concurrent
// use; Run or Settle is called once.
type Engine struct {
	options Options
	caches  Caches
	queue   workqueue.TypedRateLimitingInterface[Key]
	limiter workqueue.TypedRateLimiter[Key]
	memory  memory
	open    open
	related *related.Index[Key]
	waiters waiters
	timers  timers
	barrier *barrier
	told    told
	house   *housekeeper // nil where nothing is recorded

	active atomic.Pointer[active]
	swap   sync.Mutex // one SetRules at a time
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
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[Key](firstRetry, lastRetry)
	e := &Engine{
		options: options,
		limiter: limiter,
		related: related.NewIndex[Key](),
		barrier: newBarrier(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
			workqueue.TypedRateLimitingQueueConfig[Key]{Clock: options.Clock}),
	}
	e.active.Store(activate(&rules.Set{}))
	if options.Housekeeping.Inventory != nil {
		e.house = newHousekeeper(e)
	}
	e.caches = options.Caches(handler{e})
	return e
}

// SetRules replaces the rules as a whole. Informers that both sets want are
// left alone. Objects are looked at again, since the new rules may want
// something else of them.
func (e *Engine) SetRules(set *rules.Set) error {
	e.swap.Lock()
	defer e.swap.Unlock()
	now := activate(set)
	keys := now.caches()
	if e.house != nil {
		e.house.halt()
		defer e.house.resume()
	}
	e.told.keep(e.active.Load().caches())
	before := e.active.Swap(now) // First, since the caches may tell something at once.
	if err := e.caches.Want(keys); err != nil {
		e.active.Store(before)
		return fmt.Errorf("changing the rules: %w", errors.Join(err, e.caches.Want(before.caches())))
	}
	for _, key := range keys {
		if now.watched[key] {
			e.enqueueAll(key)
		}
	}
	for _, family := range now.families {
		e.enqueueOrphans(family)
	}
	// What is remembered of objects that nobody watches any more is forgotten
	// when they are looked at and not found.
	for _, key := range e.memory.keys() {
		e.enqueue(key)
	}
	return nil
}

// Run works until the context is done. Writes that are under way are finished.
func (e *Engine) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range e.options.Workers {
		workers.Go(func() { e.work(ctx) })
	}
	if e.house != nil {
		workers.Go(func() { e.house.run(ctx) })
	}
	workers.Go(func() { e.timers.run(ctx, e.options.Clock, e.enqueueAfter) })
	<-ctx.Done()
	e.queue.ShutDown()
	workers.Wait()
	e.caches.Stop()
}

func (e *Engine) work(ctx context.Context) {
	for {
		key, done, shutdown := e.barrier.take(e.queue.Get)
		if shutdown {
			return
		}
		e.options.Observer.Queued(e.queue.Len())
		if ctx.Err() == nil {
			e.process(ctx, key)
		}
		e.queue.Done(key)
		done()
	}
}

func (e *Engine) enqueue(key Key) {
	e.open.add(key)
	e.queue.Add(key)
	e.options.Observer.Queued(e.queue.Len())
}

func (e *Engine) enqueueAfter(key Key, wait time.Duration) {
	if wait == 0 {
		e.enqueue(key)
	} else {
		e.queue.AddAfter(key, wait)
	}
}

func (e *Engine) enqueueAll(key informer.Key) {
	for _, name := range e.caches.Names(key) {
		e.enqueue(Key{GVR: key.GVR, Namespace: name.Namespace, Name: name.Name})
	}
}
