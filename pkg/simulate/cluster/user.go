package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// somebody is who changes objects in the steps of a test, as a field manager.
const somebody = "test"

// Name is where an object is.
type Name struct {
	GVR             schema.GroupVersionResource
	Namespace, Name string
}

// Apply makes an object be as given, as `kubectl apply --server-side` would, its status
// too. The error is that of the API server.
func (c *Cluster) Apply(ctx context.Context, object map[string]any) error {
	defer c.tell()
	resource, err := c.resourceOf(object)
	if err != nil {
		return err
	}
	c.trust(object)
	body, err := json.Marshal(unstampedBy(object))
	if err != nil {
		return fmt.Errorf("encoding an object: %w", err)
	}
	subresources := []string{""}
	if object["status"] != nil && resource.Status {
		subresources = append(subresources, "status")
	}
	at := Name{resource.GVR, textOf(object, "namespace"), textOf(object, "name")}
	for _, subresource := range subresources {
		if err := c.patch(ctx, at, subresource, types.ApplyPatchType, body); err != nil {
			return err
		}
	}
	return nil
}

// Patch changes an object. The error is that of the API server.
func (c *Cluster) Patch(ctx context.Context, at Name, subresource string, kind types.PatchType, body []byte) error {
	defer c.tell()
	return c.patch(ctx, at, subresource, kind, body)
}

func (c *Cluster) patch(ctx context.Context, at Name, subresource string, kind types.PatchType, body []byte) error {
	options := metav1.PatchOptions{FieldManager: somebody}
	if kind == types.ApplyPatchType {
		force := true
		options.Force = &force
	}
	var below []string
	if subresource != "" {
		below = []string{subresource}
	}
	_, err := c.user.Resource(at.GVR).Namespace(at.Namespace).Patch(ctx, at.Name, kind, body, options, below...)
	return err
}

// Version changes with every change of an object.
func (c *Cluster) Version() uint64 { return c.world.Version() }

// Namespaces are those that have an object of the name, in order.
func (c *Cluster) Namespaces(resource schema.GroupResource, name string) []string {
	var out []string
	for _, at := range c.world.List() {
		if at.Resource == resource && at.Name == name {
			out = append(out, at.Namespace)
		}
	}
	return out
}

// Delete deletes an object as kubectl does, in the background: kinds that would leave what
// belongs to them do not. The error is that of the API server.
func (c *Cluster) Delete(ctx context.Context, at Name) error {
	defer c.tell()
	background := metav1.DeletePropagationBackground
	return c.user.Resource(at.GVR).Namespace(at.Namespace).Delete(ctx, at.Name, metav1.DeleteOptions{PropagationPolicy: &background})
}

// Get returns nil where there is no such object.
func (c *Cluster) Get(ctx context.Context, at Name) (map[string]any, error) {
	found, err := c.user.Resource(at.GVR).Namespace(at.Namespace).Get(ctx, at.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return found.Object, nil
	}
}

// Objects lists everything in the cluster, in the order of resources, namespaces and names.
func (c *Cluster) Objects(ctx context.Context) ([]Object, error) { return c.everything(ctx) }

// unstampedBy is an object without what only the API server writes.
func unstampedBy(object map[string]any) map[string]any {
	out := (&unstructured.Unstructured{Object: object}).DeepCopy()
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(out.Object, "metadata", key)
	}
	return out.Object
}
