package write

import (
	"cmp"
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
	Type        plan.Type
	// Body is the patch, the object to be, or the options of a deletion.
	Body    any
	Manager string // none of a deletion
	Force   bool
}

// patchTypes are the operations that change what is there.
var patchTypes = map[plan.Type]types.PatchType{
	plan.Merge: types.MergePatchType,
	plan.JSON:  types.JSONPatchType,
	plan.Apply: types.ApplyPatchType,
}

// NewRequest adds the guards of the snapshot to an operation. Only a create, and an
// apply to what has no uid, are of an object that is not there, and can only make
// it. It is an error to write any other without a uid or a resourceVersion.
func NewRequest(operation plan.Operation) (Request, error) {
	request := Request{
		Target:      operation.Target,
		Subresource: operation.Subresource,
		Type:        operation.Type,
		Manager:     operation.Manager,
		// What can only make an object takes nothing from anybody. Without force it
		// would be told of the owners of fields of what is there, not that it is there.
		Force: operation.Force || creates(operation.Type, operation.Target),
	}
	body, err := request.guard(operation.Body)
	if err != nil {
		return Request{}, fmt.Errorf("%s: %w", request.doing(), err)
	}
	request.Body = body
	return request, nil
}

// creates reports whether an operation can only make an object.
func creates(kind plan.Type, target plan.Object) bool {
	return kind == plan.Create || kind == plan.Apply && target.UID == ""
}

// guard returns the body so that it is only good for the target.
func (r Request) guard(body any) (any, error) {
	fields, isMap := body.(map[string]any)
	steps, isList := body.([]any)
	deletion, isDeletion := body.(plan.Deletion)
	if err := r.check(); err != nil {
		return nil, err
	}
	switch {
	case r.Type == plan.Create && isMap:
		return fields, checkName(fields, r.Target)
	case r.Type == plan.Delete && isDeletion:
		return options(deletion, r.Target), nil
	case r.Type == plan.Merge && isMap:
		return guarded(fields, guards(r.Target)), nil
	case r.Type == plan.JSON && isList:
		return guardedSteps(steps, r.Target), nil
	case r.Type == plan.Apply && isMap:
		return manifest(fields, r.Target), nil
	default:
		return nil, fmt.Errorf("a body of type %T is not that of an operation of type %q", body, r.Type)
	}
}

// check refuses what nothing would guard, rather than doing something else.
func (r Request) check() error {
	if _, patches := patchTypes[r.Type]; !patches && r.Type != plan.Create && r.Type != plan.Delete {
		return fmt.Errorf("an operation of type %q cannot be sent", r.Type)
	}
	if creates(r.Type, r.Target) {
		return r.checkNew()
	}
	switch {
	case r.Target.UID == "" || r.Target.ResourceVersion == "":
		return errors.New("the snapshot has no uid or no resourceVersion to guard the write")
	case r.Subresource != "" && r.Type == plan.Delete:
		return errSubresource
	default:
		return nil
	}
}

var errSubresource = errors.New("only a patch of what is there can be of a subresource")

// checkNew is check for what can only make an object.
func (r Request) checkNew() error {
	switch {
	case r.Target.UID != "" || r.Target.ResourceVersion != "":
		return errors.New("the snapshot has the object, or has had it")
	case r.Subresource != "":
		return errSubresource
	case r.Target.Name == "" && r.Type == plan.Apply:
		return errors.New("an apply needs the name of the object")
	default:
		return nil
	}
}

// checkName makes sure that what is made is what the answers are taken for.
func checkName(fields map[string]any, target plan.Object) error {
	metadata, _ := fields["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if name != target.Name {
		return fmt.Errorf("the name in the manifest is %q, not %q", name, target.Name)
	}
	return nil
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

// neverCurrent is a resourceVersion that no object has: the revision of an empty
// store. An apply with it makes an object, and conflicts with one that is there.
const neverCurrent = "1"

// manifest is guarded, and says what it is, as server-side apply wants.
func manifest(fields map[string]any, target plan.Object) map[string]any {
	metadata := guards(target)
	if target.UID == "" {
		metadata = map[string]any{"resourceVersion": neverCurrent}
	}
	metadata["name"] = target.Name
	if target.Namespace != "" {
		metadata["namespace"] = target.Namespace
	}
	out := guarded(fields, metadata)
	out["apiVersion"] = target.GVR.GroupVersion().String()
	out["kind"] = target.Kind
	return out
}

// options say how the object goes, and that it is this one, as it was.
func options(deletion plan.Deletion, target plan.Object) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": guards(target)}
	if deletion.GracePeriodSeconds != nil {
		out["gracePeriodSeconds"] = *deletion.GracePeriodSeconds
	}
	if deletion.PropagationPolicy != "" {
		out["propagationPolicy"] = deletion.PropagationPolicy
	}
	return out
}

// Data encodes the body.
func (r Request) Data() ([]byte, error) {
	data, err := json.Marshal(r.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: encoding the request: %w", r.doing(), err)
	}
	return data, nil
}

// doing begins what is said of the request, such as "deleting pods ns/a".
func (r Request) doing() string {
	target := r.Target
	switch {
	case creates(r.Type, target):
		target.Name = cmp.Or(target.Name, "(a new one)")
		return "creating " + target.String()
	case r.Type == plan.Delete:
		return "deleting " + target.String()
	case r.Subresource != "":
		return fmt.Sprintf("writing %s of %s", r.Subresource, target)
	default:
		return "writing " + target.String()
	}
}
