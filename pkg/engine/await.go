package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// doubtful is after how long the API server is asked whether a cache is right that does not show a write.
const doubtful = 2 * recheck

// echoTimeout is how long a settling engine waits for the caches to see a write.
const echoTimeout = time.Minute

var errUnseen = errors.New("the caches do not show the last write")

var errSilent = fmt.Errorf("the watch has not shown the last write for %s", echoTimeout)

// expectation is what the caches have to show of a write.
type expectation struct {
	write.Echo
	mask *mask.Masker // of the evaluation that wrote it
	// skips are the caches that the object is not in and does not enter. Of one that
	// the rules want later, nothing is known: it has to show that it has seen so much.
	skips []informer.Key
	// before is the object as the caches showed it when it was written, nil of an engine that does not settle.
	before []map[string]any
}

// expect has the caches show what was written before the object of the record is
// evaluated again. fields are the object as it came back, nil where that is not known:
// they tell which caches it enters.
func (c *core) expect(now *active, record *record, a expectation, fields map[string]any) {
	for _, cache := range now.holding(a.Object) {
		held := c.caches.View(cache, a.Object.Namespace, a.Object.Name).Object != nil
		if !held && (fields == nil || !now.admits(cache, fields)) {
			a.skips = append(a.skips, cache)
		}
	}
	if record.awaits == nil {
		record.awaits = map[guard.Object]expectation{}
	}
	record.waits.Store(true)
	at := guard.KeyOf(a.Object).Object()
	a.before = append(a.before, record.awaits[at].before...)
	record.awaits[at] = a // What was written to the same object before is seen with it.
	record.since = c.options.Clock.Now()
}

// awaiting reports whether a cache has still to show what was written, and forgets what has been shown. It may read live, and
// have a cache listed anew. What only caches that are not complete have to show keeps nobody from going on, and is remembered
// until they are: a list that is under way may be older. An event of what is waited for queues the object that waits.
func (c *core) awaiting(ctx context.Context, now *active, key Key, record *record) bool {
	for at, a := range record.awaits {
		complete := true
		for _, cache := range now.holding(a.Object) {
			if at != key.Object() || cache.GVR != key.GVR { // Asked first: a change that the view does not show yet is told.
				c.related.Ask(key, plan.Read{
					From: []plan.Selection{cache}, By: plan.ByName, Namespace: a.Object.Namespace, Names: []string{a.Object.Name},
				})
			}
			view := c.caches.View(cache, a.Object.Namespace, a.Object.Name)
			switch {
			case view.Object == nil && slices.Contains(a.skips, cache):
			case !view.Synced:
				complete = false
			case !c.shows(cache, view, a) && !c.agrees(ctx, cache, view, a, record.since):
				return true
			}
		}
		if complete {
			if delete(record.awaits, at); len(record.awaits) == 0 {
				record.awaits = nil // A map keeps its room.
			}
			c.enqueueOthers(now, key, a)
		}
	}
	return false
}

// enqueueOthers queues, for an engine that settles, whom else a write concerns that the caches show: the object in other versions, and
// who has read it, also as it was before. A cache shows a change before it tells it, so nothing else may keep the engine from ending in
// between.
func (c *core) enqueueOthers(now *active, writer Key, written expectation) {
	if c.runs() == forever || c.runs() == stepwise {
		return
	}
	object := written.Object
	for _, cache := range now.holding(object) {
		var concerned []Key
		if now.watched[cache] {
			concerned = append(concerned, Key{GVR: cache.GVR, Namespace: object.Namespace, Name: object.Name})
		}
		if c.related.Asked(cache) {
			after := c.caches.View(cache, object.Namespace, object.Name).Object.Fields()
			for _, fields := range append(written.before, after) {
				concerned = append(concerned, c.related.Concerned(cache, fields, nil)...)
			}
		}
		c.enqueueEach(slices.DeleteFunc(concerned, func(key Key) bool { return key == writer }))
	}
}

// shows reports whether a complete cache shows what was written, or something later.
func (c *core) shows(cache informer.Key, view informer.View, a expectation) bool {
	switch {
	case view.Object == nil:
		return a.Gone || isAtLeast(c.caches.Version(cache), a.Object.ResourceVersion)
	case !a.Gone:
		return isAtLeast(view.Object.ResourceVersion(), a.Object.ResourceVersion)
	case view.Object.UID() != a.Object.UID:
		return true
	default: // Of what is gone the API server may show first that it is on its way.
		return plan.BeingDeleted(view.Object.Fields()) && a.Object.ResourceVersion != "" &&
			isAtLeast(view.Object.ResourceVersion(), a.Object.ResourceVersion)
	}
}

// agrees asks the API server whether a cache shows what is there, although it does not show what was written. Versions of
// some API servers cannot be compared, and a restore of etcd from a snapshot takes back what was written. A cache that is
// still wrong after a while is listed anew: its watch may deliver nothing any more.
func (c *core) agrees(ctx context.Context, cache informer.Key, view informer.View, a expectation, since time.Time) bool {
	version, late := c.caches.Version(cache), c.age(since) >= doubtful
	if _, err := resourceversion.CompareResourceVersion(version, version); err == nil && !late {
		return false
	}
	live, err := c.options.Live.Get(a.mask.Context(ctx), a.Object.GVR, a.Object.Namespace, a.Object.Name)
	switch {
	case err != nil:
		return false
	case view.Object == nil && (live == nil || !cache.Admits(live)):
		return true
	case sameObject(view.Object, live) && (!a.Gone || !plan.BeingDeleted(view.Object.Fields())):
		return true
	}
	if late {
		c.caches.Relist(cache)
	}
	return false
}

// await leaves an object alone until the caches have seen what was written for it. No
// time passes for who drives the engine, so a few turns count.
func (c *core) await(record *record) guard.Outcome {
	if c.runs() == stepwise {
		return failed(guard.Retryable, nil, errUnseen)
	}
	if c.runs() != forever && c.options.Clock.Since(record.since) >= echoTimeout {
		return failed(guard.Hopeless, nil, errSilent)
	}
	return guard.Outcome{State: guard.Waiting}
}
