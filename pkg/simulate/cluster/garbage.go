package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		objects, err := c.everything(ctx)
		if err != nil {
			return changed, err
		}
		all := populationOf(objects)
		again := false
		for _, o := range objects {
			done, err := c.collect(ctx, o, all)
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

// collect does what is to be done about one object.
func (c *Cluster) collect(ctx context.Context, o Object, all population) (bool, error) {
	switch {
	case o.GetDeletionTimestamp() != nil:
		return c.finish(ctx, o, all)
	case len(o.GetOwnerReferences()) == 0:
		return false, nil
	}
	var keep []metav1.OwnerReference
	waits := false
	for _, r := range o.GetOwnerReferences() {
		switch c.ownerOf(o, r, all) {
		case ownerIs:
			keep = append(keep, r)
		case ownerWaits:
			waits = true
		case ownerGone:
		}
	}
	switch {
	case len(keep) == len(o.GetOwnerReferences()):
		return false, nil
	case len(keep) > 0:
		return true, c.setOwners(ctx, o, keep)
	case waits && all.hasDependents(o):
		return c.goFirst(ctx, o, all)
	default:
		return true, c.delete(ctx, o, policyOf(o))
	}
}

// goFirst deletes a dependent with dependents of its own, for which it waits as its owner
// waits for it.
func (c *Cluster) goFirst(ctx context.Context, o Object, all population) (bool, error) {
	inCircle := slices.ContainsFunc(all.objects, func(dependent Object) bool { return refers(dependent, o) && waitsForDependents(dependent) })
	if owners := o.GetOwnerReferences(); inCircle && slices.ContainsFunc(owners, blocks) {
		for i := range owners {
			owners[i].BlockOwnerDeletion = nil // Nobody would ever go.
		}
		return true, c.setOwners(ctx, o, owners)
	}
	return true, c.delete(ctx, o, metav1.DeletePropagationForeground)
}

// policyOf is how an object is deleted of which there are no owners left: as it says itself.
func policyOf(o Object) metav1.DeletionPropagation {
	switch {
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	default:
		return metav1.DeletePropagationBackground
	}
}

func (c *Cluster) delete(ctx context.Context, o Object, propagation metav1.DeletionPropagation) error {
	return c.deleteWith(ctx, o, metav1.DeleteOptions{PropagationPolicy: &propagation})
}

func (c *Cluster) deleteWith(ctx context.Context, o Object, options metav1.DeleteOptions) error {
	uid := o.GetUID()
	options.Preconditions = &metav1.Preconditions{UID: &uid}
	return ignoreRaces(c.user.Resource(o.GVR).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), options))
}

func (c *Cluster) setOwners(ctx context.Context, o Object, owners []metav1.OwnerReference) error {
	changed := o.DeepCopy()
	changed.SetOwnerReferences(owners)
	_, err := c.user.Resource(o.GVR).Namespace(o.GetNamespace()).Update(ctx, changed, metav1.UpdateOptions{FieldManager: collector})
	return ignoreRaces(err)
}

func (c *Cluster) dropFinalizer(ctx context.Context, o Object, name string) error {
	changed := o.DeepCopy()
	changed.SetFinalizers(slices.DeleteFunc(changed.GetFinalizers(), func(have string) bool { return have == name }))
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
	all, err := c.everything(ctx)
	if err != nil {
		return time.Time{}, err
	}
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
	return next, nil
}
