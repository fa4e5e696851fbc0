package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// errContradicted is why an operation is not sent that a cache was wrong about.
var errContradicted = errors.New("a live read does not confirm what the cache showed, so it is decided anew")

// confirm reads live what an operation was decided by, where it cannot be taken back.
// It returns the answer instead of sending the operation, or nil.
func (a *attempt) confirm(ctx context.Context, operation plan.Operation) *write.Result {
	for _, q := range operation.Confirm {
		live, err := a.engine.options.Live.Read(ctx, q)
		if err != nil {
			err = fmt.Errorf("confirming what %s of %s was decided by: %w", operation.Type, operation.Target, err)
			return unconfirmed(err)
		}
		others := slices.DeleteFunc(slices.Clone(live), func(object map[string]any) bool { return a.made[uidOf(object)] })
		if !slices.Equal(uids(others), a.asked.found(q)) {
			return a.contradicted(ctx, q, live)
		}
	}
	return nil
}

// verify makes sure that an operation is not decided by the past. The watched object, because of which another object is
// written, and what its rules have looked up, because of which one is made, deleted or let go, are as the evaluation has
// seen them, or were so less than [informer.MaxStaleness] ago: a fresh cache says so, or a live read. What is written to
// the watched object itself is guarded by its resourceVersion.
//
// It returns the answer instead of sending the operation, or nil and until when it may be sent.
func (a *attempt) verify(ctx context.Context, operation plan.Operation) (until time.Time, contradicted *write.Result) {
	a.verifying.Lock()
	defer a.verifying.Unlock()
	until = a.engine.options.Clock.Now().Add(informer.MaxStaleness)
	check := func(what string, look func(context.Context) (time.Time, *write.Result)) bool {
		at, known := a.verified[what]
		if !known || a.engine.age(at) >= informer.MaxStaleness/2 {
			if at, contradicted = look(ctx); contradicted != nil {
				return false
			}
			a.verified[what] = at
		}
		if end := at.Add(informer.MaxStaleness); end.Before(until) {
			until = end
		}
		return true
	}
	itself := guard.KeyOf(operation.Target) == a.Key
	if !itself && a.asked.watched != nil && !check("", a.asWatched) {
		return until, contradicted
	}
	made := operation.Type == plan.Create || operation.Target.UID == ""
	letGo := itself && plan.BeingDeleted(a.asked.watched)
	if !made && !letGo && operation.Type != plan.Delete {
		return until, nil
	}
	for _, q := range operation.Reads {
		if !check(q.Key(), func(ctx context.Context) (time.Time, *write.Result) { return a.asAnswered(ctx, q) }) {
			return until, contradicted
		}
	}
	return until, nil
}

// age is the time since a moment, also if the process or its machine has slept meanwhile.
func (e *Engine) age(at time.Time) time.Duration { return informer.Age(e.options.Clock.Now(), at) }

// fresh is [Seen.Fresh] without what was known before this engine began to work: the leader before may have written since.
func (e *Engine) fresh(cache informer.Key) (at time.Time, fresh bool) {
	at, fresh = e.caches.Fresh(cache)
	return at, fresh && !at.Before(e.began)
}

// asWatched returns a moment at which the watched object was as it was evaluated, and the answer instead of an operation
// where it is another one by now. What a live read has shown counts for the next evaluations too, once a cache shows it:
// an object that changes all the time is never in a cache as it is read.
func (a *attempt) asWatched(ctx context.Context) (time.Time, *write.Result) {
	e, uid, version := a.engine, uidOf(a.asked.watched), a.version
	for _, cache := range a.now.of[a.Key.GVR] {
		at, fresh := e.fresh(cache)
		if fresh && sameObject(e.caches.View(cache, a.Key.Namespace, a.Key.Name).Object, a.asked.watched) {
			return at, nil
		}
	}
	if read := a.record.read; read.version != "" && e.age(read.at) < informer.MaxStaleness/2 && isAtLeast(version, read.version) {
		return read.at, nil
	}
	at := e.options.Clock.Now()
	live, err := e.options.Live.Get(ctx, a.Key.GVR, a.Key.Namespace, a.Key.Name)
	if err != nil {
		return at, unconfirmed(fmt.Errorf("reading the object that it is decided by: %w", err))
	}
	object := plan.Object{GVR: a.Key.GVR, Namespace: a.Key.Namespace, Name: a.Key.Name, UID: uid}
	if uidOf(live) != uid {
		return at, &write.Result{Class: write.Stale, Err: errContradicted, Echo: &write.Echo{Object: object, Gone: true}}
	}
	a.record.read = readVersion{versionOf(live), at}
	if versionOf(live) == version {
		return at, nil
	}
	object.ResourceVersion = versionOf(live)
	return at, &write.Result{Class: write.Stale, Err: errContradicted, Echo: &write.Echo{Object: object}, Object: live}
}

// asAnswered is the same for a question that the evaluation has asked. What the plan has written itself since
// contradicts nothing.
func (a *attempt) asAnswered(ctx context.Context, q plan.Read) (time.Time, *write.Result) {
	saw, others := a.asked.answers[q.Key()].objects, func(found []map[string]any) []map[string]any {
		return slices.DeleteFunc(slices.Clone(found), func(object map[string]any) bool { return a.made[uidOf(object)] })
	}
	now := a.engine.options.Clock.Now()
	at, fresh := now, true
	for _, from := range q.From {
		since, is := a.engine.fresh(informer.Key(from))
		if fresh = fresh && is; since.Before(at) {
			at = since
		}
	}
	if fresh {
		if cached, err := a.engine.caches.Read(q); err == nil && slices.Equal(versions(others(cached)), versions(others(saw))) {
			return at, nil
		}
	}
	live, err := a.engine.options.Live.Read(ctx, q)
	switch {
	case err != nil:
		return now, unconfirmed(fmt.Errorf("reading what it is decided by: %w", err))
	case !slices.Equal(versions(others(live)), versions(others(saw))):
		return now, a.contradicted(ctx, q, live)
	default:
		return now, nil
	}
}

// contradicted has the caches show what they have missed, if there is something still.
func (a *attempt) contradicted(ctx context.Context, q plan.Read, live []map[string]any) *write.Result {
	result := &write.Result{Class: write.Stale, Err: errContradicted}
	cached, err := a.engine.caches.Read(q)
	if err != nil {
		return result
	}
	if missed := lacking(live, cached); missed != nil {
		result.Echo, result.Object = &write.Echo{Object: objectOf(q, missed)}, missed
		return result
	}
	extra := lacking(cached, live)
	if extra == nil {
		return result
	}
	// It may be gone, or not be what was asked for any more.
	object := objectOf(q, extra)
	switch there, err := a.engine.options.Live.Get(ctx, object.GVR, object.Namespace, object.Name); {
	case err != nil:
	case uidOf(there) == object.UID:
		object.ResourceVersion = versionOf(there)
		result.Echo, result.Object = &write.Echo{Object: object}, there
	default:
		object.ResourceVersion = ""
		result.Echo = &write.Echo{Object: object, Gone: true}
	}
	return result
}

func uids(objects []map[string]any) []types.UID {
	out := make([]types.UID, len(objects))
	for i, object := range objects {
		out[i] = uidOf(object)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// versions are the objects, each with its version, in order.
func versions(objects []map[string]any) []string {
	out := make([]string, len(objects))
	for i, object := range objects {
		out[i] = string(uidOf(object)) + " " + versionOf(object)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lacking is the first object that others do not have in this version, nil where there is none.
func lacking(objects, others []map[string]any) map[string]any {
	known := versions(others)
	for _, object := range objects {
		if !slices.Contains(known, versions([]map[string]any{object})[0]) {
			return object
		}
	}
	return nil
}

// sameObject reports whether a cache has an object in the same version.
func sameObject(cached *unstructured.Unstructured, object map[string]any) bool {
	return cached != nil && cached.GetUID() == uidOf(object) && cached.GetResourceVersion() == versionOf(object)
}

func objectOf(q plan.Read, object map[string]any) plan.Object {
	return plan.Object{
		GVR: q.From[0].GVR, Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name"),
		UID: uidOf(object), ResourceVersion: versionOf(object),
	}
}
