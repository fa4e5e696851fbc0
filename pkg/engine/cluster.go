package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// presence is what the caches know of an object as a whole.
type presence uint8

const (
	gone    presence = iota // all caches are synced, and none has it
	unknown                 // a cache that may have it is not synced
	present
)

// observation is a snapshot with what is known about it.
type observation struct {
	rules.Snapshot
	found presence
	// unsure are the selections of which it is not known whether they hold the
	// object.
	unsure []plan.Selection
	// without are those whose caches are complete, and do not have it.
	without []plan.Selection
}

// cluster is what the caches and the API server show.
type cluster struct {
	caches Caches
	live   Live
	clock  clock.WithTicker
	began  time.Time // when somebody began to work on what is queued; for those who work

	elected   bool     // another process may have worked until this one began
	takenOver sync.Map // the caches that have shown what that process had written, by informer.Key
}

// observe collects what the synced caches know of an object. Where several hold it,
// all rules see the newest copy; rules of a cache that lags behind are left out,
// since that copy may have left their selection, and so are rules of a cache that is
// not synced: unsynced is not empty. Either queues the object once it has caught up,
// and is unsure until then.
func (c *cluster) observe(now *active, key Key) observation {
	s := observation{Snapshot: rules.Snapshot{
		GVR: key.GVR, Kinds: now.Kinds(), Now: c.clock.Now().Round(0), // Of the wall clock alone.
	}}
	version := ""
	for _, cache := range now.of[key.GVR] {
		if !now.watched[cache] || cache.Namespace != "" && cache.Namespace != key.Namespace {
			continue
		}
		view := c.caches.View(cache, key.Namespace, key.Name)
		if !view.Synced {
			s.found = max(s.found, unknown)
			s.unsure = append(s.unsure, cache)
			continue
		}
		if view.Object == nil {
			s.without = append(s.without, cache)
			continue
		}
		other := view.Object.ResourceVersion()
		if s.found != present || older(version, other) {
			s.found, version = present, other
			s.unsure = append(s.unsure, s.SelectedBy...)
			s.Object, s.SelectedBy = view.Object.Fields(), nil
		}
		if other == version {
			s.SelectedBy = append(s.SelectedBy, cache)
		} else {
			s.unsure = append(s.unsure, cache)
		}
	}
	c.leave(now, &s)
	return s
}

// leave sorts the selections whose caches do not have the object into those that it has surely left and those that lag
// behind. A cache may have caught up since it was looked into, so it is looked into again once it does not lag any more; it may have been
// dropped, too.
func (c *cluster) leave(now *active, s *observation) {
	if s.found != present {
		return
	}
	name, namespace := plan.Text(s.Object, "metadata", "name"), plan.Text(s.Object, "metadata", "namespace")
	for _, selection := range s.without {
		if lags := c.lags(selection, s.Object); now.admits(selection, s.Object) {
			if view := c.caches.View(selection, namespace, name); lags || !view.Synced || view.Object != nil {
				s.unsure = append(s.unsure, selection)
				continue
			}
		}
		s.LeftBy = append(s.LeftBy, selection)
	}
}

// lags reports whether a cache has not seen so much as an object shows. One that does not say how far it has seen has
// been dropped in the meantime.
func (c *cluster) lags(cache informer.Key, object map[string]any) bool {
	version := c.caches.Version(cache)
	return version == "" || older(version, versionOf(object))
}

// unselected reports whether the object was read live, as no cache has it.
func (s *observation) unselected() bool {
	return s.found == present && s.SelectedBy == nil && s.unsure == nil
}

// isAtLeast reports whether resourceVersion a is b or comes after it. Where a server's versions cannot be compared, none
// comes after another.
func isAtLeast(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return a == b || err == nil && order >= 0
}

// older reports whether resourceVersion a comes before b. Where a server's
// versions cannot be compared, nothing is older: the guards of the writes
// still hold.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

func versionOf(object map[string]any) string {
	return plan.Text(object, "metadata", "resourceVersion")
}

func uidOf(object map[string]any) types.UID {
	return types.UID(plan.Text(object, "metadata", "uid"))
}

// observeGone is a snapshot of what is gone.
func (c *cluster) observeGone(now *active, key Key) observation {
	kinds := now.Kinds()
	return observation{found: gone, Snapshot: rules.Snapshot{
		GVR: key.GVR, Kinds: kinds, Now: c.clock.Now().Round(0),
		Gone: plan.Object{GVR: key.GVR, Kind: kinds[key.GVR].Name, Namespace: key.Namespace, Name: key.Name, UID: key.UID},
	}}
}

// nowhere reports whether no cache has the object of the key's uid among the parents of
// the families, of whatever kind.
func (c *cluster) nowhere(families []*rules.Rule, key Key) (bool, error) {
	var parents []plan.Selection
	for _, family := range families {
		parents = append(parents, family.Watches()...)
	}
	byUID := []plan.FieldValue{{Path: plan.Path{"metadata", "uid"}, Value: string(key.UID)}}
	found, err := c.readAll(parents, plan.Read{By: plan.ByFields, Fields: byUID})
	if err != nil {
		return false, fmt.Errorf("looking for the object of which there are children: %w", err)
	}
	return len(found) == 0, nil
}

// readAll asks the caches the same of several resources, each of which is a question of its own.
func (c *cluster) readAll(from []plan.Selection, q plan.Read) (found []map[string]any, err error) {
	parts := map[schema.GroupVersionResource][]plan.Selection{}
	for _, selection := range from {
		parts[selection.GVR] = append(parts[selection.GVR], selection)
	}
	for _, q.From = range parts {
		part, errPart := c.caches.Read(q)
		found, err = append(found, part...), errors.Join(err, errPart)
	}
	return found, err
}

// parentsOf lists the uids that the children of a family name, in order. Where a cache is not complete any more, it will be again.
func (c *cluster) parentsOf(family *rules.Rule) (out []types.UID) {
	selector := labels.Set{plan.LabelSet: family.ID.SetID(), plan.LabelRule: family.ID.Name}.String()
	children, _ := c.readAll(family.Children(), plan.Read{By: plan.ByLabels, Labels: selector})
	for _, child := range children {
		if uid := plan.Label(child, plan.LabelOwnerUID); uid != "" {
			out = append(out, types.UID(uid))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cached is the object of the name as a cache shows it, nil where none does.
func (c *cluster) cached(now *active, object plan.Object) map[string]any {
	for _, cache := range now.holding(object) {
		if found := c.caches.View(cache, object.Namespace, object.Name).Object; found != nil {
			return found.Fields()
		}
	}
	return nil
}

// sameObject reports whether a cache has an object in the same version.
func sameObject(cached *compact.Object, object map[string]any) bool {
	return cached != nil && cached.UID() == uidOf(object) && cached.ResourceVersion() == versionOf(object)
}

// age is the time since a moment, also if the process or its machine has slept meanwhile.
func (c *cluster) age(at time.Time) time.Duration { return informer.Age(c.clock.Now(), at) }

// timeToSend is how much must be left of the time for which a cache is fresh. A write that is sent later is refused.
const timeToSend = 100 * time.Millisecond

// fresh is [Caches.Fresh] without what was known before this engine began to work: the leader before may have written since.
func (c *cluster) fresh(cache informer.Key) (at time.Time, fresh bool) {
	at, fresh = c.caches.Fresh(cache)
	return at, fresh && !at.Before(c.began) && c.age(at) < informer.MaxStaleness-timeToSend
}

// hasTakenOver reports whether the caches that have the answers to questions have shown, at some moment since this engine began, all that the
// leader before had written. Until then, a patch that adds to a number of that leader would add the same twice. Where there was none, caches were
// listed since. The second caller has the version of a cache requested, see [Caches.Fresh].
func (c *cluster) hasTakenOver(reads []plan.Read) bool {
	if !c.elected {
		return true
	}
	for _, q := range reads {
		for _, cache := range q.From {
			if _, has := c.takenOver.Load(cache); has {
				continue
			}
			if at, _ := c.caches.Fresh(cache); at.Before(c.began) {
				return false
			}
			c.takenOver.Store(cache, true)
		}
	}
	return true
}

// named is the key of an object that was read live.
func named(gvr schema.GroupVersionResource, object map[string]any) Key {
	return Key{GVR: gvr, Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name")}
}

// syncedCaches knows which caches are complete, and why others are not. The zero value knows of none. It is safe for concurrent use.
type syncedCaches struct {
	mu     sync.Mutex
	of     map[informer.Key]cacheState // those that are wanted; guarded by mu
	denied map[informer.Key]error      // caches that may not be had, and why; guarded by mu
}

// cacheState is what is known of one cache.
type cacheState struct {
	listed bool  // all objects have been queued that it had when it became complete, and what follows from that; its store is complete before
	anew   bool  // it had been denied, and is not complete again yet
	denied bool  // err says why
	err    error // of the last attempt of its first list
}

// waits reports whether a cache may be listed soon.
func (s cacheState) waits() bool {
	terminal := s.err != nil && write.Classify(s.err) == write.Terminal
	return !s.listed && !s.denied && !terminal
}

// get returns what is known of a cache.
func (s *syncedCaches) get(key informer.Key) cacheState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err, denied := s.denied[key]; denied {
		return cacheState{denied: true, err: err}
	}
	return s.of[key]
}

// change changes what is known of a cache, unless it is not wanted any more.
func (s *syncedCaches) change(key informer.Key, do func(*cacheState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state, wanted := s.of[key]; wanted {
		do(&state)
		s.of[key] = state
	}
}

// want forgets all caches but these: one that is wanted again begins anew.
func (s *syncedCaches) want(keys []informer.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := make(map[informer.Key]cacheState, len(keys))
	for _, key := range keys {
		of[key] = s.of[key]
	}
	s.of = of
}

// deny replaces the caches that may not be had, and reports whether there are others among them than before. What is not
// denied any more begins anew.
func (s *syncedCaches) deny(denied map[informer.Key]error) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.denied
	s.denied = maps.Clone(denied)
	for key := range before {
		_, still := denied[key]
		if _, wanted := s.of[key]; wanted && !still {
			s.of[key] = cacheState{anew: true}
		}
	}
	for key := range denied {
		_, known := before[key]
		more = more || !known
	}
	return more
}
