package differential

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// step does on the real cluster what the runner does on the simulated one.
func (s *stage) step(ctx context.Context, step simulate.Step, fixtures []map[string]any) error {
	switch {
	case step.Advance > 0:
		return nil
	case step.Apply != nil:
		objects, errs := step.Apply.Objects(disk{})
		if err := errs.Err(); err != nil {
			return err
		}
		for _, o := range objects {
			if err := s.apply(ctx, o); err != nil {
				return err
			}
		}
		return nil
	case step.Patch != nil:
		gvr, namespace, err := s.locate(step.Patch.Object, fixtures)
		if err != nil {
			return err
		}
		return s.patch(ctx, gvr, namespace, step.Patch.Name, step.Patch.Subresource, step.Patch.Type, step.Patch.Body)
	default:
		gvr, namespace, err := s.locate(step.Delete.Object, fixtures)
		if err != nil {
			return err
		}
		return s.client.Resource(gvr).Namespace(namespace).Delete(ctx, step.Delete.Name, metav1.DeleteOptions{})
	}
}

func (s *stage) apply(ctx context.Context, object map[string]any) error {
	o := (&unstructured.Unstructured{Object: object}).DeepCopy()
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(o.Object, "metadata", key)
	}
	resource, known := s.server.OfKind(o.GroupVersionKind())
	if !known {
		return fmt.Errorf("nothing defines %s", o.GroupVersionKind())
	}
	if err := s.namespace(ctx, o.GetNamespace()); err != nil {
		return err
	}
	err := s.patch(ctx, resource.GVR, o.GetNamespace(), o.GetName(), "", types.ApplyPatchType, o.Object)
	if err == nil && o.Object["status"] != nil && resource.Status {
		err = s.patch(ctx, resource.GVR, o.GetNamespace(), o.GetName(), "status", types.ApplyPatchType, o.Object)
	}
	return err
}

func (s *stage) patch(
	ctx context.Context, gvr apischema.GroupVersionResource, namespace, name, subresource string, kind types.PatchType, body any,
) error {
	options := metav1.PatchOptions{FieldManager: "test"}
	if kind == types.ApplyPatchType {
		force := true
		options.Force = &force
		if fields, is := body.(map[string]any); is {
			resource, _ := s.server.Of(gvr)
			body = merged(map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": resource.Kind.Kind}, fields)
		}
	}
	var below []string
	if subresource != "" {
		below = append(below, subresource)
	}
	_, err := s.client.Resource(gvr).Namespace(namespace).Patch(ctx, name, kind, mustJSON(body), options, below...)
	return err
}

// locate finds what a step names, as the runner does: the namespace is that of the object
// of the case that has the name.
func (s *stage) locate(o simulate.Object, fixtures []map[string]any) (gvr apischema.GroupVersionResource, namespace string, err error) {
	gvr = o.Resource
	if gvr.Version == "" {
		gvr = s.server.Preferred(gvr.GroupResource())
	}
	for _, fixture := range fixtures {
		f := &unstructured.Unstructured{Object: fixture}
		if resource, known := s.server.OfKind(f.GroupVersionKind()); known && (o.Resource.Version == "" || resource.GVR == gvr) &&
			resource.GVR.Resource == gvr.Resource && f.GetName() == o.Name {
			gvr, namespace = resource.GVR, f.GetNamespace()
		}
	}
	resource, known := s.server.Of(gvr)
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

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
