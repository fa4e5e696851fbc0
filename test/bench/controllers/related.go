package controllers

import (
	"context"
	"fmt"

	pingcapv1alpha1 "github.com/pingcap/tidb-operator/pkg/apis/pingcap/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// instanceLabel says on a Pod which cluster it belongs to.
	instanceLabel = "app.kubernetes.io/instance"
	// instanceIndex is the index of the cache by that label.
	instanceIndex = "instance"
)

// typedRelated keeps a label with the number of Pods of a cluster that have not failed. It is the job of rules/related.yaml.
type typedRelated struct {
	client.Client

	want string
}

// trimPod keeps what the job reads.
func trimPod(object any) (any, error) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object, nil // The name of one that is gone.
	}
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		Labels: map[string]string{instanceLabel: pod.Labels[instanceLabel]},
	}}
	kept.Status.Phase = pod.Status.Phase
	return kept, nil
}

func addTypedRelated(manager ctrl.Manager, o Options) error {
	byInstance := func(object client.Object) []string { return []string{object.GetLabels()[instanceLabel]} }
	if err := manager.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, instanceIndex, byInstance); err != nil {
		return err
	}
	// What is read of a cluster, and what is written. Whether it is right can only be told with its Pods.
	clusters := predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			cluster, is := e.Object.(*pingcapv1alpha1.TidbCluster)
			return is && isLarge(cluster)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, _ := e.ObjectOld.(*pingcapv1alpha1.TidbCluster)
			after, is := e.ObjectNew.(*pingcapv1alpha1.TidbCluster)
			return is && isLarge(after) && (!isLarge(before) || before.Labels["pods"] != after.Labels["pods"])
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	pods := predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, _ := e.ObjectOld.(*corev1.Pod)
			after, is := e.ObjectNew.(*corev1.Pod)
			return is && (before.Status.Phase != after.Status.Phase || before.Labels[instanceLabel] != after.Labels[instanceLabel])
		},
	}
	toCluster := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
		name := pod.GetLabels()[instanceLabel]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
	})
	return ctrl.NewControllerManagedBy(manager).
		For(&pingcapv1alpha1.TidbCluster{}, builder.WithPredicates(clusters)).
		Watches(&corev1.Pod{}, toCluster, builder.WithPredicates(pods)).
		Complete(&typedRelated{manager.GetClient(), o.Want})
}

func (r *typedRelated) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cluster pingcapv1alpha1.TidbCluster
	if err := r.Get(ctx, request.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !isLarge(&cluster) {
		return ctrl.Result{}, nil
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(request.Namespace), client.MatchingFields{instanceIndex: request.Name}); err != nil {
		return ctrl.Result{}, err
	}
	n := 0
	for i := range pods.Items {
		if pods.Items[i].Status.Phase != corev1.PodFailed {
			n++
		}
	}
	want := fmt.Sprintf("%d-%s", n, r.want)
	if cluster.Labels["pods"] == want {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, setLabels(ctx, r, &cluster, map[string]string{"pods": want})
}
