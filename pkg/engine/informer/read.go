package informer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// Set answers questions about related objects.
var _ lookup.Source = (*Set)(nil)

// maxIndexes bounds the indexes that questions by labels and by fields add to a cache. Each costs with every change of an
// object, client-go cannot remove one, and a rule may compute what it asks for.
const maxIndexes = 32

// maxEntries bounds how many entries of an index one question by labels looks up: several values of each of several labels.
const maxEntries = 256

// Read implements [lookup.Source] for the caches of q.From; those of other namespaces than q.Namespace are left out. Of an
// object that several caches hold the newest copy counts, and it is returned once. The error wraps [lookup.ErrNotSynced] where a cache is not complete or does not run.
//
// The cost depends on how many objects match, not on how many there are: what is asked for the first time adds an index to the
// cache, which takes time in proportion to its objects. Objects are compared one by one only for what a label must not be, and
// once there are maxIndexes.
func (s *Set) Read(q plan.Read) ([]map[string]any, error) {
	var caches []*running
	for i, selection := range q.From {
		if q.Namespace != "" && selection.Namespace != "" && selection.Namespace != q.Namespace || slices.Contains(q.From[:i], selection) {
			continue
		}
		r := s.synced(selection)
		if r == nil {
			return nil, fmt.Errorf("reading the cache of %s: %w", selection, lookup.ErrNotSynced)
		}
		caches = append(caches, r)
	}
	var found []map[string]any
	matches, seen := q.Filter(), map[cache.ObjectName]bool{}
	for _, r := range caches {
		candidates, err := r.candidates(q)
		if err != nil {
			return nil, err
		}
		for _, candidate := range candidates {
			object, ok := candidate.(*compact.Object)
			if !ok {
				continue // It has gone since, or is no object.
			}
			if len(caches) > 1 {
				name := cache.MetaObjectToName(object.GetObjectMeta())
				if seen[name] {
					continue
				}
				seen[name] = true
				object = newest(object, name, caches)
			}
			if fields := object.Fields(); matches(fields) {
				found = append(found, fields)
			}
		}
	}
	return found, nil
}

// newest is the latest version of an object that a cache has, or this one where versions cannot be compared.
func newest(object *compact.Object, name cache.ObjectName, caches []*running) *compact.Object {
	for _, r := range caches {
		if other := r.get(name); other != nil {
			order, err := resourceversion.CompareResourceVersion(object.ResourceVersion(), other.ResourceVersion())
			if err == nil && order < 0 {
				object = other
			}
		}
	}
	return object
}

// store is what an informer holds, with the indexes that questions have added.
type store struct {
	key      Key
	synced   chan struct{} // closed once the handler was told of all objects of the first list
	indexer  cache.Indexer
	indexing sync.Mutex // held while indexes are added
}

// hasSynced takes no lock: the handler asks it while it is told of changes.
func (s *store) hasSynced() bool {
	select {
	case <-s.synced:
		return true
	default:
		return false
	}
}

// version is that of the store, which changes together with the objects, under one lock. The informer's own last version is
// ahead of the store.
func (s *store) version() string { return s.indexer.LastStoreSyncResourceVersion() }

// get is nil where the cache does not have the object.
func (s *store) get(name cache.ObjectName) *compact.Object {
	found, _, _ := s.indexer.GetByKey(name.String())
	object, _ := found.(*compact.Object)
	return object
}

// candidates are objects that may match, among them all that match. They are of one moment.
func (s *store) candidates(q plan.Read) ([]any, error) {
	if namespace := cmp.Or(s.key.Namespace, q.Namespace); q.By == plan.ByName && namespace != "" {
		var out []any
		for name := range sets.New(q.Names...) {
			if object := s.get(cache.NewObjectName(namespace, name)); object != nil {
				out = append(out, object)
			}
		}
		return out, nil
	}
	required, possible := q.Requirements()
	if !possible {
		return nil, nil
	}
	if q.By == plan.ByLabels {
		required = affordable(required)
	}
	var inside []plan.Requirement
	if s.key.Namespace == "" && q.Namespace != "" {
		inside = []plan.Requirement{plan.InNamespace(q.Namespace)}
	}
	for _, all := range [][]plan.Requirement{slices.Concat(inside, required), inside} {
		computed := len(all) > len(inside) && (q.By == plan.ByLabels || q.By == plan.ByFields)
		name, err := s.index(all, computed)
		if err != nil {
			return nil, err
		}
		if name != "" {
			return s.indexer.Index(name, entriesOf(all))
		}
	}
	return s.indexer.List(), nil
}

// index returns the name of the index over the keys of these requirements, after adding it where there is none. The name is
// empty where there are no requirements, or too many computed indexes. The store is locked while an index is built.
func (s *store) index(all []plan.Requirement, computed bool) (name string, err error) {
	name = indexName(all...)
	s.indexing.Lock()
	defer s.indexing.Unlock()
	indexes := s.indexer.GetIndexers() // They are added here alone.
	switch {
	case indexes[name] != nil:
		return name, nil
	case len(all) == 0, computed && len(indexes) >= maxIndexes:
		return "", nil
	}
	if err := s.indexer.AddIndexers(cache.Indexers{name: indexOver(all)}); err != nil {
		return "", fmt.Errorf("indexing the cache of %s: %w", s.key, err)
	}
	return name, nil
}

// indexName is the same for the same keys.
func indexName(all ...plan.Requirement) string {
	var name strings.Builder
	for _, required := range all {
		name.WriteString(required.Key.String())
		name.WriteByte(' ')
	}
	return name.String()
}

// entries are what an object has in an index, or what a question asks an index for: it returns the union of them, as they are
// at one moment.
type entries []string

// indexOver is an index over the keys of all these requirements at once: an entry has the objects that meet all of them, however
// common each value is. It must not fail, which client-go answers with a panic.
func indexOver(all []plan.Requirement) cache.IndexFunc {
	return func(object any) ([]string, error) {
		switch object := object.(type) {
		case entries:
			return object, nil
		case *compact.Object:
			fields, values := object.Fields(), make([]string, len(all))
			for i, required := range all {
				var has bool
				if values[i], has = required.Value(fields); !has {
					return nil, nil
				}
			}
			return entries{strings.Join(values, separator)}, nil
		default:
			return nil, nil
		}
	}
}

// separator is between the values of an entry.
const separator = "\x00"

// entriesOf has an entry for each combination of values that meets all requirements.
func entriesOf(all []plan.Requirement) entries {
	out := entries{""}
	for i, required := range all {
		var longer entries
		for _, start := range out {
			for _, value := range required.Values {
				if i > 0 {
					value = start + separator + value
				}
				longer = append(longer, value)
			}
		}
		out = longer
	}
	return out
}

// affordable leaves out requirements with so many values that there would be more than maxEntries.
func affordable(all []plan.Requirement) []plan.Requirement {
	count := 1
	return slices.DeleteFunc(all, func(required plan.Requirement) bool {
		if count*len(required.Values) > maxEntries {
			return true
		}
		count *= len(required.Values)
		return false
	})
}
