package worlds

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	configmaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	podtemplates = schema.GroupVersionResource{Version: "v1", Resource: "podtemplates"}
)

// user is how the history calls users.
const user = "user"

// do has a user do what a step says. What is not there cannot be changed, and what is there not made.
func (w *World) do(ctx context.Context, s step) error {
	own, made := w.user.Resource(deployments).Namespace("shop"), w.user.Resource(configmaps).Namespace("shop")
	merge := func(patch string, args ...any) error {
		_, err := own.Patch(ctx, s.name, types.MergePatchType, fmt.Appendf(nil, patch, args...), metav1.PatchOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See below.
	}
	var err error
	switch s.deed {
	case create:
		for range 60 { // A user waits until the one before is gone.
			before, err := own.Get(ctx, s.name, metav1.GetOptions{})
			if err != nil || before.GetDeletionTimestamp() == nil {
				break
			}
			w.pass(time.Minute)
		}
		_, err = own.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": s.name},
			"spec": map[string]any{"replicas": int64(s.value % 4)},
		}}, metav1.CreateOptions{FieldManager: "user"})
	case scale:
		err = merge(`{"spec":{"replicas":%d}}`, s.value%4)
	case relabel:
		err = merge(`{"metadata":{"labels":{"paused":"%t"}}}`, s.value%2 == 1)
	case remove:
		err = own.Delete(ctx, s.name, metav1.DeleteOptions{})
	case spoil:
		if s.value%2 == 1 {
			err = made.Delete(ctx, s.name, metav1.DeleteOptions{})
		} else {
			_, err = made.Patch(ctx, s.name, types.MergePatchType, []byte(`{"data":{"replicas":"many"}}`), metav1.PatchOptions{FieldManager: "user"})
		}
	case crash, restart, freeze, compact: // No user does that.
	}
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err //nolint:wrapcheck // It is that of the API server, which has no faults for users.
}
