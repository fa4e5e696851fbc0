package dryrun

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Reader returns a reader that shows objects to a sweep as they would be.
func (d *DryRun) Reader(reader cleanup.Reader) cleanup.Reader { return simulatedReader{reader, d} }

type simulatedReader struct {
	cleanup.Reader
	dryRun *DryRun
}

// List implements [cleanup.Reader].
func (r simulatedReader) List(ctx context.Context, from plan.Selection, visit func(map[string]any) error) error {
	return r.Reader.List(ctx, from, shown(r.dryRun.show, visit)) //nolint:wrapcheck // It says what was read.
}

// Get implements [cleanup.Reader].
func (r simulatedReader) Get(ctx context.Context, of plan.Object) (map[string]any, error) {
	object, err := r.Reader.Get(ctx, of)
	if object == nil || err != nil {
		return nil, err //nolint:wrapcheck // It says what was read.
	}
	return r.dryRun.show(object), nil
}

// shown visits objects as they are shown.
func shown(show func(map[string]any) map[string]any, visit func(map[string]any) error) func(map[string]any) error {
	return func(object map[string]any) error {
		if object = show(object); object == nil {
			return nil
		}
		return visit(object)
	}
}

// Live reads from the API server, as an engine wants it.
type Live interface {
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
	Read(ctx context.Context, q plan.Read) ([]map[string]any, error)
	List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error
}

// Live returns a reader that shows deletions.
func (d *DryRun) Live(live Live) Live { return simulatedLive{live, d} }

type simulatedLive struct {
	Live
	dryRun *DryRun
}

// Get implements [Live].
func (l simulatedLive) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	object, err := l.Live.Get(ctx, gvr, namespace, name)
	if object == nil || err != nil {
		return nil, err //nolint:wrapcheck // It says what was read.
	}
	return l.dryRun.ending(object), nil
}

// Read implements [Live].
func (l simulatedLive) Read(ctx context.Context, q plan.Read) ([]map[string]any, error) {
	found, err := l.Live.Read(ctx, q)
	return l.dryRun.endings(found), err //nolint:wrapcheck // It says what was read.
}

// List implements [Live].
func (l simulatedLive) List(ctx context.Context, from plan.Selection, visit func(map[string]any) error) error {
	return l.Live.List(ctx, from, shown(l.dryRun.ending, visit)) //nolint:wrapcheck // It says what was read.
}

func (d *DryRun) endings(objects []map[string]any) []map[string]any {
	out := make([]map[string]any, 0, len(objects))
	for _, object := range objects {
		if object = d.ending(object); object != nil {
			out = append(out, object)
		}
	}
	return out
}

// Caches show deletions, and tell of them.
type Caches struct {
	*informer.Set
	handler informer.Handler
	dryRun  *DryRun
}

// Caches returns caches whose handler also hears of simulated deletions.
func (d *DryRun) Caches(set *informer.Set, handler informer.Handler) *Caches {
	c := &Caches{set, handler, d}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.caches = append(d.caches, c)
	return c
}

// Stop ends the informers, and nobody is told any more.
func (c *Caches) Stop() {
	c.dryRun.mu.Lock()
	c.dryRun.caches = slices.DeleteFunc(slices.Clone(c.dryRun.caches), func(other *Caches) bool { return other == c })
	c.dryRun.mu.Unlock()
	c.Set.Stop()
}

// View is like that of [informer.Set].
func (c *Caches) View(key informer.Key, namespace, name string) informer.View {
	view := c.Set.View(key, namespace, name)
	if view.Object == nil {
		return view
	}
	if object := c.dryRun.ending(view.Object.Object); object == nil {
		view.Object = nil
	} else {
		view.Object = &unstructured.Unstructured{Object: object}
	}
	return view
}

// Read is like that of [informer.Set].
func (c *Caches) Read(q plan.Read) ([]map[string]any, error) {
	found, err := c.Set.Read(q)
	return c.dryRun.endings(found), err //nolint:wrapcheck // It says what was asked.
}

// tell has the handler know of an object that would be deleted.
func (c *Caches) tell(target plan.Object) {
	for _, status := range c.Status() {
		key := status.Key
		if key.GVR.GroupResource() != target.GVR.GroupResource() || key.Namespace != "" && key.Namespace != target.Namespace {
			continue
		}
		stored := c.Set.View(key, target.Namespace, target.Name).Object
		if stored == nil || stored.GetUID() != target.UID {
			continue
		}
		after := c.dryRun.ending(stored.Object)
		if after == nil || plan.BeingDeleted(after) {
			c.handler.Changed(informer.Event{
				Key: key, Namespace: target.Namespace, Name: target.Name, Before: stored.Object, After: after,
			})
		}
	}
}
