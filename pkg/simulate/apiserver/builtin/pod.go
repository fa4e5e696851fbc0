package builtin

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

func pod() custom {
	return custom{
		create: func(_ context.Context, object runtime.Object) {
			p, _ := object.(*corev1.Pod)
			p.Status.Phase = corev1.PodPending
			p.Status.QOSClass = quality(p)
		},
		updateStatus: func(object, old runtime.Object) {
			restore(object, old, "OwnerReferences")
			clearMember(object, "DeletionTimestamp")
			p, _ := object.(*corev1.Pod)
			if p.Status.QOSClass == "" {
				restore(object, old, "Status.QOSClass")
			}
		},
		validateUpdate: validatePodUpdate,
	}
}

// quality is the class of a new Pod by what its containers ask for.
func quality(p *corev1.Pod) corev1.PodQOSClass {
	guaranteed, asks := true, false
	for _, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := container.Resources.Requests[name], container.Resources.Limits[name]
			asks = asks || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && (request.IsZero() || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !asks:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

// changeable are the fields of a Pod that may be changed, as the API server names them.
func changeable() []string {
	return []string{
		"`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`",
		"`spec.tolerations` (only additions to existing tolerations)",
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
	}
}

// validatePodUpdate is what is wrong with a change of the spec of a Pod.
func validatePodUpdate(object, old runtime.Object) field.ErrorList {
	is, _ := object.(*corev1.Pod)
	was, _ := old.(*corev1.Pod)
	if equality.Semantic.DeepEqual(is.Spec, was.Spec) {
		return nil
	}
	if len(is.Spec.Containers) != len(was.Spec.Containers) {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "containers"), "pod updates may not add or remove containers")}
	}
	if len(is.Spec.InitContainers) != len(was.Spec.InitContainers) {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "initContainers"), "pod updates may not add or remove containers")}
	}
	if is.Spec.ActiveDeadlineSeconds == nil && was.Spec.ActiveDeadlineSeconds != nil {
		at := field.NewPath("spec", "activeDeadlineSeconds")
		return field.ErrorList{field.Invalid(at, is.Spec.ActiveDeadlineSeconds, "must not update from a positive integer to nil value")}
	}
	same := is.Spec.DeepCopy()
	for i := range same.Containers {
		same.Containers[i].Image = was.Spec.Containers[i].Image
	}
	for i := range same.InitContainers {
		same.InitContainers[i].Image = was.Spec.InitContainers[i].Image
	}
	same.ActiveDeadlineSeconds, same.Tolerations, same.SchedulingGates = was.Spec.ActiveDeadlineSeconds, was.Spec.Tolerations, was.Spec.SchedulingGates
	if equality.Semantic.DeepEqual(*same, was.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than "+strings.Join(changeable(), ","))}
}

// graceful is the strategy for deleting Pods: those on a node get time to end.
type graceful struct{ strategy }

var _ rest.RESTGracefulDeleteStrategy = graceful{}

// CheckGracefulDelete implements [rest.RESTGracefulDeleteStrategy].
func (graceful) CheckGracefulDelete(_ context.Context, object runtime.Object, options *metav1.DeleteOptions) bool {
	p, isPod := object.(*corev1.Pod)
	if options == nil || !isPod {
		return false
	}
	var seconds int64
	switch {
	case p.Spec.NodeName == "", p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
	case options.GracePeriodSeconds != nil:
		seconds = *options.GracePeriodSeconds
	case p.Spec.TerminationGracePeriodSeconds != nil:
		seconds = *p.Spec.TerminationGracePeriodSeconds
	default:
		seconds = corev1.DefaultTerminationGracePeriodSeconds // What a stored Pod would say.
	}
	if seconds < 0 {
		seconds = 1
	}
	options.GracePeriodSeconds = &seconds
	return true
}

// dependents is the strategy for deleting what leaves its dependents alone, or has none.
type dependents struct {
	strategy
	policy rest.GarbageCollectionPolicy
}

var _ rest.GarbageCollectionDeleteStrategy = dependents{}

// DefaultGarbageCollectionPolicy implements [rest.GarbageCollectionDeleteStrategy].
func (d dependents) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	return d.policy
}
