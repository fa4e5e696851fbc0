package controllers

import (
	"context"
	"encoding/json"
	"maps"

	pingcapv1alpha1 "github.com/pingcap/tidb-operator/pkg/apis/pingcap/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// typedChild keeps a ConfigMap for each cluster. It is the job of rules/child.yaml.
type typedChild struct {
	client.Client

	tier string
	// applied has the ConfigMap be made by server-side apply, as the rule does, so that what is left out later is taken away.
	applied bool
}

func addTypedChild(manager ctrl.Manager, o Options) error {
	return addChild(manager, &typedChild{manager.GetClient(), o.Want, false})
}

func addAppliedChild(manager ctrl.Manager, o Options) error {
	return addChild(manager, &typedChild{manager.GetClient(), o.Want, true})
}

func addChild(manager ctrl.Manager, child *typedChild) error {
	clusters := predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, _ := e.ObjectOld.(*pingcapv1alpha1.TidbCluster)
			after, is := e.ObjectNew.(*pingcapv1alpha1.TidbCluster)
			return is && before.Spec.Version != after.Spec.Version
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false }, // The garbage collector deletes the child.
	}
	// Those that are there at the start are looked at with their clusters, and those that are new are ours.
	settings := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, _ := e.ObjectOld.(*corev1.ConfigMap)
			after, is := e.ObjectNew.(*corev1.ConfigMap)
			return is && (!maps.Equal(before.Data, after.Data) || !maps.Equal(before.Labels, after.Labels))
		},
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&pingcapv1alpha1.TidbCluster{}, builder.WithPredicates(clusters)).
		Owns(&corev1.ConfigMap{}, builder.WithPredicates(settings)).
		Complete(child)
}

func (r *typedChild) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cluster pingcapv1alpha1.TidbCluster
	if err := r.Get(ctx, request.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !cluster.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	want := corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: cluster.Name + "-settings",
			Labels:          map[string]string{"app": "bench", "tier": r.tier},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&cluster, tidbClusterKind())},
		},
		Data: map[string]string{"version": cluster.Spec.Version},
	}
	var have corev1.ConfigMap
	switch err := r.Get(ctx, client.ObjectKeyFromObject(&want), &have); {
	case apierrors.IsNotFound(err) && r.applied:
		return ctrl.Result{}, r.apply(ctx, &want)
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, r.Create(ctx, &want)
	case err != nil:
		return ctrl.Result{}, err
	case maps.Equal(have.Data, want.Data) && maps.Equal(have.Labels, want.Labels) && metav1.IsControlledBy(&have, &cluster):
		return ctrl.Result{}, nil
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"resourceVersion": have.ResourceVersion, "labels": want.Labels, "ownerReferences": want.OwnerReferences,
		},
		"data": want.Data,
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Patch(ctx, &want, client.RawPatch(types.MergePatchType, body))
}

func (r *typedChild) apply(ctx context.Context, want *corev1.ConfigMap) error {
	want.APIVersion, want.Kind = "v1", "ConfigMap"
	want.ResourceVersion = "1" // No object has it, so that the request can only make one.
	body, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return r.Patch(ctx, want, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("applied"), client.ForceOwnership)
}

// unstructuredChild is typedChild for who has no Go types.
type unstructuredChild struct {
	client.Client

	tier string
}

func addUnstructuredChild(manager ctrl.Manager, o Options) error {
	differ := func(e event.UpdateEvent, path ...string) bool {
		before, _ := e.ObjectOld.(*unstructured.Unstructured)
		after, is := e.ObjectNew.(*unstructured.Unstructured)
		if !is {
			return false
		}
		was, _, _ := unstructured.NestedFieldNoCopy(before.Object, path...)
		now, _, _ := unstructured.NestedFieldNoCopy(after.Object, path...)
		return !equality.Semantic.DeepEqual(was, now)
	}
	clusters := predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return differ(e, "spec", "version") },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	settings := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return differ(e, "data") || differ(e, "metadata", "labels") },
	}
	return ctrl.NewControllerManagedBy(manager).
		For(newTidbCluster(), builder.WithPredicates(clusters)).
		Owns(newConfigMap(), builder.WithPredicates(settings)).
		Complete(&unstructuredChild{manager.GetClient(), o.Want})
}

func newConfigMap() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return object
}

func (r *unstructuredChild) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cluster := newTidbCluster()
	if err := r.Get(ctx, request.NamespacedName, cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cluster.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	want := newConfigMap()
	want.SetNamespace(cluster.GetNamespace())
	want.SetName(cluster.GetName() + "-settings")
	want.SetLabels(map[string]string{"app": "bench", "tier": r.tier})
	want.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(cluster, tidbClusterKind())})
	want.Object["data"] = map[string]any{"version": text(cluster, "spec", "version")}
	have := newConfigMap()
	switch err := r.Get(ctx, client.ObjectKeyFromObject(want), have); {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, r.Create(ctx, want)
	case err != nil:
		return ctrl.Result{}, err
	case equality.Semantic.DeepEqual(have.Object["data"], want.Object["data"]) &&
		maps.Equal(have.GetLabels(), want.GetLabels()) && metav1.IsControlledBy(have, cluster):
		return ctrl.Result{}, nil
	}
	want.SetResourceVersion(have.GetResourceVersion())
	body, err := want.MarshalJSON()
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Patch(ctx, want, client.RawPatch(types.MergePatchType, body))
}
