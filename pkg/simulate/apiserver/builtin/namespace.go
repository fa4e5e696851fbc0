package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/util/dryrun"
)

func namespace() custom {
	return custom{
		create: func(_ context.Context, object runtime.Object) {
			n, _ := object.(*corev1.Namespace)
			n.Status.Phase = corev1.NamespaceActive
			if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
				n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
			}
		},
		update: func(object, old runtime.Object) { restore(object, old, "Spec.Finalizers") },
	}
}

// labelNamespace gives a namespace the label that all have, as defaulting does.
func labelNamespace(object any) {
	n, isNamespace := object.(*corev1.Namespace)
	if !isNamespace || n.Name == "" {
		return
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}

// namespaces are deleted in two steps: first they are terminating, and they go once their
// spec.finalizers have.
type namespaces struct{ *objects }

// emptied reports whether an update takes the last finalizer of a namespace that is going.
func emptied(ctx context.Context, key string, object, existing runtime.Object) bool {
	n, isNamespace := object.(*corev1.Namespace)
	return isNamespace && len(n.Spec.Finalizers) == 0 && registry.ShouldDeleteDuringUpdate(ctx, key, object, existing)
}

// Delete implements [rest.GracefulDeleter].
func (n namespaces) Delete(
	ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
) (runtime.Object, bool, error) {
	found, err := n.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	going, _ := found.(*corev1.Namespace)
	if err := n.precondition(going, options); err != nil {
		return nil, false, err
	}
	switch {
	case going.DeletionTimestamp.IsZero():
		terminating, err := n.terminate(ctx, name, validate, options)
		return terminating, false, err
	case len(going.Spec.Finalizers) > 0:
		return going, false, nil
	default:
		return n.objects.Delete(ctx, name, validate, options) //nolint:wrapcheck // It is an answer.
	}
}

// precondition checks what is asked of a namespace, and adds that it be the one that was found.
func (n namespaces) precondition(found *corev1.Namespace, options *metav1.DeleteOptions) error {
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	asked := options.Preconditions
	if asked.UID == nil {
		asked.UID = &found.UID
	}
	if *asked.UID != found.UID {
		return n.conflict(found.Name, "UID", string(*asked.UID), string(found.UID))
	}
	if asked.ResourceVersion != nil && *asked.ResourceVersion != found.ResourceVersion {
		return n.conflict(found.Name, "ResourceVersion", *asked.ResourceVersion, found.ResourceVersion)
	}
	return nil
}

func (n namespaces) conflict(name, what, asked, found string) error {
	return apierrors.NewConflict(n.DefaultQualifiedResource, name,
		fmt.Errorf("Precondition failed: %s in precondition: %s, %s in object meta: %s", what, asked, what, found)) //nolint:staticcheck // So it is worded.
}

func (n namespaces) terminate(
	ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
) (runtime.Object, error) {
	key, err := n.KeyFunc(ctx, name)
	if err != nil {
		return nil, err
	}
	change := func(existing runtime.Object) (runtime.Object, error) {
		if err := validate(ctx, existing); err != nil {
			return nil, err
		}
		going, _ := existing.(*corev1.Namespace)
		now := metav1.Now()
		going.DeletionTimestamp = &now
		going.Status.Phase = corev1.NamespaceTerminating
		propagate(going, options)
		return going, nil
	}
	out := n.NewFunc()
	asked := storage.Preconditions{UID: options.Preconditions.UID, ResourceVersion: options.Preconditions.ResourceVersion}
	err = n.Storage.GuaranteedUpdate(ctx, key, out, false, &asked, storage.SimpleUpdate(change), dryrun.IsDryRun(options.DryRun), nil)
	if err == nil {
		return out, nil
	}
	err = storageerrors.InterpretGetError(err, n.DefaultQualifiedResource, name)
	err = storageerrors.InterpretUpdateError(err, n.DefaultQualifiedResource, name)
	if status := new(apierrors.StatusError); !errors.As(err, &status) {
		return nil, apierrors.NewInternalError(err)
	}
	return nil, err //nolint:wrapcheck // It is an answer.
}

// propagate sets the finalizers that say what becomes of dependents, where that is asked for.
func propagate(going *corev1.Namespace, options *metav1.DeleteOptions) {
	if options.PropagationPolicy == nil {
		return
	}
	for finalizer, wanted := range map[string]bool{
		metav1.FinalizerOrphanDependents: *options.PropagationPolicy == metav1.DeletePropagationOrphan,
		metav1.FinalizerDeleteDependents: *options.PropagationPolicy == metav1.DeletePropagationForeground,
	} {
		going.Finalizers = slices.DeleteFunc(going.Finalizers, func(f string) bool { return f == finalizer })
		if wanted {
			going.Finalizers = append(going.Finalizers, finalizer)
		}
	}
}
