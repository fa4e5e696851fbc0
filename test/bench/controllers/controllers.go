package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/go-logr/logr"
	pingcapv1alpha1 "github.com/pingcap/tidb-operator/pkg/apis/pingcap/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Options are the same for all controllers.
type Options struct {
	Config  *rest.Config
	Workers int    // How many objects are worked on at the same time.
	Want    string // The value that the job writes. Each run writes another one.
}

// job names the controllers of one job: the loop, and what is added to a manager.
type job struct {
	bare    func(context.Context, Options) error
	manager map[string]func(ctrl.Manager, Options) error
}

func jobs() map[string]job {
	type managed = map[string]func(ctrl.Manager, Options) error
	return map[string]job{
		"label":   {bareLabel, managed{"typed": addTypedLabel, "trimmed": addTrimmedLabel, "unstructured": addUnstructuredLabel}},
		"rules":   {bareRules, managed{"typed": addTypedRules, "unstructured": addUnstructuredRules}},
		"related": {nil, managed{"typed": addTypedRelated}},
		"child":   {bareChild, managed{"typed": addTypedChild, "applied": addAppliedChild, "unstructured": addUnstructuredChild}},
	}
}

// All are the names that a controller can have. Trimmed has types of its own with what the job label reads alone: who reads another field adds
// it there. Applied is typed, and makes the child by server-side apply, as the rule of the job child does.
func All() []string { return []string{"bare", "typed", "trimmed", "applied", "unstructured"} }

// Names are the controllers of a job.
func Names(of string) []string {
	j, known := jobs()[of]
	if !known {
		return nil
	}
	return slices.DeleteFunc(All(), func(name string) bool {
		return j.manager[name] == nil && (name != "bare" || j.bare == nil)
	})
}

// Run runs a controller of a job until the context ends. Errors are those of the start, and of the bare loop, which
// gives up at the first one.
func Run(ctx context.Context, job, name string, o Options) error {
	if !slices.Contains(Names(job), name) {
		return fmt.Errorf("job %q has no controller %q", job, name)
	}
	o.Config = rest.CopyConfig(o.Config)
	o.Config.UserAgent = name // By it the API server knows what each has written, apart from who has made the objects.
	if name == "bare" {
		return jobs()[job].bare(ctx, o)
	}
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addTypes := pingcapv1alpha1.AddToScheme
	if name == "trimmed" {
		addTypes = addSlimTypes
	}
	if err := addTypes(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme:     scheme,
		Controller: config.Controller{MaxConcurrentReconciles: o.Workers},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultTransform:             stripManagedFields,
			DefaultUnsafeDisableDeepCopy: new(true), // No controller here changes an object that it has got from the cache.
			ByObject: map[client.Object]cache.ByObject{
				&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"app": "bench"})},
				&corev1.Pod{}:       {Transform: trimPod},
			},
		},
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := jobs()[job].manager[name](manager, o); err != nil {
		return fmt.Errorf("adding the controller: %w", err)
	}
	return manager.Start(ctx)
}

// stripManagedFields does what [cache.TransformStripManagedFields] does, which decodes them first where they are unstructured.
func stripManagedFields(object any) (any, error) {
	if u, is := object.(*unstructured.Unstructured); is {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
		return u, nil
	}
	return cache.TransformStripManagedFields()(object)
}

// tidbClusterKind is the kind that all jobs are about.
func tidbClusterKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "pingcap.com", Version: "v1alpha1", Kind: "TidbCluster"}
}

// newTidbCluster is an empty object for the unstructured controllers.
func newTidbCluster() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(tidbClusterKind())
	return object
}

// setLabels sends a merge patch with the labels and the resourceVersion of a TidbCluster. An object that has changed, or is gone, meanwhile
// is left to the event that says so.
func setLabels(ctx context.Context, c client.Client, object client.Object, labels map[string]string) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion(), "labels": labels},
	})
	if err != nil {
		return err
	}
	// The answer is decoded into this object, so it has just the metadata, and is not that of the cache.
	answer := &metav1.PartialObjectMetadata{}
	answer.SetGroupVersionKind(tidbClusterKind())
	answer.SetNamespace(object.GetNamespace())
	answer.SetName(object.GetName())
	err = c.Patch(ctx, answer, client.RawPatch(types.MergePatchType, body))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
