package informer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// maxIndexes bounds the indexes that questions by labels and by fields add to a
// cache. Each costs with every change of an object, client-go cannot take one away
// again, and a rule may compute what it asks for.
const maxIndexes = 32

// indexes are those that a cache has been given.
type indexes struct {
	mu    sync.RWMutex
	names map[string]bool // guarded by mu
}

// candidates are the objects that may match, and all that do. What the index shows is
// of one moment.
func (r *running) candidates(q plan.Read) ([]any, error) {
	if namespace := cmp.Or(r.key.Namespace, q.Namespace); q.By == plan.ByName && namespace != "" {
		return r.named(namespace, q.Names), nil
	}
	traits, possible := traitsOf(q)
	if !possible {
		return nil, nil
	}
	var inside []trait
	if r.key.Namespace == "" && q.Namespace != "" {
		inside = []trait{ofNamespace(q.Namespace)}
	}
	computed := q.By == plan.ByLabels || q.By == plan.ByFields
	for i, way := range [][]trait{slices.Concat(inside, traits), inside} {
		if len(way) == 0 {
			break
		}
		name := indexName(way)
		indexed, err := r.indexed(name, way, computed && i == 0)
		if err != nil {
			return nil, err
		}
		if indexed {
			return r.informer.GetIndexer().Index(name, entries(wanted(way)))
		}
	}
	return r.informer.GetIndexer().List(), nil
}

// named looks names up in one namespace.
func (r *running) named(namespace string, names []string) []any {
	out := make([]any, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		if object := r.get(cache.NewObjectName(namespace, name)); object != nil {
			out = append(out, object)
		}
	}
	return out
}

// indexed reports whether there is such an index, after adding it where there is not
// and the limit allows for it. The store is locked while it is built.
func (r *running) indexed(name string, traits []trait, limited bool) (bool, error) {
	r.indexes.mu.RLock()
	known := r.indexes.names[name]
	r.indexes.mu.RUnlock()
	if known {
		return true, nil
	}
	r.indexes.mu.Lock()
	defer r.indexes.mu.Unlock()
	if r.indexes.names[name] {
		return true, nil
	}
	if limited && len(r.indexes.names) >= maxIndexes {
		return false, nil
	}
	if err := r.informer.AddIndexers(cache.Indexers{name: indexOf(traits)}); err != nil {
		// It refuses once the informer has stopped.
		return false, fmt.Errorf("indexing the cache of %s: %w", r.key, errors.Join(relation.ErrNotSynced, err))
	}
	if r.indexes.names == nil {
		r.indexes.names = map[string]bool{}
	}
	r.indexes.names[name] = true
	return true, nil
}

// indexName is the same for the same traits, whatever is asked of them.
func indexName(traits []trait) string {
	names := make([]string, len(traits))
	for i, t := range traits {
		names[i] = t.name
	}
	return strings.Join(names, " ")
}
