package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// finish goes on with an object that is being deleted.
func (c *Cluster) finish(ctx context.Context, o Object, all population) (bool, error) {
	switch {
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return c.orphan(ctx, o, all)
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		if slices.ContainsFunc(all.objects, func(dependent Object) bool { return holds(dependent, o) }) {
			return false, nil
		}
		return true, c.dropFinalizer(ctx, o, metav1.FinalizerDeleteDependents)
	case o.GVR.GroupResource() == namespaces():
		return c.empty(ctx, o, all)
	case len(o.GetFinalizers()) == 0 && !o.GetDeletionTimestamp().After(c.clock.Now()):
		var now int64
		return true, c.deleteWith(ctx, o, metav1.DeleteOptions{GracePeriodSeconds: &now})
	default:
		return false, nil
	}
}

// orphan lets the dependents of an object live without it.
func (c *Cluster) orphan(ctx context.Context, o Object, all population) (bool, error) {
	for _, dependent := range all.objects {
		if !refers(dependent, o) {
			continue
		}
		left := slices.DeleteFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
		if err := c.setOwners(ctx, dependent, left); err != nil {
			return false, err
		}
	}
	return true, c.dropFinalizer(ctx, o, metav1.FinalizerOrphanDependents)
}

// holds reports whether an owner that waits for its dependents waits for this one.
func holds(dependent, owner Object) bool {
	return slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() && blocks(r) })
}

func namespaces() schema.GroupResource { return schema.GroupResource{Resource: "namespaces"} }

// empty deletes what is in a namespace that is going, and lets it go once nothing is.
func (c *Cluster) empty(ctx context.Context, namespace Object, all population) (changed bool, err error) {
	inside := 0
	for _, o := range all.objects {
		if o.GetNamespace() != namespace.GetName() {
			continue
		}
		inside++
		if o.GetDeletionTimestamp() != nil {
			continue
		}
		if err := c.delete(ctx, o, metav1.DeletePropagationBackground); err != nil {
			return changed, err
		}
		changed = true
	}
	finalizers, _, err := unstructured.NestedStringSlice(namespace.Object, "spec", "finalizers")
	left := slices.DeleteFunc(finalizers, func(f string) bool { return f == string(corev1.FinalizerKubernetes) })
	switch {
	case err != nil:
		return changed, fmt.Errorf("reading the namespace %s: %w", namespace.GetName(), err)
	case inside > 0, len(left) > 0:
		return changed, nil
	case len(namespace.GetFinalizers()) > 0 && len(finalizers) == 0:
		return changed, nil // It goes with the last of them.
	}
	if err := c.finalize(namespace); err != nil {
		return changed, err
	}
	return true, c.deleteWith(ctx, namespace, metav1.DeleteOptions{})
}

// finalize takes the finalizers of a namespace from its spec, which nobody else can.
func (c *Cluster) finalize(namespace Object) error {
	done := namespace.DeepCopy()
	unstructured.RemoveNestedField(done.Object, "spec", "finalizers")
	unstructured.RemoveNestedField(done.Object, "metadata", "resourceVersion")
	data, err := json.Marshal(done.Object)
	if err != nil {
		return fmt.Errorf("encoding the namespace %s: %w", namespace.GetName(), err)
	}
	c.world.Edit(storage.Change{Resource: namespaces(), Name: namespace.GetName()}, data)
	return nil
}
