package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// caches are what informers would hold that are never late. They implement
// [engine.Caches].
type caches struct {
	cluster *Cluster
	handler informer.Handler
	of      map[informer.Key]stock
	keeps   informer.Keeps
}

// stock is what one cache holds.
type stock map[types.NamespacedName]*unstructured.Unstructured

var _ engine.Caches = (*caches)(nil)

func newCaches(c *Cluster) *caches { return &caches{cluster: c, of: map[informer.Key]stock{}} }

// Want implements [engine.Caches]. What is wanted, and can be listed, is complete when it returns.
func (c *caches) Want(keys []informer.Key, keeps informer.Keeps, _ bool) {
	maps.DeleteFunc(c.of, func(key informer.Key, _ stock) bool {
		return !slices.Contains(keys, key) || !c.keeps[key.GVR].Covers(keeps[key.GVR])
	})
	c.keeps = keeps
	for _, key := range keys {
		if c.of[key] != nil {
			continue
		}
		held, err := c.list(key)
		if err != nil {
			c.handler.Troubled(key, err)
			continue
		}
		c.of[key] = held
		c.handler.Synced(key)
	}
}

// Deny implements [engine.Caches]. Nobody is denied anything here.
func (c *caches) Deny(map[informer.Key]error) {}

// list reads all that a cache is to hold.
func (c *caches) list(key informer.Key) (stock, error) {
	held := stock{}
	hold := func(fields map[string]any) error {
		object := c.kept(key, fields)
		held[nameOf(object)] = object
		return nil
	}
	found, whole, err := c.cluster.selected(context.Background(), key) //nolint:forbidigo // [engine.Caches] takes none.
	if err != nil {
		return nil, err
	}
	if !whole {
		return held, c.cluster.live.List(context.Background(), key, hold) //nolint:forbidigo // [engine.Caches] takes none.
	}
	for _, o := range found {
		if err := hold(o.DeepCopy().Object); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// Stop implements [engine.Caches].
func (c *caches) Stop() { clear(c.of) }

// View implements [engine.Caches].
func (c *caches) View(key informer.Key, namespace, name string) informer.View {
	held, runs := c.of[key]
	return informer.View{Synced: runs, Object: compacted(held[types.NamespacedName{Namespace: namespace, Name: name}])}
}

// Names implements [engine.Caches], in order.
func (c *caches) Names(key informer.Key) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(c.of[key]), compareNames)
}

// Count implements [engine.Caches].
func (c *caches) Count(key informer.Key) int { return len(c.of[key]) }

// Version implements [engine.Caches].
func (c *caches) Version(key informer.Key) string {
	if c.of[key] == nil {
		return ""
	}
	return strconv.FormatUint(c.cluster.world.Version(), 10)
}

// Fresh implements [engine.Caches]: these caches are never late.
func (c *caches) Fresh(informer.Key) (time.Time, bool) { return c.cluster.world.Now().Time, true }

// Relist implements [engine.Caches].
func (c *caches) Relist(informer.Key) {}

// Read implements [relation.Source].
func (c *caches) Read(q plan.Read) ([]map[string]any, error) {
	var found []map[string]any
	matches, seen := q.Filter(), map[types.NamespacedName]bool{}
	for _, selection := range q.From {
		if q.Namespace != "" && selection.Namespace != "" && q.Namespace != selection.Namespace {
			continue
		}
		held, runs := c.of[selection]
		if !runs {
			return nil, fmt.Errorf("reading the cache of %s: %w", selection, relation.ErrNotSynced)
		}
		for _, name := range slices.SortedFunc(maps.Keys(held), compareNames) {
			if object := held[name].Object; !seen[name] && matches(object) {
				seen[name] = true
				found = append(found, object)
			}
		}
	}
	return found, nil
}

// see brings the caches up to date and tells what that changed.
func (c *caches) see(changes []storage.Change) {
	keys := slices.SortedFunc(maps.Keys(c.of), func(a, b informer.Key) int { return strings.Compare(a.String(), b.String()) })
	for _, change := range changes {
		for _, key := range keys {
			if key.GVR.GroupResource() == change.Resource && (key.Namespace == "" || key.Namespace == change.Namespace) {
				c.refresh(key, types.NamespacedName{Namespace: change.Namespace, Name: change.Name})
			}
		}
	}
}

// refresh asks the server what a cache holds of one name.
func (c *caches) refresh(key informer.Key, name types.NamespacedName) {
	before := c.of[key][name]
	var after *unstructured.Unstructured
	found, err := c.one(key, name)
	if err != nil {
		c.handler.Troubled(key, err)
		return
	}
	if found != nil {
		after = c.kept(key, found)
	}
	switch {
	case before == nil && after == nil:
		return
	case before != nil && after != nil && before.GetResourceVersion() == after.GetResourceVersion():
		return
	case after == nil:
		delete(c.of[key], name)
	default:
		c.of[key][name] = after
	}
	c.handler.Changed(informer.Event{
		Key: key, Namespace: name.Namespace, Name: name.Name, Before: compacted(before), After: compacted(after),
	})
}

// one reads what a cache is to hold of a name, nil for nothing.
func (c *caches) one(key informer.Key, name types.NamespacedName) (map[string]any, error) {
	all, whole, err := c.cluster.selected(context.Background(), key) //nolint:forbidigo // [engine.Caches] takes none.
	if err != nil {
		return nil, err
	}
	if whole {
		at := slices.IndexFunc(all, func(o Object) bool { return nameOf(o.Unstructured) == name })
		if at < 0 {
			return nil, nil
		}
		return all[at].DeepCopy().Object, nil
	}
	found, err := c.cluster.live.Read(context.Background(), plan.Read{ //nolint:forbidigo // [engine.Caches] takes none.
		From: []plan.Selection{key}, Namespace: name.Namespace, By: plan.ByName, Names: []string{name.Name},
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// kept is an object as the controller's caches hold it.
func (c *caches) kept(key informer.Key, fields map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: c.keeps[key.GVR].Project(fields)}
}

func compacted(object *unstructured.Unstructured) *compact.Object {
	if object == nil {
		return nil
	}
	return compact.New(object.Object)
}

func nameOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
