package informer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// maxIndexes bounds the indexes that questions by labels and by fields add to a
// cache. Each costs with every change of an object, client-go cannot take one away
// again, and a rule may compute what it asks for.
const maxIndexes = 32

// maxEntries bounds how many entries of an index one question looks up because it
// offers several values for each of several labels.
const maxEntries = 256

// indexes are those that a cache has been given.
type indexes struct {
	mu    sync.Mutex
	names map[string]bool // guarded by mu
}

// candidates are the objects that may match, and all that do. What the index shows is
// of one moment.
func (r *running) candidates(q plan.Read) ([]any, error) {
	if namespace := cmp.Or(r.key.Namespace, q.Namespace); q.By == plan.ByName && namespace != "" {
		return r.named(namespace, q.Names), nil
	}
	keys, possible := indexKeysOf(q)
	if !possible {
		return nil, nil
	}
	var inside []indexKey
	if r.key.Namespace == "" && q.Namespace != "" {
		inside = []indexKey{metadataKey("namespace", q.Namespace)}
	}
	computed := q.By == plan.ByLabels || q.By == plan.ByFields
	for i, way := range [][]indexKey{slices.Concat(inside, keys), inside} {
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
func (r *running) indexed(name string, keys []indexKey, limited bool) (bool, error) {
	r.indexes.mu.Lock()
	defer r.indexes.mu.Unlock()
	if r.indexes.names[name] {
		return true, nil
	}
	if limited && len(r.indexes.names) >= maxIndexes {
		return false, nil
	}
	if err := r.informer.AddIndexers(cache.Indexers{name: indexOf(keys)}); err != nil {
		// It refuses once the informer has stopped.
		return false, fmt.Errorf("indexing the cache of %s: %w", r.key, errors.Join(relation.ErrNotSynced, err))
	}
	if r.indexes.names == nil {
		r.indexes.names = map[string]bool{}
	}
	r.indexes.names[name] = true
	return true, nil
}

// indexKey is something of an object that a question asks for. An index is over all the
// keys of a question at once, so that its entry holds what matches and nothing else,
// however common each of the keys is.
type indexKey struct {
	name string // the same for the same of
	// of is the value that an object has; ok is false where it cannot match, whatever
	// is asked for. It takes objects of any shape. Values that are equal to a
	// question have the same text; others may have it too.
	of func(object map[string]any) (value string, ok bool)
	// values are those that are asked for.
	values []string
}

// indexName is the same for the same keys, whatever is asked of them.
func indexName(keys []indexKey) string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.name
	}
	return strings.Join(names, " ")
}

// entries is a question to an index, which gives for it the union of these entries
// as they are at one moment.
type entries []string

// indexOf is an index over the keys. It must not fail, which client-go answers with
// a panic.
func indexOf(keys []indexKey) cache.IndexFunc {
	of := make([]func(map[string]any) (string, bool), len(keys))
	for i, key := range keys {
		of[i] = key.of
	}
	return func(object any) ([]string, error) {
		if asked, ok := object.(entries); ok {
			return asked, nil
		}
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return nil, nil
		}
		values := make([]string, len(of))
		for i := range of {
			if values[i], ok = of[i](u.Object); !ok {
				return nil, nil
			}
		}
		return []string{entry(values...)}, nil
	}
}

// wanted are the entries that have what is asked for.
func wanted(keys []indexKey) []string {
	out := []string{""}
	for i, key := range keys {
		var longer []string
		for _, start := range out {
			for _, value := range key.values {
				if i > 0 {
					value = entry(start, value)
				}
				longer = append(longer, value)
			}
		}
		out = longer
	}
	return out
}

func entry(values ...string) string { return strings.Join(values, "\x00") }

// indexKeysOf are those that objects must have to match; possible is false where none can.
// They read objects as [plan.Read.Matches] does.
func indexKeysOf(q plan.Read) (keys []indexKey, possible bool) {
	switch q.By {
	case plan.ByAll:
		return nil, true
	case plan.ByName:
		return []indexKey{metadataKey("name", q.Names...)}, len(q.Names) > 0
	case plan.ByOwner:
		owners := make([]string, len(q.Owners))
		for i, uid := range q.Owners {
			owners[i] = string(uid)
		}
		controller := func(object map[string]any) (string, bool) {
			uid := string(plan.ControllerUID(object))
			return uid, uid != ""
		}
		return []indexKey{{"owner", controller, owners}}, len(owners) > 0
	case plan.ByLabels:
		return labelKeys(q.Labels)
	case plan.ByFields:
		for _, field := range q.Fields {
			path := slices.Clone(field.Path)
			keys = append(keys, indexKey{
				name: "field " + strconv.Quote(path.Pointer()),
				of: func(object map[string]any) (string, bool) {
					value, ok := plan.Lookup(object, path)
					return plan.ScalarText(value), ok
				},
				values: []string{plan.ScalarText(field.Value)},
			})
		}
		return keys, len(keys) > 0
	default:
		return nil, false
	}
}

func metadataKey(field string, values ...string) indexKey {
	return indexKey{field, func(object map[string]any) (string, bool) { return plan.Text(object, "metadata", field), true }, values}
}

// labelKeys has none for what a label must not be, nor for so many offers that
// there would be too many entries to look up.
func labelKeys(selector string) (keys []indexKey, possible bool) {
	parsed, err := labels.Parse(selector)
	if err != nil || selector == "" {
		return nil, false
	}
	requirements, _ := parsed.Requirements()
	lookups := 1
	for _, requirement := range requirements {
		label := requirement.Key()
		switch requirement.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			values := requirement.ValuesUnsorted()
			if lookups*len(values) > maxEntries {
				continue
			}
			lookups *= len(values)
			keys = append(keys, indexKey{
				name:   "label " + strconv.Quote(label),
				of:     func(object map[string]any) (string, bool) { return plan.LabelsOf(object).Lookup(label) },
				values: values,
			})
		case selection.Exists, selection.DoesNotExist:
			keys = append(keys, indexKey{
				name: "has label " + strconv.Quote(label),
				of: func(object map[string]any) (string, bool) {
					return strconv.FormatBool(plan.LabelsOf(object).Has(label)), true
				},
				values: []string{strconv.FormatBool(requirement.Operator() == selection.Exists)},
			})
		default:
		}
	}
	return keys, true
}
