package controllers

import (
	"context"
	"strings"

	pingcapv1alpha1 "github.com/pingcap/tidb-operator/pkg/apis/pingcap/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// typedLabels sets labels of clusters.
type typedLabels struct {
	client.Client

	// missing are the labels that a cluster should have and has not.
	missing func(*pingcapv1alpha1.TidbCluster) map[string]string
}

func addTypedLabels(manager ctrl.Manager, missing func(*pingcapv1alpha1.TidbCluster) map[string]string) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&pingcapv1alpha1.TidbCluster{}, builder.WithPredicates(predicate.NewPredicateFuncs(func(object client.Object) bool {
			cluster, is := object.(*pingcapv1alpha1.TidbCluster)
			return is && len(missing(cluster)) > 0
		}))).
		Complete(&typedLabels{manager.GetClient(), missing})
}

func (r *typedLabels) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cluster pingcapv1alpha1.TidbCluster
	if err := r.Get(ctx, request.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	missing := r.missing(&cluster)
	if len(missing) == 0 {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, setLabels(ctx, r, &cluster, missing)
}

// isLarge says whether a cluster is one that labels are for.
func isLarge(c *pingcapv1alpha1.TidbCluster) bool {
	return c.DeletionTimestamp.IsZero() && !c.Spec.Paused && c.Spec.TiKV != nil && c.Spec.TiKV.Replicas >= 3
}

// addTypedLabel is the job of rules/label.yaml.
func addTypedLabel(manager ctrl.Manager, o Options) error {
	return addTypedLabels(manager, func(c *pingcapv1alpha1.TidbCluster) map[string]string {
		if !isLarge(c) || c.Labels["tier"] == o.Want {
			return nil
		}
		return map[string]string{"tier": o.Want}
	})
}

// slimCluster has what the job label reads of a TidbCluster.
type slimCluster struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Paused bool `json:"paused"`
		TiKV   struct {
			Replicas int32 `json:"replicas"`
		} `json:"tikv"`
	} `json:"spec"`
}

// slimClusters is a list of them.
type slimClusters struct {
	metav1.TypeMeta
	metav1.ListMeta `json:"metadata"`

	Items []slimCluster `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (c *slimCluster) DeepCopyObject() runtime.Object {
	out := *c
	c.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *slimClusters) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]slimCluster, len(l.Items))
	for i, item := range l.Items {
		item.DeepCopyInto(&item.ObjectMeta)
		out.Items[i] = item
	}
	return &out
}

// addSlimTypes has a scheme know TidbClusters as slimCluster.
func addSlimTypes(scheme *runtime.Scheme) error {
	kind := tidbClusterKind()
	scheme.AddKnownTypeWithName(kind, &slimCluster{})
	scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &slimClusters{})
	metav1.AddToGroupVersion(scheme, kind.GroupVersion())
	return nil
}

// trimmedLabel is typedLabels with small types.
type trimmedLabel struct {
	client.Client

	want string
}

func (r *trimmedLabel) concerns(object client.Object) bool {
	c, is := object.(*slimCluster)
	return is && c.DeletionTimestamp.IsZero() && !c.Spec.Paused && c.Spec.TiKV.Replicas >= 3 && c.Labels["tier"] != r.want
}

func addTrimmedLabel(manager ctrl.Manager, o Options) error {
	r := &trimmedLabel{manager.GetClient(), o.Want}
	return ctrl.NewControllerManagedBy(manager).
		For(&slimCluster{}, builder.WithPredicates(predicate.NewPredicateFuncs(r.concerns))).
		Complete(r)
}

func (r *trimmedLabel) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cluster slimCluster
	if err := r.Get(ctx, request.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.concerns(&cluster) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, setLabels(ctx, r, &cluster, map[string]string{"tier": r.want})
}

// addTypedRules is the job of rules/rules.yaml.
func addTypedRules(manager ctrl.Manager, o Options) error {
	return addTypedLabels(manager, func(c *pingcapv1alpha1.TidbCluster) map[string]string {
		if !isLarge(c) {
			return nil
		}
		var missing map[string]string
		label := func(name string, matches bool) {
			if !matches || c.Labels[name] == o.Want {
				return
			}
			if missing == nil {
				missing = make(map[string]string, 10)
			}
			missing[name] = o.Want
		}
		label("tier", true)
		label("pd", c.Spec.PD != nil && c.Spec.PD.Replicas == 3)
		label("tidb", c.Spec.TiDB != nil && c.Spec.TiDB.Replicas == 2)
		label("service", c.Spec.TiDB != nil && c.Spec.TiDB.Service != nil && c.Spec.TiDB.Service.Type == "ClusterIP")
		label("version", c.Spec.Version == "v8.5.5")
		label("timezone", c.Spec.Timezone == "UTC")
		label("reclaim", c.Spec.PVReclaimPolicy != nil && *c.Spec.PVReclaimPolicy == "Retain")
		label("update", c.Spec.ConfigUpdateStrategy == "RollingUpdate")
		label("helper", c.Spec.Helper != nil && c.Spec.Helper.Image != nil && strings.HasPrefix(*c.Spec.Helper.Image, "alpine:"))
		label("phase", c.Status.TiKV.Phase == "Normal")
		return missing
	})
}

// unstructuredLabels is typedLabels for who has no Go types.
type unstructuredLabels struct {
	client.Client

	missing func(*unstructured.Unstructured) map[string]string
}

func addUnstructuredLabels(manager ctrl.Manager, missing func(*unstructured.Unstructured) map[string]string) error {
	return ctrl.NewControllerManagedBy(manager).
		For(newTidbCluster(), builder.WithPredicates(predicate.NewPredicateFuncs(func(object client.Object) bool {
			cluster, is := object.(*unstructured.Unstructured)
			return is && len(missing(cluster)) > 0
		}))).
		Complete(&unstructuredLabels{manager.GetClient(), missing})
}

func (r *unstructuredLabels) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cluster := newTidbCluster()
	if err := r.Get(ctx, request.NamespacedName, cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	missing := r.missing(cluster)
	if len(missing) == 0 {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, setLabels(ctx, r, cluster, missing)
}

func isLargeUnstructured(c *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(c.Object, "spec", "paused")
	replicas, _, _ := unstructured.NestedInt64(c.Object, "spec", "tikv", "replicas")
	return c.GetDeletionTimestamp() == nil && !paused && replicas >= 3
}

// text is a field that is text, or nothing.
func text(c *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(c.Object, path...)
	return value
}

// addUnstructuredLabel is the job of rules/label.yaml.
func addUnstructuredLabel(manager ctrl.Manager, o Options) error {
	return addUnstructuredLabels(manager, func(c *unstructured.Unstructured) map[string]string {
		if !isLargeUnstructured(c) || text(c, "metadata", "labels", "tier") == o.Want { // GetLabels would copy all of them.
			return nil
		}
		return map[string]string{"tier": o.Want}
	})
}

// addUnstructuredRules is the job of rules/rules.yaml.
func addUnstructuredRules(manager ctrl.Manager, o Options) error {
	return addUnstructuredLabels(manager, func(c *unstructured.Unstructured) map[string]string {
		if !isLargeUnstructured(c) {
			return nil
		}
		var missing map[string]string
		label := func(name string, matches bool) {
			if !matches || text(c, "metadata", "labels", name) == o.Want {
				return
			}
			if missing == nil {
				missing = make(map[string]string, 10)
			}
			missing[name] = o.Want
		}
		replicas := func(of string) int64 {
			n, _, _ := unstructured.NestedInt64(c.Object, "spec", of, "replicas")
			return n
		}
		label("tier", true)
		label("pd", replicas("pd") == 3)
		label("tidb", replicas("tidb") == 2)
		label("service", text(c, "spec", "tidb", "service", "type") == "ClusterIP")
		label("version", text(c, "spec", "version") == "v8.5.5")
		label("timezone", text(c, "spec", "timezone") == "UTC")
		label("reclaim", text(c, "spec", "pvReclaimPolicy") == "Retain")
		label("update", text(c, "spec", "configUpdateStrategy") == "RollingUpdate")
		label("helper", strings.HasPrefix(text(c, "spec", "helper", "image"), "alpine:"))
		label("phase", text(c, "status", "tikv", "phase") == "Normal")
		return missing
	})
}
