// Package steps has users do on an API server what the steps of RuleTests do on the cluster of a case.
package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// Disk reads the files of RuleTests. It implements [simulate.Files].
type Disk struct{}

// ReadFile implements [simulate.Files].
func (Disk) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) } //nolint:wrapcheck // It says which one.

// ReadDir implements [simulate.Files].
func (Disk) ReadDir(path string) ([]os.DirEntry, error) { return os.ReadDir(path) } //nolint:wrapcheck // It says which one.

// WriteFile implements [simulate.Files]: nothing is written.
func (Disk) WriteFile(string, []byte) error { return os.ErrPermission }

// Users are those of a cluster. Server knows the same resources.
type Users struct {
	Client dynamic.Interface
	Server *apiserver.Server
}

// Do does what a step does. Fixtures are the objects of the case. That the clock moves on is no request.
func (u Users) Do(ctx context.Context, step simulate.Step, fixtures []map[string]any) error {
	switch {
	case step.Advance > 0:
		return nil
	case step.Apply != nil:
		objects, errs := step.Apply.Objects(Disk{})
		if err := errs.Err(); err != nil {
			return fmt.Errorf("reading what to apply: %w", err)
		}
		for _, o := range objects {
			if err := u.Apply(ctx, o); err != nil {
				return err
			}
		}
		return nil
	case step.Patch != nil:
		gvr, namespace, err := u.Locate(step.Patch.Object, fixtures)
		if err != nil {
			return err
		}
		return u.patch(ctx, gvr, namespace, step.Patch.Name, step.Patch.Subresource, step.Patch.Type, step.Patch.Body)
	default:
		gvr, namespace, err := u.Locate(step.Delete.Object, fixtures)
		if err != nil {
			return err
		}
		return u.Client.Resource(gvr).Namespace(namespace).Delete(ctx, step.Delete.Name, metav1.DeleteOptions{}) //nolint:wrapcheck // It is an answer.
	}
}

// Apply applies an object, with its status where that is a subresource, less what only the API server writes.
func (u Users) Apply(ctx context.Context, object map[string]any) error {
	o := (&unstructured.Unstructured{Object: object}).DeepCopy()
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(o.Object, "metadata", key)
	}
	resource, known := u.Server.OfKind(o.GroupVersionKind())
	if !known {
		return fmt.Errorf("nothing defines %s", o.GroupVersionKind())
	}
	if err := u.EnsureNamespace(ctx, o.GetNamespace()); err != nil {
		return err
	}
	err := u.patch(ctx, resource.GVR, o.GetNamespace(), o.GetName(), "", types.ApplyPatchType, o.Object)
	if err == nil && o.Object["status"] != nil && resource.Status {
		err = u.patch(ctx, resource.GVR, o.GetNamespace(), o.GetName(), "status", types.ApplyPatchType, o.Object)
	}
	return err
}

func (u Users) patch(
	ctx context.Context, gvr schema.GroupVersionResource, namespace, name, subresource string, kind types.PatchType, body any,
) error {
	options := metav1.PatchOptions{FieldManager: "test"}
	if kind == types.ApplyPatchType {
		force := true
		options.Force = &force
		if fields, is := body.(map[string]any); is {
			resource, _ := u.Server.Of(gvr)
			whole := map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": resource.Kind.Kind}
			maps.Copy(whole, fields)
			body = whole
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	var below []string
	if subresource != "" {
		below = append(below, subresource)
	}
	_, err = u.Client.Resource(gvr).Namespace(namespace).Patch(ctx, name, kind, data, options, below...)
	return err //nolint:wrapcheck // It is an answer.
}

// EnsureNamespace makes a namespace unless there is one.
func (u Users) EnsureNamespace(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	_, err := u.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, object, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making a namespace: %w", err)
	}
	return nil
}

// Locate finds what a step names, as the runner does: the namespace is that of the object of the case that has the name.
func (u Users) Locate(o simulate.Object, fixtures []map[string]any) (gvr schema.GroupVersionResource, namespace string, err error) {
	gvr = o.Resource
	if gvr.Version == "" {
		gvr = u.Server.Preferred(gvr.GroupResource())
	}
	for _, fixture := range fixtures {
		f := &unstructured.Unstructured{Object: fixture}
		if resource, known := u.Server.OfKind(f.GroupVersionKind()); known && (o.Resource.Version == "" || resource.GVR == gvr) &&
			resource.GVR.Resource == gvr.Resource && f.GetName() == o.Name {
			gvr, namespace = resource.GVR, f.GetNamespace()
		}
	}
	resource, known := u.Server.Of(gvr)
	switch {
	case !known:
		return gvr, "", fmt.Errorf("nothing defines %s", o.Resource)
	case !resource.Namespaced:
		return gvr, "", nil
	case o.Namespace != "":
		return gvr, o.Namespace, nil
	case namespace == "":
		return gvr, "default", nil
	}
	return gvr, namespace, nil
}
