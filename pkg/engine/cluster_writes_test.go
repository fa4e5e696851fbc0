package engine_test

import (
	"context"
	"encoding/json"
	"errors"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var errRefused = errors.New("refused")

// Write implements [engine.Writer]: guarded as the API server guards.
func (c *cluster) Write(ctx context.Context, operation plan.Operation) write.Result {
	if !write.Valid(ctx) {
		return write.Result{Class: write.Unreachable, Err: errors.New("it is too late")}
	}
	c.mu.Lock()
	c.writes = append(c.writes, operation)
	answer, after := c.answer, c.after
	c.mu.Unlock()
	if answer != nil {
		if result := answer(operation); result != nil {
			return *result
		}
	}
	result := c.carryOut(operation)
	if after != nil {
		return after(operation, result)
	}
	return result
}

// carryOut does what the API server would.
func (c *cluster) carryOut(operation plan.Operation) write.Result {
	target := operation.Target
	key := engine.Key{GVR: target.GVR, Namespace: target.Namespace, Name: target.Name}
	c.mu.Lock()
	if refused := c.guard(operation, c.stored[key]); refused != nil {
		if refused.Class == write.Taken {
			c.taken = append(c.taken, target)
		}
		c.mu.Unlock()
		return *refused
	}
	result := c.store(key, operation)
	lagging := c.lagging
	if lagging {
		for _, cache := range c.caches {
			c.miss(cache, key)
		}
	}
	c.mu.Unlock()
	if !lagging {
		c.see(key)
	}
	return result
}

// guard is the answer to what was decided by a snapshot that is not true any more.
func (c *cluster) guard(operation plan.Operation, stored map[string]any) *write.Result {
	target := operation.Target
	makes := operation.Type == plan.Create || target.UID == ""
	switch {
	case makes && stored != nil:
		return &write.Result{Class: write.Taken, Err: errRefused, Object: stored, Echo: echo(target, stored, false)}
	case makes:
		return nil
	case stored == nil && operation.Type == plan.Delete:
		return &write.Result{Class: write.Unchanged, Echo: echo(target, nil, true)}
	case stored == nil || uidOf(stored) != string(target.UID):
		return &write.Result{Class: write.Stale, Err: errRefused, Echo: echo(target, nil, true)}
	case resourceVersion(stored) != target.ResourceVersion:
		return &write.Result{Class: write.Stale, Err: errRefused, Echo: echo(target, stored, false)}
	default:
		return nil
	}
}

// store carries an operation out.
func (c *cluster) store(key engine.Key, operation plan.Operation) write.Result {
	target, stored := operation.Target, c.stored[key]
	after := c.made(key, operation, stored)
	result := write.Result{Class: write.Written, Object: after}
	u := unstructured.Unstructured{Object: after}
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
		delete(c.stored, key)
		result.Echo = echo(target, nil, true)
		return result
	}
	c.stored[key] = after
	result.Echo = echo(target, after, operation.Type == plan.Delete)
	return result
}

// echo is of an object as it came back, nil where it is gone.
func echo(target plan.Object, object map[string]any, gone bool) *write.Echo {
	target.ResourceVersion = resourceVersion(object)
	if object != nil {
		target.UID = types.UID(uidOf(object))
	}
	return &write.Echo{Object: target, Gone: gone}
}

// made is the object after an operation.
func (c *cluster) made(key engine.Key, operation plan.Operation, stored map[string]any) map[string]any {
	body := operation.Body
	metadata := map[string]any{"resourceVersion": c.next(key)}
	if stored == nil {
		metadata["namespace"], metadata["name"] = operation.Target.Namespace, operation.Target.Name
		metadata["uid"] = "uid-" + c.versionText(c.version)
		stored = map[string]any{"apiVersion": operation.Target.GVR.GroupVersion().String(), "kind": operation.Target.Kind}
	}
	if operation.Type == plan.Apply || operation.Type == plan.Merge {
		metadata["managedFields"] = []any{managed(operation)}
	}
	if operation.Type == plan.Delete {
		body = map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}}
	}
	if operation.Type == plan.JSON {
		return merged(patched(stored, body), map[string]any{"metadata": metadata})
	}
	return merged(merged(stored, body), map[string]any{"metadata": metadata})
}

// managed is the entry of managedFields that a write leaves, as far as it is needed:
// fields are owned one by one, and lists as wholes.
func managed(operation plan.Operation) map[string]any {
	fields, _ := operation.Body.(map[string]any)
	verb := "Update"
	if operation.Type == plan.Apply {
		verb = "Apply"
	}
	return map[string]any{"manager": operation.Manager, "operation": verb, "fieldsV1": owned(fields)}
}

func owned(fields map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range fields {
		below, _ := value.(map[string]any)
		out["f:"+key] = owned(below)
	}
	return out
}

// merged applies a merge patch with the library of the API server.
func merged(object map[string]any, patch any) map[string]any {
	return changed(object, patch, jsonpatch.MergePatch)
}

// patched does the same with a JSON patch.
func patched(object map[string]any, steps any) map[string]any {
	return changed(object, steps, func(before, change []byte) ([]byte, error) {
		patch, err := jsonpatch.DecodePatch(change)
		if err != nil {
			return nil, err
		}
		return patch.Apply(before)
	})
}

func changed(object map[string]any, patch any, apply func(before, change []byte) ([]byte, error)) map[string]any {
	before, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	change, err := json.Marshal(patch)
	if err != nil {
		panic(err)
	}
	data, err := apply(before, change)
	if err != nil {
		panic(err)
	}
	var after map[string]any
	if err := utiljson.Unmarshal(data, &after); err != nil {
		panic(err)
	}
	return after
}

// Record implements [engine.Recorder].
func (c *cluster) Record(_ context.Context, event plan.Event, again bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.eventOK != nil {
		if err := c.eventOK(); err != nil {
			return err
		}
	}
	text := event.Reason + " " + event.Message
	if again {
		text += " (again)"
	}
	c.events = append(c.events, text)
	return nil
}
