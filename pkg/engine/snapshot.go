package engine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Caches is what the engine needs of [informer.Set].
type Caches interface {
	Want(keys []informer.Key) error
	View(key informer.Key, namespace, name string) informer.View
	Names(key informer.Key) []types.NamespacedName
	Stop()
}

// snapshot collects what the synced caches know of an object. Where several
// hold it, all rules see the newest copy. Rules of caches that are not synced
// are left out: unsynced is not empty. It reports false where no cache has the
// object.
func (e *Engine) snapshot(set *rules.Set, key Key) (rules.Snapshot, bool) {
	var newest *unstructured.Unstructured
	snapshot := rules.Snapshot{GVR: key.GVR, Now: e.options.Clock.Now()}
	for _, selection := range set.Selections() {
		if selection.GVR != key.GVR || selection.Namespace != "" && selection.Namespace != key.Namespace {
			continue
		}
		view := e.caches.View(informer.Key(selection), key.Namespace, key.Name)
		if !view.Synced || view.Object == nil {
			continue
		}
		snapshot.SelectedBy = append(snapshot.SelectedBy, selection)
		if newest == nil || older(newest.GetResourceVersion(), view.Object.GetResourceVersion()) {
			newest = view.Object
		}
	}
	if newest == nil {
		return rules.Snapshot{}, false
	}
	snapshot.Object = newest.Object
	return snapshot, true
}

// older reports whether resourceVersion a comes before b. Where a server's
// versions cannot be compared, nothing is older: the guards of the writes
// still hold.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
