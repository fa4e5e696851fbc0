package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
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
}

// compare orders keys as reports list them.
func (k Key) compare(other Key) int {
	return cmp.Or(
		cmp.Compare(plan.ResourceName(k.GVR), plan.ResourceName(other.GVR)),
		cmp.Compare(k.Namespace, other.Namespace),
		cmp.Compare(k.Name, other.Name),
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
	Evaluated(decision plan.Decision)
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
func (NopObserver) Evaluated(plan.Decision) {}

// Wrote implements [Observer].
func (NopObserver) Wrote(plan.Operation, write.Class) {}

// Queued implements [Observer].
func (NopObserver) Queued(int) {}

// Recorded implements [Observer].
func (NopObserver) Recorded(plan.Event, error) {}

// Options are what an engine works with. Caches, Writer and Recorder are
// required.
type Options struct {
	// Caches makes the caches; it is given the handler that they must tell
	// what happens.
	Caches   func(informer.Handler) Caches
	Writer   Writer
	Recorder Recorder
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

	rules atomic.Pointer[rules.Set]
	swap  sync.Mutex // one SetRules at a time
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
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[Key](firstRetry, lastRetry)
	e := &Engine{
		options: options,
		limiter: limiter,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
			workqueue.TypedRateLimitingQueueConfig[Key]{Clock: options.Clock}),
	}
	e.rules.Store(&rules.Set{})
	e.caches = options.Caches(handler{e})
	return e
}

// SetRules replaces the rules as a whole. Informers that both sets want are
// left alone. Objects are looked at again, since the new rules may want
// something else of them.
func (e *Engine) SetRules(set *rules.Set) error {
	e.swap.Lock()
	defer e.swap.Unlock()
	keys := informersOf(set)
	if err := e.caches.Want(keys); err != nil {
		return fmt.Errorf("changing the rules: %w", err)
	}
	e.rules.Store(set)
	for _, key := range keys {
		e.enqueueAll(key)
	}
	// What is remembered of objects that nobody watches any more is forgotten
	// when they are looked at and not found.
	for _, key := range e.memory.keys() {
		e.enqueue(key)
	}
	return nil
}

// informersOf lists what the rules watch.
func informersOf(set *rules.Set) []informer.Key {
	var out []informer.Key
	for _, selection := range set.Selections() {
		out = append(out, informer.Key(selection))
	}
	return out
}

// Run works until the context is done. Writes that are under way are finished.
func (e *Engine) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range e.options.Workers {
		workers.Go(func() { e.work(ctx) })
	}
	<-ctx.Done()
	e.queue.ShutDown()
	workers.Wait()
	e.caches.Stop()
}

func (e *Engine) work(ctx context.Context) {
	for {
		key, shutdown := e.queue.Get()
		if shutdown {
			return
		}
		e.options.Observer.Queued(e.queue.Len())
		if ctx.Err() == nil {
			e.process(ctx, key)
		}
		e.queue.Done(key)
	}
}

func (e *Engine) enqueue(key Key) {
	e.open.add(key)
	e.queue.Add(key)
	e.options.Observer.Queued(e.queue.Len())
}

func (e *Engine) enqueueAll(key informer.Key) {
	for _, name := range e.caches.Names(key) {
		e.enqueue(Key{GVR: key.GVR, Namespace: name.Namespace, Name: name.Name})
	}
}

// handler queues what the informers report.
type handler struct{ engine *Engine }

// Changed implements [informer.Handler].
func (h handler) Changed(gvr schema.GroupVersionResource, namespace, name string) {
	h.engine.enqueue(Key{GVR: gvr, Namespace: namespace, Name: name})
}

// Synced implements [informer.Handler]. Objects that were passed over while
// the cache was incomplete are looked at now.
func (h handler) Synced(key informer.Key) {
	h.engine.enqueueAll(key)
	h.engine.open.listed(key, nil)
}

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) {
	h.engine.open.listed(key, err)
}
