package engine

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Caches is what the engine needs of [informer.Set].
type Caches interface {
	Want(keys []informer.Key) error
	View(key informer.Key, namespace, name string) informer.View
	Names(key informer.Key) []types.NamespacedName
	Stop()
}

// presence is what the caches know of an object as a whole.
type presence uint8

const (
	gone    presence = iota // all caches are synced, and none has it
	unknown                 // a cache that may have it is not synced
	present
)

// snapshot collects what the synced caches know of an object. Where several
// hold it, all rules see the newest copy; rules of a cache that lags behind
// are left out, since that copy may have left their selection, and so are
// rules of a cache that is not synced: unsynced is not empty. Either queues
// the object once it has caught up, and is unsure until then.
func (e *Engine) snapshot(set *rules.Set, key Key) (snapshot rules.Snapshot, found presence, unsure []plan.Selection) {
	snapshot = rules.Snapshot{GVR: key.GVR, Now: e.options.Clock.Now()}
	version := ""
	for _, selection := range set.Selections() {
		if selection.GVR != key.GVR || selection.Namespace != "" && selection.Namespace != key.Namespace {
			continue
		}
		view := e.caches.View(informer.Key(selection), key.Namespace, key.Name)
		if !view.Synced {
			found = max(found, unknown)
			unsure = append(unsure, selection)
			continue
		}
		if view.Object == nil {
			continue
		}
		other := view.Object.GetResourceVersion()
		if found != present || older(version, other) {
			found, version = present, other
			unsure = append(unsure, snapshot.SelectedBy...)
			snapshot.Object, snapshot.SelectedBy = view.Object.Object, nil
		}
		if other == version {
			snapshot.SelectedBy = append(snapshot.SelectedBy, selection)
		} else {
			unsure = append(unsure, selection)
		}
	}
	return snapshot, found, unsure
}

// older reports whether resourceVersion a comes before b. Where a server's
// versions cannot be compared, nothing is older: the guards of the writes
// still hold.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
