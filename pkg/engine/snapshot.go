package engine

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
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

// sight is a snapshot with what is known about it.
type sight struct {
	rules.Snapshot
	found presence
	// unsure are the selections of which it is not known whether they hold the
	// object.
	unsure []plan.Selection
}

// see collects what the synced caches know of an object. Where several hold it,
// all rules see the newest copy; rules of a cache that lags behind are left out,
// since that copy may have left their selection, and so are rules of a cache that is
// not synced: unsynced is not empty. Either queues the object once it has caught up,
// and is unsure until then.
func (e *Engine) see(now *active, key Key) sight {
	s := sight{Snapshot: rules.Snapshot{
		GVR: key.GVR, Kinds: now.set.Kinds(), Now: e.options.Clock.Now().Round(0), // Of the wall clock alone.
	}}
	var without []plan.Selection
	version := ""
	for _, cache := range now.of[key.GVR] {
		if !now.watched[cache] || cache.Namespace != "" && cache.Namespace != key.Namespace {
			continue
		}
		selection := plan.Selection(cache)
		view := e.caches.View(cache, key.Namespace, key.Name)
		if !view.Synced {
			s.found = max(s.found, unknown)
			s.unsure = append(s.unsure, selection)
			continue
		}
		if view.Object == nil {
			without = append(without, selection)
			continue
		}
		other := view.Object.GetResourceVersion()
		if s.found != present || older(version, other) {
			s.found, version = present, other
			s.unsure = append(s.unsure, s.SelectedBy...)
			s.Object, s.SelectedBy = view.Object.Object, nil
		}
		if other == version {
			s.SelectedBy = append(s.SelectedBy, selection)
		} else {
			s.unsure = append(s.unsure, selection)
		}
	}
	e.leave(now, &s, without)
	return s
}

// leave sorts the selections whose caches do not have the object into those that it
// has surely left and those that lag behind.
func (e *Engine) leave(now *active, s *sight, without []plan.Selection) {
	if s.found != present {
		return
	}
	for _, selection := range without {
		if now.admits(informer.Key(selection), s.Object) && e.trails(informer.Key(selection), s.Object) {
			s.unsure = append(s.unsure, selection)
		} else {
			s.LeftBy = append(s.LeftBy, selection)
		}
	}
}

// trails reports whether a cache has not seen so much as an object shows. One that does not say how far it has seen has
// been dropped in the meantime.
func (e *Engine) trails(cache informer.Key, object map[string]any) bool {
	version := e.caches.Version(cache)
	return version == "" || older(version, versionOf(object))
}

// seeLive is for an object that no cache has. One that was relabelled out of all
// selections lives on, and may have something of ours that nothing but a live read
// shows. It is gone where the object is, or has made room for another.
func (e *Engine) seeLive(ctx context.Context, now *active, key Key, record *record) (sight, error) {
	s := e.see(now, key)
	if s.found != gone || !now.set.Holds(key.GVR) && !now.set.Prunes(key.GVR) {
		return s, nil
	}
	live, err := e.options.Live.Get(ctx, key.GVR, key.Namespace, key.Name)
	if err != nil {
		return s, fmt.Errorf("reading what no cache has: %w", err)
	}
	if live == nil || record != nil && uidOf(live) != record.uid {
		return s, nil
	}
	s.found, s.Object = present, live
	for _, cache := range now.of[key.GVR] {
		if now.watched[cache] {
			e.leave(now, &s, []plan.Selection{plan.Selection(cache)})
		}
	}
	return s, nil
}

// stray reports whether the object was read live, as no cache has it.
func (s *sight) stray() bool { return s.found == present && s.SelectedBy == nil && s.unsure == nil }

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
