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

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
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
type stock map[types.NamespacedName]map[string]any

var _ engine.Caches = (*caches)(nil)

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
		held := stock{}
		err := c.cluster.live.List(context.Background(), key, func(fields map[string]any) error { //nolint:forbidigo // [engine.Caches] takes none.
			name := types.NamespacedName{Namespace: plan.Text(fields, "metadata", "namespace"), Name: plan.Text(fields, "metadata", "name")}
			held[name] = keeps[key.GVR].Project(fields)
			return nil
		})
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

// Stop implements [engine.Caches].
func (c *caches) Stop() { clear(c.of) }

// View implements [engine.Caches].
func (c *caches) View(key informer.Key, namespace, name string) informer.View {
	held, runs := c.of[key]
	return informer.View{Synced: runs, Object: compacted(held[types.NamespacedName{Namespace: namespace, Name: name}])}
}

// Names implements [engine.Caches], in order.
func (c *caches) Names(key informer.Key) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(c.of[key]), func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
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

// Writing implements [engine.Caches].
func (c *caches) Writing(schema.GroupVersionResource) (changed func(string)) { return func(string) {} }

// Relist implements [engine.Caches].
func (c *caches) Relist(informer.Key) {}

// Read implements [lookup.Source].
func (c *caches) Read(q plan.Read) ([]map[string]any, error) {
	var found []map[string]any
	matches, seen := q.Filter(), map[types.NamespacedName]bool{}
	for _, selection := range q.From {
		if q.Namespace != "" && selection.Namespace != "" && q.Namespace != selection.Namespace {
			continue
		}
		held, runs := c.of[selection]
		if !runs {
			return nil, fmt.Errorf("reading the cache of %s: %w", selection, lookup.ErrNotSynced)
		}
		for _, name := range c.Names(selection) {
			if object := held[name]; !seen[name] && matches(object) {
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
	found, err := c.cluster.live.Read(context.Background(), plan.Read{ //nolint:forbidigo // [engine.Caches] takes none.
		From: []plan.Selection{key}, Namespace: name.Namespace, By: plan.ByName, Names: []string{name.Name},
	})
	if err != nil {
		c.handler.Troubled(key, err)
		return
	}
	before := c.of[key][name]
	var after map[string]any
	if len(found) > 0 {
		after = c.keeps[key.GVR].Project(found[0])
	}
	if plan.Text(before, "metadata", "resourceVersion") == plan.Text(after, "metadata", "resourceVersion") {
		return
	}
	if c.of[key][name] = after; after == nil {
		delete(c.of[key], name)
	}
	c.handler.Changed(informer.Event{
		Key: key, Namespace: name.Namespace, Name: name.Name, Before: compacted(before), After: compacted(after),
	})
}

func compacted(object map[string]any) *compact.Object {
	if object == nil {
		return nil
	}
	return compact.New(object)
}
