package informer

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// Set answers questions about related objects.
var _ relation.Source = (*Set)(nil)

// Read implements [relation.Source] for the caches of q.From, of which those of
// other namespaces than q.Namespace are not looked at. An object that several of
// them hold is judged by its newest copy, and returned once; the objects are those
// of the caches, read only. The error wraps [relation.ErrNotSynced] where a cache is
// not complete or does not run.
//
// The cost depends on how many objects match, not on how many there are: what is
// asked for the first time adds an index to the cache, which takes time in
// proportion to its objects. Only what a label must not be is judged object by
// object, and all of it where maxIndexes are spent.
func (s *Set) Read(q plan.Read) ([]map[string]any, error) {
	caches, err := s.synced(q)
	if err != nil {
		return nil, err
	}
	var found []map[string]any
	matches, seen := q.Filter(), map[cache.ObjectName]bool{}
	for _, r := range caches {
		candidates, err := r.candidates(q)
		if err != nil {
			return nil, err
		}
		for _, candidate := range candidates {
			object, ok := candidate.(*unstructured.Unstructured)
			if !ok {
				continue // It has gone since, or is no object.
			}
			if len(caches) > 1 {
				name := cache.MetaObjectToName(object)
				if seen[name] {
					continue
				}
				seen[name] = true
				object = newest(object, name, caches)
			}
			if matches(object.Object) {
				found = append(found, object.Object)
			}
		}
	}
	return found, nil
}

// synced lists the caches that may have an answer, each once.
func (s *Set) synced(q plan.Read) ([]*running, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*running, 0, len(q.From))
	for i, selection := range q.From {
		if q.Namespace != "" && selection.Namespace != "" && selection.Namespace != q.Namespace ||
			slices.Contains(q.From[:i], selection) {
			continue
		}
		r := s.running[Key(selection)]
		if r == nil || !r.informer.HasSynced() {
			return nil, fmt.Errorf("reading the cache of %s: %w", Key(selection), relation.ErrNotSynced)
		}
		out = append(out, r)
	}
	return out, nil
}

// newest is the latest version of an object that a cache has. Where a server's
// versions cannot be compared, it is the one that was found.
func newest(object *unstructured.Unstructured, name cache.ObjectName, caches []*running) *unstructured.Unstructured {
	for _, r := range caches {
		other := r.get(name)
		if other == nil {
			continue
		}
		order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), other.GetResourceVersion())
		if err == nil && order < 0 {
			object = other
		}
	}
	return object
}

// get is nil where the cache does not have the object.
func (r *running) get(name cache.ObjectName) *unstructured.Unstructured {
	found, exists, err := r.informer.GetIndexer().GetByKey(name.String())
	if err != nil || !exists {
		return nil
	}
	object, _ := found.(*unstructured.Unstructured)
	return object
}

// Version is how far a cache has seen: it shows every change of its objects up to
// this resourceVersion, and may show some of the later ones. It is empty where the
// cache is not synced or does not run, and where the server has no versions.
//
// It is that of the store, which changes together with the objects, under one lock.
// What the informer calls its last version is ahead of them: that of the last event
// that was put into the queue from which the store is filled. The version moves with
// events and bookmarks, and stays while a watch is broken, until a new list takes the
// place of the old objects as a whole.
func (s *Set) Version(key Key) string {
	r := s.find(key)
	if r == nil || !r.informer.HasSynced() {
		return ""
	}
	return r.informer.GetIndexer().LastStoreSyncResourceVersion()
}
