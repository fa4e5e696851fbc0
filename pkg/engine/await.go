package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// recheck is how often an object that waits for the caches is looked at although
// they tell nothing: what is missed in a relist is told by no event.
const recheck = 5 * time.Second

// doubtful is after how long the API server is asked whether a cache is right that does not show a write.
const doubtful = 2 * recheck

// echoTimeout is how long a settling engine waits for the caches to see a write.
const echoTimeout = time.Minute

var errUnseen = errors.New("the caches do not show the last write")

var errSilent = fmt.Errorf("the watch has not shown the last write for %s", echoTimeout)

// await is what the caches have to show of a write.
type await struct {
	write.Echo
	// hidden is what must not be told of the evaluation that wrote it.
	hidden *masker
	// skips are the caches that the object is not in and does not enter. Of one that
	// the rules want later, nothing is known: it has to show that it has seen so much.
	skips []informer.Key
}

// expect has the caches show what was written before the object of the record is
// evaluated again. fields are the object as it came back, nil where that is not known:
// they tell which caches it enters. Who waits is noted first, so that an event that
// comes while it is found out whether to wait is not lost.
func (e *Engine) expect(now *active, key Key, record *record, a await, fields map[string]any) {
	at := guard.KeyOf(a.Object).Object()
	e.waiters.add(at, key)
	e.news.wrote(key, version{at, a.Object.ResourceVersion})
	for _, cache := range now.holding(a.Object) {
		held := e.caches.View(cache, a.Object.Namespace, a.Object.Name).Object != nil
		if !held && (fields == nil || !now.admits(cache, fields)) {
			a.skips = append(a.skips, cache)
		}
	}
	if record.awaits == nil {
		record.awaits = map[guard.Object]await{}
	}
	record.awaits[at] = a // What was written to the same object before is seen with it.
	record.since = e.options.Clock.Now()
}

// awaiting reports whether a cache has still to show what was written. What only
// caches that are not complete have to show keeps nobody from going on, and is
// remembered until they are: a list that is under way may be older.
func (e *Engine) awaiting(ctx context.Context, now *active, key Key, record *record) bool {
	for at, a := range record.awaits {
		switch e.shown(ctx, now, a, record.since) {
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

// shown is the worst of what the caches say of something that is waited for since then.
func (e *Engine) shown(ctx context.Context, now *active, a await, since time.Time) showing {
	worst := shown
	for _, cache := range now.holding(a.Object) {
		view := e.caches.View(cache, a.Object.Namespace, a.Object.Name)
		switch {
		case view.Object == nil && slices.Contains(a.skips, cache):
		case !view.Synced:
			worst = max(worst, perhaps)
		case !e.shows(cache, view, a) && !e.agrees(ctx, cache, view, a, since):
			return notYet
		}
	}
	return worst
}

// shows reports whether a complete cache shows what was written, or something later.
func (e *Engine) shows(cache informer.Key, view informer.View, a await) bool {
	switch {
	case view.Object == nil:
		return a.Gone || isAtLeast(e.caches.Version(cache), a.Object.ResourceVersion)
	case !a.Gone:
		return isAtLeast(view.Object.GetResourceVersion(), a.Object.ResourceVersion)
	case view.Object.GetUID() != a.Object.UID:
		return true
	default: // Of what is gone the API server may show first that it is on its way.
		return view.Object.GetDeletionTimestamp() != nil && a.Object.ResourceVersion != "" &&
			isAtLeast(view.Object.GetResourceVersion(), a.Object.ResourceVersion)
	}
}

// agrees asks the API server whether a cache shows what is there, although it does not show what was written. Versions of
// some API servers cannot be compared, and a restore of etcd from a snapshot takes back what was written. A cache that is
// still wrong after a while is listed anew: its watch may deliver nothing any more.
func (e *Engine) agrees(ctx context.Context, cache informer.Key, view informer.View, a await, since time.Time) bool {
	version, late := e.caches.Version(cache), e.age(since) >= doubtful
	if _, err := resourceversion.CompareResourceVersion(version, version); err == nil && !late {
		return false
	}
	live, err := e.options.Live.Get(a.hidden.context(ctx), a.Object.GVR, a.Object.Namespace, a.Object.Name)
	switch {
	case err != nil:
		return false
	case view.Object == nil && (live == nil || !plan.Selection(cache).Admits(live)):
		return true
	case sameObject(view.Object, live) && (!a.Gone || view.Object.GetDeletionTimestamp() == nil):
		return true
	}
	if late {
		e.caches.Relist(cache)
	}
	return false
}

// await leaves an object alone until the caches have seen what was written for it. No
// time passes for who drives the engine, so a few turns count.
func (e *Engine) await(record *record) guard.Outcome {
	if e.driven() {
		return failed(nil, errUnseen, false)
	}
	if e.open.keeping() && e.options.Clock.Since(record.since) >= echoTimeout {
		return failed(nil, errSilent, true)
	}
	return guard.Outcome{State: guard.Waiting}
}

// waiters are the objects that wait for the caches to show others. The zero value
// has none. It is safe for concurrent use.
type waiters struct {
	mu sync.Mutex
	of map[guard.Object]map[Key]bool // by the object waited for; guarded by mu
}

func (w *waiters) add(at guard.Object, key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[guard.Object]map[Key]bool{}
	}
	if w.of[at] == nil {
		w.of[at] = map[Key]bool{}
	}
	w.of[at][key] = true
}

func (w *waiters) remove(at guard.Object, key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of[at], key)
	if len(w.of[at]) == 0 {
		delete(w.of, at)
	}
}

// at lists who waits for an object.
func (w *waiters) at(object guard.Object) []Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.of[object]))
}
