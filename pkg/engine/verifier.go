package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// errContradicted is why an operation is not sent that a cache was wrong about.
var errContradicted = errors.New("a live read does not confirm what the cache showed, so it is decided anew")

// verifier finds out whether what a plan was decided by is so still. Operations that are sent at the same time ask at the same
// time.
type verifier struct {
	*cluster
	key       Key
	informers []informer.Key     // of the resource of the watched object
	keeps     *projection.Fields // of that resource
	asked     *source
	read      *readVersion
	version   string             // of the watched object, as the plan has left it
	own       map[types.UID]bool // what the plan has written itself, which contradicts nothing

	// turn has a value while an operation finds out. It is no mutex, since what waits for it waits for requests: with its context, and so that
	// a bubble of testing/synctest knows of it.
	turn chan struct{}
	// verified is when what the plan was decided by was so still: the watched object, by "" or, read live, "live", and the
	// answers to questions, by their keys. It belongs to whose turn it is.
	verified map[string]time.Time
}

// confirm reads live what an operation was decided by, where it cannot be taken back. It returns the answer instead of sending
// the operation, or nil.
func (v *verifier) confirm(ctx context.Context, o plan.Operation) *write.Result {
	for _, q := range o.ToConfirm() {
		live, err := v.live.Read(ctx, q)
		if err != nil {
			return unconfirmed(fmt.Errorf("confirming what %s of %s was decided by: %w", o.Type, o.Target, err))
		}
		// What was not asked in these words are the names among others of which there was nothing.
		if !slices.Equal(identities(v.others(live), uidOf), identities(v.asked.answers[q.Key()].objects, uidOf)) {
			return v.contradicted(ctx, q, live)
		}
	}
	return nil
}

// verify makes sure that an operation is not decided by the past. The watched object, because of which another object is
// written, and what its rules have looked up, because of which one is made or deleted, or loses a finalizer, are as the evaluation has
// seen them, or were so less than [informer.MaxStaleness] ago: a fresh cache says so, or a live read. For a new leader, that goes for what
// its rules have looked up before anything is written. What is written to the watched object itself is guarded by its resourceVersion.
//
// It returns the answer instead of sending the operation, or nil and until when it may be sent.
func (v *verifier) verify(ctx context.Context, o plan.Operation) (until time.Time, contradicted *write.Result) {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return v.clock.Now(), unconfirmed(fmt.Errorf("waiting to find out what it is decided by: %w", context.Cause(ctx)))
	}
	until = v.clock.Now().Add(informer.MaxStaleness)
	holds := func(what string, look func() (time.Time, *write.Result)) bool {
		at, known := v.verified[what]
		if !known || v.age(at) >= informer.MaxStaleness/2 {
			if at, contradicted = look(); contradicted != nil {
				return false
			}
			v.verified[what] = at
		}
		if end := at.Add(informer.MaxStaleness); end.Before(until) {
			until = end
		}
		return true
	}
	itself := guard.KeyOf(o.Target) == v.key
	if !itself && v.asked.watched != nil {
		what, look := "", v.verifyWatched
		if adopts(o) {
			what, look = "live", v.readWatched
		}
		if !holds(what, func() (time.Time, *write.Result) { return look(ctx) }) {
			return until, contradicted
		}
	}
	if !o.Irreversible() && v.hasTakenOver(o.Reads) {
		return until, nil
	}
	for _, q := range o.Reads {
		if !holds(q.Key(), func() (time.Time, *write.Result) { return v.verifyAnswer(ctx, q) }) {
			return until, contradicted
		}
	}
	return until, nil
}

// verifyWatched returns a moment at which the watched object was as it was evaluated, and the answer instead of an operation
// where it is another one by now. What a live read has shown counts for the next evaluations too, once a cache shows it:
// an object that changes all the time is never in a cache as it is read.
func (v *verifier) verifyWatched(ctx context.Context) (time.Time, *write.Result) {
	for _, cache := range v.informers {
		at, fresh := v.fresh(cache)
		if fresh && sameObject(v.caches.View(cache, v.key.Namespace, v.key.Name).Object, v.asked.watched) {
			return at, nil
		}
	}
	if v.read.version != "" && v.age(v.read.at) < informer.MaxStaleness/2 && isAtLeast(v.version, v.read.version) {
		return v.read.at, nil
	}
	return v.readWatched(ctx)
}

// adopts reports whether an operation changes who owns an object that is there. Kubernetes' own controllers read an owner live before they
// adopt for it: when it is deleted and its children are to stay, garbage collection takes the owner off them a moment later. One
// that got its owner back, from a cache that does not show the deletion yet, would be deleted.
func adopts(o plan.Operation) bool {
	return o.Target.UID != "" && slices.ContainsFunc(o.Changes, func(c plan.Change) bool {
		return len(c.Path) > 1 && c.Path[0] == "metadata" && c.Path[1] == "ownerReferences"
	})
}

// readWatched is verifyWatched with a live read.
func (v *verifier) readWatched(ctx context.Context) (time.Time, *write.Result) {
	now := v.clock.Now()
	there, err := v.live.Get(live.Keeping(ctx, v.keeps), v.key.GVR, v.key.Namespace, v.key.Name)
	if err != nil {
		return now, unconfirmed(fmt.Errorf("reading the object that it is decided by: %w", err))
	}
	object := plan.Object{GVR: v.key.GVR, Namespace: v.key.Namespace, Name: v.key.Name, UID: uidOf(v.asked.watched)}
	if uidOf(there) == object.UID {
		*v.read = readVersion{versionOf(there), now}
		if v.read.version == v.version {
			return now, nil
		}
	}
	return now, stale(object, there, errContradicted)
}

// verifyAnswer is the same for the answer to a question that the evaluation has asked. An answer that takes longer to read than it may be
// old is never read in time, however often: a list of very many objects, or of large ones. That its caches are fresh is found out
// without it, a second later.
func (v *verifier) verifyAnswer(ctx context.Context, q plan.Read) (time.Time, *write.Result) {
	saw := identities(v.others(v.asked.answers[q.Key()].objects), versioned)
	if at, fresh, same := v.cached(q, saw); fresh && same {
		return at, nil
	}
	now := v.clock.Now()
	reading, cancel := context.WithTimeout(ctx, informer.MaxStaleness-timeToSend)
	defer cancel()
	live, err := v.live.Read(reading, q)
	switch {
	case err != nil && reading.Err() != nil && ctx.Err() == nil:
		return v.awaitFresh(ctx, q, saw)
	case err != nil:
		return now, unconfirmed(fmt.Errorf("reading what it is decided by: %w", err))
	case !slices.Equal(identities(v.others(live), versioned), saw):
		return now, v.contradicted(ctx, q, live)
	default:
		return now, nil
	}
}

// cached reports whether the caches that have the answer to a question are fresh, as of when, and have what the evaluation has seen.
func (v *verifier) cached(q plan.Read, saw []types.UID) (at time.Time, fresh, same bool) {
	at, fresh = v.clock.Now(), true
	for _, from := range q.From {
		since, is := v.fresh(from)
		if fresh = fresh && is; since.Before(at) {
			at = since
		}
	}
	if !fresh {
		return at, false, false
	}
	cached, err := v.caches.Read(q)
	return at, true, err == nil && slices.Equal(identities(v.others(cached), versioned), saw)
}

// awaitFresh is verifyAnswer by caches that become fresh, since they are asked for it: see [informer.Set.Fresh].
func (v *verifier) awaitFresh(ctx context.Context, q plan.Read, saw []types.UID) (at time.Time, contradicted *write.Result) {
	var same bool
	var err error
	workers.Call(ctx, workers.Purpose{GVR: q.From[0].GVR}, func() {
		err = wait.PollUntilContextTimeout(ctx, timeToSend, 2*informer.MaxStaleness, true, func(context.Context) (fresh bool, _ error) {
			at, fresh, same = v.cached(q, saw)
			return fresh, nil
		})
	})
	switch {
	case err != nil:
		err = fmt.Errorf("what it is decided by takes too long to read, and no cache is known to be as new: %w", err)
		return at, &write.Result{Class: write.Unreachable, Err: err}
	case !same:
		return at, &write.Result{Class: write.Stale, Err: errContradicted}
	default:
		return at, nil
	}
}

// contradicted has the caches show what they have missed, if there is something still.
func (v *verifier) contradicted(ctx context.Context, q plan.Read, live []map[string]any) *write.Result {
	cached, err := v.caches.Read(q)
	if missed := lacking(live, cached); err == nil && missed != nil {
		return stale(objectOf(q, missed), missed, errContradicted)
	}
	if extra := lacking(cached, live); extra != nil { // It may be gone, or not be what was asked for any more.
		object := objectOf(q, extra)
		if there, err := v.live.Get(ctx, object.GVR, object.Namespace, object.Name); err == nil {
			return stale(object, there, errContradicted)
		}
	}
	return &write.Result{Class: write.Stale, Err: errContradicted}
}

// stale is the answer to an operation where the caches have to show how an object is there.
func stale(object plan.Object, there map[string]any, err error) *write.Result {
	result := &write.Result{Class: write.Stale, Err: err}
	show(result, object, there)
	return result
}

// show adds to an answer how an object is there: the caches have to show that.
func show(result *write.Result, object plan.Object, there map[string]any) {
	if result.Echo = write.EchoOf(object, there); result.Echo != nil && !result.Echo.Gone {
		result.Object = there
	}
}

// predict returns an operation with what it does to the object as it is live, if that takes fields away which the manager gives up, or
// takes over from former ones: a cache may not have them, and has no entries of clients that are no rules. Where that cannot be
// read, or is another version, the operation is sent as it was decided, and the API server says what becomes of it.
func (v *verifier) predict(ctx context.Context, now *active, o plan.Operation) plan.Operation {
	if !o.GivesUp && !o.TakesOver || o.Orphans() || o.Target.UID == "" {
		return o
	}
	there, err := v.live.Get(live.Keeping(ctx, nil), o.Target.GVR, o.Target.Namespace, o.Target.Name)
	if err != nil || uidOf(there) != o.Target.UID || versionOf(there) != o.Target.ResourceVersion {
		return o
	}
	return now.Predict(o, there)
}

// others leaves out what the plan has written itself.
func (v *verifier) others(objects []map[string]any) []map[string]any {
	return slices.DeleteFunc(slices.Clone(objects), func(object map[string]any) bool { return v.own[uidOf(object)] })
}

// identities are the objects, each once and in order.
func identities(objects []map[string]any, of func(map[string]any) types.UID) []types.UID {
	out := make([]types.UID, len(objects))
	for i, object := range objects {
		out[i] = of(object)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// versioned is the uid of an object with its version.
func versioned(object map[string]any) types.UID {
	return uidOf(object) + types.UID(" "+versionOf(object))
}

// lacking is the first object that others do not have in this version, nil where there is none.
func lacking(objects, others []map[string]any) map[string]any {
	known := identities(others, versioned)
	i := slices.IndexFunc(objects, func(object map[string]any) bool {
		_, found := slices.BinarySearch(known, versioned(object))
		return !found
	})
	if i < 0 {
		return nil
	}
	return objects[i]
}
