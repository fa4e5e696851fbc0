package engine_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// cached is what one cache has seen.
type cached struct {
	key     informer.Key
	objects map[engine.Key]map[string]any
	// missed are the objects of which it has not seen the last change, with the version
	// after which it has seen nothing.
	missed map[engine.Key]int
}

// version is how far the cache has seen.
func (k *cached) version(now int) int {
	for _, version := range k.missed {
		now = min(now, version)
	}
	return now
}

// see lets the caches catch up with one object, and tells of it.
func (c *cluster) see(key engine.Key) {
	c.mu.Lock()
	wanted := slices.Clone(c.wanted)
	c.mu.Unlock()
	for _, cache := range wanted {
		if cache.GVR == key.GVR && (cache.Namespace == "" || cache.Namespace == key.Namespace) {
			c.seeIn(cache, key)
		}
	}
}

// seeIn lets one cache catch up, unless it is frozen.
func (c *cluster) seeIn(at informer.Key, key engine.Key) {
	c.mu.Lock()
	cache := c.caches[at]
	if c.frozen[at] || cache == nil {
		c.miss(cache, key)
		c.mu.Unlock()
		return
	}
	delete(cache.missed, key)
	before, after := cache.objects[key], c.stored[key]
	if after != nil && at.Admits(after) {
		cache.objects[key] = after
	} else {
		after = nil
		delete(cache.objects, key)
	}
	handler := c.handler
	event := informer.Event{Key: at, Namespace: key.Namespace, Name: key.Name, Before: c.kept(at, before), After: c.kept(at, after)}
	untold := c.untold
	c.mu.Unlock()
	if untold != nil {
		untold(at)
	}
	if handler != nil && (before != nil || after != nil) {
		handler.Changed(event)
	}
}

// show has a cache see an object as it was at a moment.
func (c *cluster) show(at informer.Key, object map[string]any) {
	key := keyOf(object)
	c.mu.Lock()
	before := c.caches[at].objects[key]
	c.caches[at].objects[key] = object
	event := informer.Event{Key: at, Namespace: key.Namespace, Name: key.Name, Before: c.kept(at, before), After: c.kept(at, object)}
	c.mu.Unlock()
	c.handler.Changed(event)
}

// miss notes that a cache has not seen the last change; the lock is held.
func (c *cluster) miss(cache *cached, key engine.Key) {
	if cache != nil && cache.key.GVR == key.GVR {
		if _, known := cache.missed[key]; !known {
			cache.missed[key] = c.changedAt[key] - 1
		}
	}
}

// thaw lets a cache that was frozen catch up with everything.
func (c *cluster) thaw(at informer.Key) {
	c.mu.Lock()
	delete(c.frozen, at)
	c.mu.Unlock()
	c.catchUp(at)
}

func (c *cluster) catchUp(at informer.Key) {
	c.mu.Lock()
	var missed []engine.Key
	if cache := c.caches[at]; cache != nil {
		missed = keys(cache.missed)
	}
	c.mu.Unlock()
	for _, key := range missed {
		c.seeIn(at, key)
	}
}

// restart forgets what a process that has ended had in its caches.
func (c *cluster) restart() {
	c.caches, c.wanted, c.asked, c.handler = map[informer.Key]*cached{}, nil, nil, nil
}

// sync has a cache become complete.
func (c *cluster) sync(at informer.Key) {
	c.locked(func() { delete(c.unsynced, at) })
	c.handler.Synced(at)
}

// projected is an object, by where it is in memory, as a cache keeps it.
type projected struct {
	keeps  *projection.Fields
	object unsafe.Pointer
}

// kept is what a cache keeps of an object, nil of none; the lock is held. As in real caches, an object that comes is projected once.
func (c *cluster) kept(at informer.Key, object map[string]any) *compact.Object {
	if object == nil {
		return nil
	}
	key := projected{c.keeps[at.GVR], reflect.ValueOf(object).UnsafePointer()}
	if c.projected[key] == nil {
		c.projected[key] = compact.New(key.keeps.Project(object))
	}
	return c.projected[key]
}

// Want implements [engine.Caches].
func (c *cluster) Want(wanted []informer.Key, keeps informer.Keeps, beside bool) {
	var onWant func()
	c.locked(func() { onWant = c.onWant })
	if onWant != nil {
		onWant()
	}
	c.locked(func() {
		if c.asked = wanted; !beside || !c.narrow {
			c.keeps = keeps
		}
	})
	c.adjust()
}

// Deny implements [engine.Caches].
func (c *cluster) Deny(denied map[informer.Key]error) {
	c.locked(func() { c.denied = denied })
	c.adjust()
}

// adjust runs the caches that are asked for and not denied. One that is complete at
// once is told.
func (c *cluster) adjust() {
	c.mu.Lock()
	wanted := slices.DeleteFunc(slices.Clone(c.asked), func(key informer.Key) bool {
		_, denied := c.denied[key]
		return denied
	})
	var added []informer.Key
	for _, key := range wanted {
		if c.caches[key] == nil || !slices.Contains(c.wanted, key) || c.prepared[key] {
			if !c.prepared[key] {
				c.caches[key] = c.listed(key)
			}
			delete(c.prepared, key)
			added = append(added, key)
		}
	}
	c.wanted = wanted
	c.started = append(c.started, added...)
	unsynced := sets.KeySet(c.unsynced)
	c.mu.Unlock()
	for _, key := range added {
		if !unsynced.Has(key) {
			c.handler.Synced(key)
		}
	}
}

// prepare has the caches of a set list now, before it is loaded.
func (c *cluster) prepare(selections ...[]plan.Selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prepared = map[informer.Key]bool{}
	for _, key := range slices.Concat(selections...) {
		c.caches[key], c.prepared[key] = c.listed(key), true
	}
	c.wanted = slices.Collect(maps.Keys(c.prepared))
}

func (c *cluster) listed(at informer.Key) *cached {
	out := &cached{key: at, objects: map[engine.Key]map[string]any{}, missed: map[engine.Key]int{}}
	for key, object := range c.stored {
		if key.GVR == at.GVR && at.Admits(object) {
			out.objects[key] = object
		}
	}
	return out
}

// cachesOf are what [engine.Caches] is of a cluster, which itself reads live.
type cachesOf struct{ *cluster }

// View implements [engine.Caches].
func (c cachesOf) View(key informer.Key, namespace, name string) informer.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.add(&c.seen.views)
	cache := c.caches[key]
	if cache == nil || !slices.Contains(c.wanted, key) {
		return informer.View{}
	}
	object := cache.objects[engine.Key{GVR: key.GVR, Namespace: namespace, Name: name}]
	if replaced, ok := c.views[key]; ok {
		object = replaced
	}
	view := informer.View{Synced: !c.unsynced[key], Narrow: c.narrow}
	view.Object = c.kept(key, object)
	return view
}

// Names implements [engine.Caches].
func (c cachesOf) Names(key informer.Key) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	if cache := c.caches[key]; cache != nil && slices.Contains(c.wanted, key) {
		for at := range cache.objects {
			out = append(out, types.NamespacedName{Namespace: at.Namespace, Name: at.Name})
		}
	}
	return out
}

// Count implements [engine.Caches].
func (c cachesOf) Count(key informer.Key) int { return len(c.Names(key)) }

// Version implements [engine.Caches].
func (c cachesOf) Version(key informer.Key) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	cache := c.caches[key]
	if cache == nil || c.unsynced[key] || !slices.Contains(c.wanted, key) {
		return ""
	}
	return c.versionText(cache.version(c.version))
}

// Fresh implements [engine.Caches]: a cache is fresh that has missed nothing, or that lags by less than counts.
func (c cachesOf) Fresh(key informer.Key) (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cache := c.caches[key]
	if c.askedFresh != nil {
		c.askedFresh()
	}
	if !c.vouched.IsZero() {
		return c.vouched, time.Since(c.vouched) < informer.MaxStaleness
	}
	if c.recent || !c.unknown && cache != nil && len(cache.missed) == 0 && !c.unsynced[key] && !c.opaque {
		return time.Now(), true
	}
	return time.Time{}, false
}

// Writing implements [engine.Caches].
func (c cachesOf) Writing(schema.GroupVersionResource) (changed func(string)) {
	of := c.cluster
	return func(version string) { of.locked(func() { of.changedTo = append(of.changedTo, version) }) }
}

// Relist implements [engine.Caches]. Lists get no answer as long as a cache is frozen.
func (c *cluster) Relist(key informer.Key) {
	c.locked(func() { c.relisted = append(c.relisted, key) })
}

// Read implements [engine.Caches].
func (c cachesOf) Read(q plan.Read) ([]map[string]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, matches := map[engine.Key]map[string]any{}, q.Filter()
	for _, from := range q.From {
		cache := c.caches[from]
		if cache == nil || c.unsynced[cache.key] || !slices.Contains(c.wanted, cache.key) {
			return nil, lookup.ErrNotSynced
		}
		for key, object := range cache.objects {
			if fields := c.kept(from, object).Fields(); matches(fields) {
				found[key] = fields
			}
		}
	}
	var out []map[string]any
	for _, object := range found {
		out = append(out, object)
	}
	return out, nil
}

// Stop implements [engine.Caches].
func (c *cluster) Stop() {}

// live counts a live read, and fails where it is to.
func (c *cluster) live(count *int) error {
	c.mu.Lock()
	*count++
	fails := c.liveOK
	c.mu.Unlock()
	if fails != nil {
		return fails()
	}
	return nil
}

// Get implements [engine.Live].
func (c *cluster) Get(_ context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	if err := c.live(&c.gets); err != nil {
		return nil, err
	}
	return c.of(engine.Key{GVR: gvr, Namespace: namespace, Name: name}), nil
}

// Read implements [engine.Live].
func (c *cluster) Read(ctx context.Context, q plan.Read) ([]map[string]any, error) {
	if err := c.live(&c.reads); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(c.answering):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.selected(q), nil
}

func (c *cluster) selected(q plan.Read) []map[string]any {
	var out []map[string]any
	for key, object := range c.stored {
		if key.GVR == q.From[0].GVR && q.Selects(object) {
			out = append(out, object)
		}
	}
	return out
}

// List implements [engine.Live].
func (c *cluster) List(_ context.Context, from plan.Selection, visit func(map[string]any) error) error {
	if err := c.live(&c.reads); err != nil {
		return err
	}
	c.mu.Lock()
	found := c.selected(plan.Read{From: []plan.Selection{from}, By: plan.ByAll})
	c.mu.Unlock()
	for _, object := range found {
		if err := visit(object); err != nil {
			return err
		}
	}
	return nil
}
