package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Request is an operation as it is sent, guards included.
type Request struct {
	Target      plan.Object
	Subresource string
	PatchType   types.PatchType
	Body        any
	Manager     string
	Force       bool
}

// NewRequest adds the guards of the snapshot to an operation. It is an error
// to write an object without a uid or a resourceVersion, to do something else
// than to patch it, or not to take the live look that an operation waits for.
func NewRequest(operation plan.Operation) (Request, error) {
	target := operation.Target
	if err := patches(operation); err != nil {
		return Request{}, fmt.Errorf("writing %s: %w", target, err)
	}
	if target.UID == "" || target.ResourceVersion == "" {
		return Request{}, fmt.Errorf("writing %s: the snapshot has no uid or no resourceVersion to guard the write", target)
	}
	request := Request{
		Target:      target,
		Subresource: operation.Subresource,
		Manager:     operation.Manager,
		Force:       operation.Force,
	}
	fields, isMap := operation.Body.(map[string]any)
	steps, isList := operation.Body.([]any)
	switch {
	case operation.Type == plan.Merge && isMap:
		request.PatchType = types.MergePatchType
		request.Body = guarded(fields, guards(target))
	case operation.Type == plan.JSON && isList:
		request.PatchType = types.JSONPatchType
		request.Body = guardedSteps(steps, target)
	case operation.Type == plan.Apply && isMap:
		request.PatchType = types.ApplyPatchType
		request.Body = manifest(fields, target)
	default:
		return Request{}, fmt.Errorf("writing %s: a body of type %T is not a patch of type %q", target, operation.Body, operation.Type)
	}
	return request, nil
}

// patches refuses what is not built yet, rather than doing something else.
func patches(operation plan.Operation) error {
	switch operation.Type {
	case plan.Merge, plan.JSON, plan.Apply:
		if len(operation.Confirm) > 0 {
			return errors.New("a write that a live read must confirm is not supported yet")
		}
		return nil
	case plan.Create, plan.Delete, plan.Finalize:
		return fmt.Errorf("an operation of type %q is not supported yet", operation.Type)
	default:
		return fmt.Errorf("an operation of type %q is unknown", operation.Type)
	}
}

// guards are the metadata of a write that only the object of the snapshot
// takes.
func guards(target plan.Object) map[string]any {
	return map[string]any{"uid": string(target.UID), "resourceVersion": target.ResourceVersion}
}

// guarded returns the fields with more metadata; fields is not changed.
func guarded(fields, more map[string]any) map[string]any {
	metadata := map[string]any{}
	given, _ := fields["metadata"].(map[string]any)
	maps.Copy(metadata, given)
	maps.Copy(metadata, more)
	out := map[string]any{}
	maps.Copy(out, fields)
	out["metadata"] = metadata
	return out
}

// guardedSteps replaces rather than tests: a replaced resourceVersion that is
// stale is answered as a conflict, a failed test as an invalid request.
func guardedSteps(steps []any, target plan.Object) []any {
	return append([]any{
		map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": target.ResourceVersion},
		map[string]any{"op": "replace", "path": "/metadata/uid", "value": string(target.UID)},
	}, steps...)
}

// manifest is guarded, and says what it is, as server-side apply wants.
func manifest(fields map[string]any, target plan.Object) map[string]any {
	metadata := guards(target)
	metadata["name"] = target.Name
	if target.Namespace != "" {
		metadata["namespace"] = target.Namespace
	}
	out := guarded(fields, metadata)
	out["apiVersion"] = target.GVR.GroupVersion().String()
	out["kind"] = target.Kind
	return out
}

// Data encodes the body.
func (r Request) Data() ([]byte, error) {
	data, err := json.Marshal(r.Body)
	if err != nil {
		return nil, fmt.Errorf("encoding the request for %s: %w", r.Target, err)
	}
	return data, nil
}
