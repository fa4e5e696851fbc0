package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// recheck is how often an object that waits for the caches is looked at although
// they tell nothing: what is missed in a relist is told by no event.
const recheck = 5 * time.Second

// echoTimeout is how long a settling engine waits for the caches to see a write.
const echoTimeout = time.Minute

var errUnseen = errors.New("the caches do not show the last write")

var errSilent = fmt.Errorf("the watch has not shown the last write for %s", echoTimeout)

// await is what the caches have to show of a write.
type await struct {
	write.Echo
	// skips are the caches that the object is not in and does not enter. Of one that
	// the rules want later, nothing is known: it has to show that it has seen so much.
	skips []informer.Key
}

// expect has the caches show what was written before the object of the record is
// evaluated again. fields are the object as it came back, nil where that is not known:
// they tell which caches it enters. Who waits is noted first, so that an event that
// comes while it is found out whether to wait is not lost.
func (e *Engine) expect(now *active, key Key, record *record, a await, fields map[string]any) {
	at := keyOf(a.Object).ofAnyVersion()
	e.waiters.add(at, key)
	e.news.wrote(key, version{at, a.Object.ResourceVersion})
	for _, cache := range now.holding(a.Object) {
		held := e.caches.View(cache, a.Object.Namespace, a.Object.Name).Object != nil
		if !held && (fields == nil || !plan.Selection(cache).Admits(fields)) {
			a.skips = append(a.skips, cache)
		}
	}
	if record.awaits == nil {
		record.awaits = map[Key]await{}
	}
	record.awaits[at] = a // What was written to the same object before is seen with it.
	record.since = e.options.Clock.Now()
}

// awaiting reports whether a cache has still to show what was written. What only
// caches that are not complete have to show keeps nobody from going on, and is
// remembered until they are: a list that is under way may be older.
func (e *Engine) awaiting(ctx context.Context, now *active, key Key, record *record) bool {
	for at, a := range record.awaits {
		switch e.shown(ctx, now, a) {
		case notYet:
			return true
		case perhaps:
		case shown:
			delete(record.awaits, at)
			e.waiters.remove(at, key)
		}
	}
	return false
}

// showing is whether something is seen.
type showing uint8

const (
	shown   showing = iota
	perhaps         // by a cache that is not complete
	notYet
)

// shown is the worst of what the caches say.
func (e *Engine) shown(ctx context.Context, now *active, a await) showing {
	worst := shown
	for _, cache := range now.holding(a.Object) {
		view := e.caches.View(cache, a.Object.Namespace, a.Object.Name)
		switch {
		case view.Object == nil && slices.Contains(a.skips, cache):
		case !view.Synced:
			worst = max(worst, perhaps)
		case !e.shows(ctx, cache, view, a):
			return notYet
		}
	}
	return worst
}

// shows reports whether a complete cache shows what was written, or something later.
func (e *Engine) shows(ctx context.Context, cache informer.Key, view informer.View, a await) bool {
	switch {
	case view.Object == nil:
		return a.Gone || e.reached(ctx, cache, view, e.caches.Version(cache), a)
	case !a.Gone:
		return e.reached(ctx, cache, view, view.Object.GetResourceVersion(), a)
	case view.Object.GetUID() != a.Object.UID:
		return true
	case view.Object.GetDeletionTimestamp() == nil:
		return false
	case a.Object.ResourceVersion == "":
		return false // Of what is gone the API server may show first that it is on its way.
	default:
		return e.reached(ctx, cache, view, view.Object.GetResourceVersion(), a)
	}
}

// reached reports whether a version is that of the object, or later. Where versions
// cannot be compared, the API server is asked whether the cache shows what is there.
func (e *Engine) reached(ctx context.Context, cache informer.Key, view informer.View, version string, a await) bool {
	if version == a.Object.ResourceVersion {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(version, a.Object.ResourceVersion)
	if err == nil {
		return order >= 0
	}
	live, err := e.options.Live.Get(ctx, a.Object.GVR, a.Object.Namespace, a.Object.Name)
	switch {
	case err != nil:
		return false
	case view.Object == nil:
		return live == nil || !plan.Selection(cache).Admits(live)
	default:
		return versionOf(live) == view.Object.GetResourceVersion()
	}
}

// await leaves an object alone until the caches have seen what was written for it. No
// time passes for who drives the engine, so a few turns count.
func (e *Engine) await(record *record) outcome {
	if e.driven() {
		return outcome{}.failed(trouble{err: errUnseen}, false)
	}
	if e.open.keeping() && e.options.Clock.Since(record.since) >= echoTimeout {
		return outcome{}.failed(trouble{err: errSilent}, true)
	}
	return outcome{state: waiting}
}
