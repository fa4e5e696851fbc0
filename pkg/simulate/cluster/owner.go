package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// population is everything in the cluster, as the garbage collector needs it.
type population struct {
	objects []Object
	by      map[types.UID]Object
}

func populationOf(objects []Object) population {
	out := population{objects, make(map[types.UID]Object, len(objects))}
	for _, o := range objects {
		out.by[o.GetUID()] = o
	}
	return out
}

func (p population) hasDependents(owner Object) bool {
	return slices.ContainsFunc(p.objects, func(o Object) bool { return refers(o, owner) })
}

// owner is what has become of one.
type owner int

const (
	ownerIs    owner = iota
	ownerWaits       // for its dependents to go first
	ownerGone
)

// ownerOf judges a reference as the garbage collector does: what has a namespace can only
// own what is in the same, and what has none is kept where its owner would need one.
func (c *Cluster) ownerOf(dependent Object, r metav1.OwnerReference, all population) owner {
	resource, err := c.resourceOf(map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind})
	if err == nil && resource.Namespaced && dependent.GetNamespace() == "" {
		return ownerIs
	}
	found, there := all.by[r.UID]
	switch {
	case !there && c.strangers[r.UID] && !c.hasBeen(r.UID):
		return ownerIs
	case !there, found.GetName() != r.Name, err == nil && found.GVR.GroupResource() != resource.GVR.GroupResource(),
		found.GetNamespace() != "" && found.GetNamespace() != dependent.GetNamespace():
		return ownerGone
	case waitsForDependents(found):
		return ownerWaits
	default:
		return ownerIs
	}
}

// hasBeen reports whether an object is in the cluster, or was.
func (c *Cluster) hasBeen(uid types.UID) bool { return c.found[uid] || c.world.Made(uid) }

func waitsForDependents(o Object) bool {
	return o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

func refers(dependent, owner Object) bool {
	return slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}

// blocks reports whether the owner waits for the dependent.
func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}
