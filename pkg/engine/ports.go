package engine

import (
	"context"
	"log/slog"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/events"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// Key names the object that a worker looks at.
type Key = guard.Key

// handle is a key in the maps of a work queue. These have room for as many as there ever were, and a key is twelve times as large.
type handle = unique.Handle[Key]

// Writer carries out operations: for real, or as a dry run.
type Writer interface {
	Write(ctx context.Context, operation plan.Operation) write.Result
}

// Recorder records Events.
type Recorder = events.Recorder

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
	// that asks for it; default: [naming.Random].
	Name     func(asker Key, prefix string) string
	Observer Observer     // default: none
	Log      *slog.Logger // default: none
	Clock    clock.WithTicker
	// Queue says in which order keys are looked at, by somebody who drives the engine with
	// [Engine.Start]; Run and Settle need the default. The engine is then predictable in
	// the rest, too: what is queued together is queued in the order of the keys, and what
	// a rule creates is sent one after the other. Get must not block: it says that there is
	// nothing as if the queue were shut down.
	Queue workqueue.TypedDelayingInterface[Key]
	Pace
	Detail
}

// Pace is how much is done at the same time, how fast, and beside whom.
type Pace struct {
	// Elected says that another process may have worked until [Engine.Run] is called, and written what no cache shows yet.
	Elected bool
	Workers int // default: 10
	// Shared is what the engines of one process share; by default the engine is alone. An engine that is not writes for no rule with limits or
	// a rollout until [Shared.Assign] says that it runs the set.
	Shared *Shared
	// Limiter is that of Writer, Live and Caches; default: none. A write waits for its turn before what it depends on is read.
	Limiter *client.Limiter
	// CacheSyncTimeout is how long [Engine.Settle] waits for first lists; 0 for as long as it takes.
	CacheSyncTimeout time.Duration
}

// Detail is how much is told of what rules decide.
type Detail struct {
	// Explain gives the decisions of rules that did not match a reason, which costs time.
	Explain bool
	// Unmasked gives the Observer, the Recorder and reports the values of Secrets as they
	// are, to somebody who masks them.
	Unmasked bool
}

// Caches is what the engine needs of [informer.Set].
type Caches interface { //nolint:interfacebloat // The parts of an engine share one thing.
	lookup.Source
	View(key informer.Key, namespace, name string) informer.View
	Names(key informer.Key) []types.NamespacedName
	// Count is how many objects a cache has.
	Count(key informer.Key) int
	// Version is the resourceVersion up to which a cache is complete, empty where it
	// is not synced.
	Version(key informer.Key) string
	// Fresh reports whether a cache shows all that the API server had at a moment less than
	// [informer.MaxStaleness] ago, and returns that moment. It does not wait.
	Fresh(key informer.Key) (at time.Time, fresh bool)
	// Writing is called before a request that writes, and the returned function with the resourceVersion of the answer, if it has
	// changed something.
	Writing(gvr schema.GroupVersionResource) (changed func(version string))
	// Relist has a cache listed anew that was found to lack something.
	Relist(key informer.Key)
	// Want runs exactly these caches, but for those that are denied. What they do not keep yet is filled in beside them, or while
	// they are not complete.
	Want(keys []informer.Key, keeps informer.Keeps, beside bool)
	// Deny drops those of the wanted caches that are denied, and runs the others. When it
	// returns nothing of what was dropped is shown, nor told to be complete.
	Deny(denied map[informer.Key]error)
	Stop()
}

// Live reads from the API server itself, past the caches.
type Live interface {
	// Get returns nil where there is no such object.
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
	Read(ctx context.Context, q plan.Read) ([]map[string]any, error)
	// List visits the objects of a selection.
	List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error
}

// Observer receives what the engine does. Its methods must return quickly and are called by all workers at the same time.
type Observer interface { //nolint:interfacebloat // One method for each thing that is told.
	// Looked is called for each evaluation, and Evaluated then for each of its decisions.
	Looked(snapshot rules.Snapshot, decisions []plan.Decision)
	Evaluated(key Key, decision plan.Decision)
	// Concluded is called with what could not be done about an object each time that its rules have been evaluated, or could not
	// be, and Forgot when nothing is remembered of it any more.
	Concluded(key Key, failures []guard.Failure)
	Forgot(key Key)
	// Settled is called when the rules have done with an object. Took is the time since the first
	// change after they had done with it before.
	Settled(key Key, took time.Duration)
	// Wrote is called for every operation that was sent because of an object, and for those that were not
	// only because of a dry run or the mode of a rule.
	Wrote(key Key, operation plan.Operation, class write.Class)
	// Recorded is called for every attempt to record an Event; err is nil where
	// it succeeded.
	Recorded(event plan.Event, err error)
	// Audited is called for every Event that a rule in mode Audit would record, with each evaluation that wants it. One that it records
	// only once a write of it has succeeded is among them.
	Audited(key Key, event plan.Event)
	// Spared is called with the number of changes that were wanted and not sent, as they are known to
	// have no effect.
	Spared(key Key, changes int)
	// Paused is called for each rule that pauses because of its limits. It must not call the engine.
	Paused(pause limit.Pause)
}

// NopObserver ignores everything.
type NopObserver struct{}

// Looked implements [Observer].
func (NopObserver) Looked(rules.Snapshot, []plan.Decision) {}

// Concluded implements [Observer].
func (NopObserver) Concluded(Key, []guard.Failure) {}

// Forgot implements [Observer].
func (NopObserver) Forgot(Key) {}

// Paused implements [Observer].
func (NopObserver) Paused(limit.Pause) {}

// Evaluated implements [Observer].
func (NopObserver) Evaluated(Key, plan.Decision) {}

// Wrote implements [Observer].
func (NopObserver) Wrote(Key, plan.Operation, write.Class) {}

// Recorded implements [Observer].
func (NopObserver) Recorded(plan.Event, error) {}

// Audited implements [Observer].
func (NopObserver) Audited(Key, plan.Event) {}

// Settled implements [Observer].
func (NopObserver) Settled(Key, time.Duration) {}

// Spared implements [Observer].
func (NopObserver) Spared(Key, int) {}

// Report is what settling came to.
type Report struct {
	Objects   int // objects that rules looked at
	Written   int // operations that changed an object
	Simulated int // operations of a dry run
	Audited   int // operations that rules in mode Audit would have sent
	Waiting   int // objects of which a rule waits for time to pass
	Failures  []Failure
	Deferred  []Failure         // no failures: what waits for a wave of a rollout, and why
	Unlisted  []informer.Status // what could not be listed
	TimedOut  bool              // some of that was not listed within [Pace.CacheSyncTimeout]
	// Unkept is why the housekeeping could not be done, nil where it was or there is
	// none.
	Unkept error
}

// Failure is something that could not be done about an object.
type Failure struct {
	Key Key
	guard.Failure
}

// Housekeeping is how rules that are gone are cleaned up after.
type Housekeeping struct {
	// Inventory remembers what rules may have left on objects. A rule writes what has
	// to be cleaned up only once it is recorded there.
	Inventory inventory.Part
	// Sweep cleans up, and returns what is done; see package cleanup. Its writer is wrapped in what the engine returns for it.
	Sweep func(ctx context.Context, leftovers []plan.Leftover, wrap func(cleanup.Writer) cleanup.Writer) (done []plan.Leftover, err error)
	// Left returns those of which something is left, or of which that cannot be found out. It changes nothing. Nil is for all.
	Left func(ctx context.Context, leftovers []plan.Leftover) []plan.Leftover
	// Kept is told, by set, why nothing is cleaned up of sets because rules of them cannot work: each time that this is looked at.
	// Nil is for nobody.
	Kept func(why map[plan.Rule]error)
	// Prune reports whether to clean up after a whole set that is gone, which otherwise
	// is only reported. It is asked with the set of a rule: the name is empty. A set that
	// somebody else runs must not be among them. Nil is for never.
	Prune func(set plan.Rule) bool
}
