package dryrun

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
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
	// taken are the fields that have another value, so that who applied them does not own
	// them any more, each with the manager that wrote it.
	taken []taken
}

type taken struct {
	path    plan.Path
	manager string
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
	if result.Class == write.Simulated && operation.Target.UID != "" && !w.dryRun.remember(operation) {
		result.Class = write.Repeated
	}
	return result
}

// remember reports whether the operation is news.
func (d *DryRun) remember(operation plan.Operation) bool {
	target := operation.Target
	known := operation.All()
	d.mu.Lock()
	after := d.changed[target.UID]
	if after.version != target.ResourceVersion {
		after = simulated{version: target.ResourceVersion}
	}
	if after.known.Has(known) || operation.Type == plan.Delete && after.deletedAt != "" {
		d.mu.Unlock()
		return false
	}
	maps.Copy(known, after.known)
	after.known = known
	if operation.Type == plan.Delete {
		after.deletedAt = d.clock.Now().UTC().Format(time.RFC3339)
	} else {
		after.metadata = marks(operation.Predicted)
	}
	for _, change := range operation.Changes {
		if change.Before != nil {
			after.taken = append(slices.Clip(after.taken), taken{change.Path, operation.Manager})
		}
	}
	d.changed[target.UID] = after
	caches := slices.Clone(d.caches)
	d.mu.Unlock()
	for _, each := range caches {
		each.tell(target)
	}
	return true
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

// show returns a stored object as it would be, nil where it would be gone. One that
// somebody has changed since it was written to is shown as it is.
func (d *DryRun) show(object map[string]any) map[string]any {
	d.mu.Lock()
	after, found := d.changed[types.UID(plan.Text(object, "metadata", "uid"))]
	d.mu.Unlock()
	if !found || after.version != plan.Text(object, "metadata", "resourceVersion") {
		return object
	}
	return after.applied(object)
}

// ending returns a stored object as it would be if it is to be deleted, nil where it would
// be gone. All others are as they are.
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
	ends := s.deletedAt != "" || !unheld(object)
	if ends && plan.BeingDeleted(out) && unheld(out) {
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
		fields, owns := entry["fieldsV1"].(map[string]any)
		for _, field := range s.taken {
			if owns && entry["manager"] != field.manager {
				fields = without(fields, field.path)
			}
		}
		if owns && len(fields) == 0 {
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

// unheld reports whether an object has no finalizers.
func unheld(object map[string]any) bool {
	finalizers, _ := plan.Lookup(object, plan.Path{"metadata", "finalizers"})
	list, _ := finalizers.([]any)
	return len(list) == 0
}
