package dryrun

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// DryRun remembers what the writes of a dry run would have changed. It is shared by all
// engines of a process, and safe for concurrent use.
type DryRun struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	changed map[types.UID]simulated // guarded by mu
	caches  []*Caches               // guarded by mu
}

// New returns a dry run in which nothing was written yet.
func New(of clock.PassiveClock) *DryRun {
	return &DryRun{clock: of, changed: map[types.UID]simulated{}}
}

// simulated is what is known of an object after simulated writes.
type simulated struct {
	version   string // the resourceVersion of the object that the writes were for
	deletedAt string // empty if it was not
	known     plan.Marks
	// metadata are the labels, annotations and finalizers. By these rules know what is theirs.
	metadata map[string]any
	// taken are the fields that have another value, so that who applied them before does not own them any more.
	taken []plan.Path
	// takenOver is the manager that has taken over what former managers of a child owned, empty for none.
	takenOver string
}

// Writer returns a writer that has the dry run remember what the given one simulates.
func (d *DryRun) Writer(writer cleanup.Writer) cleanup.Writer { return rememberingWriter{writer, d} }

type rememberingWriter struct {
	cleanup.Writer
	dryRun *DryRun
}

// Write implements [cleanup.Writer].
func (w rememberingWriter) Write(ctx context.Context, operation plan.Operation) write.Result {
	result := w.Writer.Write(ctx, operation)
	if result.Class == write.Simulated && operation.Target.UID != "" {
		news, caches := w.dryRun.remember(operation)
		if !news {
			result.Class = write.Repeated
		}
		for _, each := range caches {
			each.tell(operation.Target)
		}
	}
	return result
}

// remember reports whether the operation is news, and which caches to tell of it.
func (d *DryRun) remember(operation plan.Operation) (news bool, tell []*Caches) {
	target, known := operation.Target, operation.All()
	d.mu.Lock()
	defer d.mu.Unlock()
	after := d.changed[target.UID]
	if after.version != target.ResourceVersion {
		after = simulated{version: target.ResourceVersion}
	}
	if after.known.Has(known) || operation.Type == plan.Delete && after.deletedAt != "" {
		return false, nil
	}
	maps.Copy(known, after.known)
	after.known = known
	if operation.Type == plan.Delete {
		after.deletedAt = d.clock.Now().UTC().Format(time.RFC3339)
	} else {
		after.metadata = marks(operation.Predicted)
	}
	if operation.TakesOver {
		after.takenOver = operation.Manager
	}
	for _, change := range operation.Changes {
		if change.Before != nil {
			after.taken = append(slices.Clip(after.taken), change.Path)
		}
	}
	d.changed[target.UID] = after
	return true, slices.Clone(d.caches)
}

// marks are the parts of metadata by which rules know what is theirs.
func marks(object map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"labels", "annotations", "finalizers"} {
		if value, found := plan.Lookup(object, plan.Path{"metadata", name}); found {
			out[name] = value
		}
	}
	return out
}

// show returns a stored object as it would be, nil where it would be gone. One that somebody has changed since it was
// written to is shown as it is.
func (d *DryRun) show(object map[string]any) map[string]any {
	d.mu.Lock()
	after, found := d.changed[types.UID(plan.Text(object, "metadata", "uid"))]
	d.mu.Unlock()
	if !found || after.version != plan.Text(object, "metadata", "resourceVersion") {
		return object
	}
	return after.applied(object)
}

// ending returns a stored object as it would be if it is to be deleted, nil where it would be gone. All others are as they
// are.
func (d *DryRun) ending(object map[string]any) map[string]any {
	shown := d.show(object)
	if shown != nil && !plan.BeingDeleted(shown) {
		return object
	}
	return shown
}

func (s simulated) applied(object map[string]any) map[string]any {
	stored, _ := object["metadata"].(map[string]any)
	metadata := maps.Clone(stored)
	if s.metadata != nil {
		maps.DeleteFunc(metadata, func(name string, _ any) bool { return marks(object)[name] != nil })
		maps.Copy(metadata, s.metadata)
	}
	if s.deletedAt != "" && metadata["deletionTimestamp"] == nil {
		metadata["deletionTimestamp"] = s.deletedAt
	}
	if entries, _ := metadata["managedFields"].([]any); entries != nil {
		metadata["managedFields"] = s.owned(entries)
	}
	out := maps.Clone(object)
	out["metadata"] = metadata
	if (s.deletedAt != "" || plan.HasFinalizers(object)) && plan.BeingDeleted(out) && !plan.HasFinalizers(out) {
		return nil
	}
	return out
}

// owned are the entries of managedFields, those empty of which others have taken all
// fields. They keep their places: requests name entries by their index in what is stored.
func (s simulated) owned(entries []any) []any {
	out := slices.Clone(entries)
	for i, element := range out {
		entry, _ := element.(map[string]any)
		fields := plan.FieldSet(entry)
		owns := fields != nil
		for _, path := range s.taken {
			fields = without(fields, path)
		}
		former := s.takenOver != "" && plan.Text(entry, "manager") != s.takenOver && plan.OwnsMark(entry)
		if former || owns && len(fields) == 0 {
			out[i] = map[string]any{}
		}
	}
	return out
}

// without is a FieldsV1 tree without the field at a path. A list of which the manager
// owns elements stays.
func without(fields map[string]any, path plan.Path) map[string]any {
	name := "f:" + path[0]
	below, owned := fields[name].(map[string]any)
	if !owned || len(path) == 1 && len(below) > 0 {
		return fields
	}
	out := maps.Clone(fields)
	if delete(out, name); len(path) > 1 {
		if rest := without(below, path[1:]); len(rest) > 0 {
			out[name] = rest
		}
	}
	return out
}

// Live reads from the API server, as an engine wants it.
type Live interface {
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
	Read(ctx context.Context, q plan.Read) ([]map[string]any, error)
	List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error
}

// Reader returns a reader that shows objects to a sweep as they would be.
func (d *DryRun) Reader(live Live) Live { return shown{live, d.show} }

// Live returns a reader that shows deletions.
func (d *DryRun) Live(live Live) Live { return shown{live, d.ending} }

type shown struct {
	Live
	as func(object map[string]any) map[string]any
}

// Get implements [Live].
func (s shown) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	object, err := s.Live.Get(ctx, gvr, namespace, name)
	return s.as(object), err //nolint:wrapcheck // It says what was read.
}

// Read implements [Live].
func (s shown) Read(ctx context.Context, q plan.Read) ([]map[string]any, error) {
	found, err := s.Live.Read(ctx, q)
	return each(found, s.as), err //nolint:wrapcheck // It says what was read.
}

// List implements [Live].
func (s shown) List(ctx context.Context, from plan.Selection, visit func(map[string]any) error) error {
	return s.Live.List(ctx, from, func(object map[string]any) error { //nolint:wrapcheck // It says what was read.
		if object = s.as(object); object == nil {
			return nil
		}
		return visit(object)
	})
}

// each returns the objects as they are shown, but for those that would be gone.
func each(objects []map[string]any, as func(map[string]any) map[string]any) []map[string]any {
	out := make([]map[string]any, 0, len(objects))
	for _, object := range objects {
		if object = as(object); object != nil {
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
	if view.Object != nil {
		view.Object = compact.New(c.dryRun.ending(view.Object.Fields()))
	}
	return view
}

// Read is like that of [informer.Set].
func (c *Caches) Read(q plan.Read) ([]map[string]any, error) {
	found, err := c.Set.Read(q)
	return each(found, c.dryRun.ending), err //nolint:wrapcheck // It says what was asked.
}

// tell has the handler know of an object that would be deleted.
func (c *Caches) tell(target plan.Object) {
	for _, status := range c.Status() {
		key := status.Key
		if key.GVR.GroupResource() != target.GVR.GroupResource() || key.Namespace != "" && key.Namespace != target.Namespace {
			continue
		}
		stored := c.Set.View(key, target.Namespace, target.Name).Object
		if stored == nil || stored.UID() != target.UID {
			continue
		}
		if after := c.dryRun.ending(stored.Fields()); after == nil || plan.BeingDeleted(after) {
			c.handler.Changed(informer.Event{Key: key, Namespace: target.Namespace, Name: target.Name, Before: stored, After: compact.New(after)})
		}
	}
}
