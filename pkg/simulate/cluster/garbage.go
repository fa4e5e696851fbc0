package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// collector is who collects garbage, as a field manager.
const collector = "kube-controller-manager"

// mostRounds bounds how long a chain of owners can be, and keeps a mistake from hanging.
const mostRounds = 1000

var errNoEnd = fmt.Errorf("collecting garbage: it does not end after %d rounds", mostRounds)

// Collect does what the controllers of every cluster do about objects that nobody wants
// any more: dependents of owners that are gone are deleted, owners wait for dependents
// where they were deleted so, namespaces that are going are emptied, and what has only
// waited for its grace to end goes. It reports whether anything changed. Owners that have
// never been in the cluster are not gone: a test need not have them.
func (c *Cluster) Collect(ctx context.Context) (changed bool, err error) {
	defer c.tell()
	for range mostRounds {
		all, err := c.Objects(ctx)
		if err != nil {
			return changed, err
		}
		r := round{Cluster: c, all: all, by: make(map[types.UID]Object, len(all))}
		for _, o := range all {
			r.by[o.GetUID()] = o
		}
		again := false
		for _, o := range all {
			done, err := r.collect(ctx, o)
			if err != nil {
				return changed, fmt.Errorf("collecting garbage: %w", err)
			}
			again = again || done
		}
		if !again {
			return changed, nil
		}
		changed = true
	}
	return changed, errNoEnd
}

// round goes once through everything that was in the cluster when it began.
type round struct {
	*Cluster
	all []Object
	by  map[types.UID]Object
}

// collect does what is to be done about one object.
func (r round) collect(ctx context.Context, o Object) (bool, error) {
	if o.GetDeletionTimestamp() != nil {
		return r.finish(ctx, o)
	}
	owners := o.GetOwnerReferences()
	var keep []metav1.OwnerReference
	waited := false
	for _, reference := range owners {
		is, waits := r.owner(o, reference)
		if waited = waited || waits; is && !waits {
			keep = append(keep, reference)
		}
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case len(keep) == len(owners):
		return false, nil
	case len(keep) > 0:
		return true, r.setOwners(ctx, o, keep)
	case waited && slices.ContainsFunc(r.all, o.owns): // It waits for its dependents as its owner waits for it.
		if slices.ContainsFunc(owners, blocks) && slices.ContainsFunc(r.all, func(d Object) bool { return o.owns(d) && d.waits() }) {
			for i := range owners {
				owners[i].BlockOwnerDeletion = nil // In a circle nobody would ever go.
			}
			return true, r.setOwners(ctx, o, owners)
		}
		policy = metav1.DeletePropagationForeground
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents): // As it says itself.
		policy = metav1.DeletePropagationOrphan
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	}
	return true, r.remove(ctx, o, metav1.DeleteOptions{PropagationPolicy: &policy})
}

// owner judges a reference as the garbage collector does: what has a namespace can only
// own what is in the same, and what has none is kept where its owner would need one. It reports whether
// there is such an owner, and whether that waits for its dependents to go first.
func (r round) owner(dependent Object, reference metav1.OwnerReference) (is, waits bool) {
	resource, err := r.resourceOf(map[string]any{"apiVersion": reference.APIVersion, "kind": reference.Kind})
	if err == nil && resource.Namespaced && dependent.GetNamespace() == "" {
		return true, false
	}
	found, there := r.by[reference.UID]
	switch {
	case !there:
		return r.strangers[reference.UID] && !r.found[reference.UID] && !r.world.Made(reference.UID), false
	case found.GetName() != reference.Name, err == nil && found.GVR.GroupResource() != resource.GVR.GroupResource(),
		found.GetNamespace() != "" && found.GetNamespace() != dependent.GetNamespace():
		return false, false
	default:
		return true, found.waits()
	}
}

// waits reports whether an object that is being deleted waits for its dependents.
func (o Object) waits() bool {
	return o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

func (o Object) owns(dependent Object) bool {
	return slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
}

// blocks reports whether the owner waits for the dependent.
func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// finish goes on with an object that is being deleted.
func (r round) finish(ctx context.Context, o Object) (bool, error) {
	switch {
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		for _, dependent := range r.all {
			if !o.owns(dependent) {
				continue
			}
			left := slices.DeleteFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
			if err := r.setOwners(ctx, dependent, left); err != nil {
				return false, err
			}
		}
		return true, r.dropFinalizer(ctx, o, metav1.FinalizerOrphanDependents)
	case o.waits():
		held := slices.ContainsFunc(r.all, func(dependent Object) bool {
			return slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() && blocks(r) })
		})
		if held {
			return false, nil
		}
		return true, r.dropFinalizer(ctx, o, metav1.FinalizerDeleteDependents)
	case o.GVR.GroupResource() == namespaces:
		return r.empty(ctx, o)
	case len(o.GetFinalizers()) == 0 && !o.GetDeletionTimestamp().After(r.clock.Now()):
		return true, r.remove(ctx, o, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	default:
		return false, nil
	}
}

var namespaces = schema.GroupResource{Resource: "namespaces"}

// empty deletes what is in a namespace that is going, and lets it go once nothing is.
func (r round) empty(ctx context.Context, namespace Object) (changed bool, err error) {
	inside := 0
	for _, o := range r.all {
		if o.GetNamespace() != namespace.GetName() {
			continue
		}
		if inside++; o.GetDeletionTimestamp() != nil {
			continue
		}
		if err := r.remove(ctx, o, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
			return changed, err
		}
		changed = true
	}
	finalizers, _, _ := unstructured.NestedStringSlice(namespace.Object, "spec", "finalizers")
	foreign := slices.ContainsFunc(finalizers, func(f string) bool { return f != string(corev1.FinalizerKubernetes) })
	if inside > 0 || foreign || len(namespace.GetFinalizers()) > 0 && len(finalizers) == 0 { // It goes with the last of them.
		return changed, nil
	}
	done := namespace.DeepCopy() // Nobody but the controller of namespaces can take these finalizers away.
	unstructured.RemoveNestedField(done.Object, "spec", "finalizers")
	unstructured.RemoveNestedField(done.Object, "metadata", "resourceVersion")
	data, err := json.Marshal(done.Object)
	if err != nil {
		return changed, fmt.Errorf("encoding the namespace %s: %w", namespace.GetName(), err)
	}
	r.world.Edit(storage.Change{Resource: namespaces, Name: namespace.GetName()}, data)
	return true, r.remove(ctx, namespace, metav1.DeleteOptions{})
}

func (c *Cluster) remove(ctx context.Context, o Object, options metav1.DeleteOptions) error {
	options.Preconditions = &metav1.Preconditions{UID: new(o.GetUID())}
	return ignoreRaces(c.user.Resource(o.GVR).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), options))
}

func (c *Cluster) setOwners(ctx context.Context, o Object, owners []metav1.OwnerReference) error {
	changed := o.DeepCopy()
	changed.SetOwnerReferences(owners)
	return c.update(ctx, o, changed)
}

func (c *Cluster) dropFinalizer(ctx context.Context, o Object, name string) error {
	changed := o.DeepCopy()
	changed.SetFinalizers(slices.DeleteFunc(changed.GetFinalizers(), func(have string) bool { return have == name }))
	return c.update(ctx, o, changed)
}

func (c *Cluster) update(ctx context.Context, o Object, changed *unstructured.Unstructured) error {
	_, err := c.user.Resource(o.GVR).Namespace(o.GetNamespace()).Update(ctx, changed, metav1.UpdateOptions{FieldManager: collector})
	return ignoreRaces(err)
}

// ignoreRaces leaves to the next round what changed in this one.
func ignoreRaces(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// NextEnd is when the next grace ends of an object that is being deleted and that nothing
// else holds, zero where there is none.
func (c *Cluster) NextEnd(ctx context.Context) (time.Time, error) {
	all, err := c.Objects(ctx)
	var next time.Time
	for _, o := range all {
		end := o.GetDeletionTimestamp()
		if end == nil || len(o.GetFinalizers()) > 0 || !end.After(c.clock.Now()) {
			continue
		}
		if next.IsZero() || end.Time.Before(next) {
			next = end.Time
		}
	}
	return next, err
}
