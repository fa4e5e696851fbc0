// Package differential holds the simulated cluster against a real API server.
//
// TestDifferential makes sequences of requests, by a seed, and tells both the same:
//
//	generator -> sequence -> side (real), side (simulated) -> answer, normal -> differs
//
// TestWatch does the same with several objects, and compares what watches show of it:
//
//	generator -> history -> show (real), show (simulated) -> seen -> differ
//
// TestExamples runs the engine on both, for every case of the examples.
package differential

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// control is the control plane of all tests of the package, and shared what they know.
var (
	control *controlplane.ControlPlane
	shared  *world
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // It has little and makes much.
	os.Exit(controlplane.Main(options(), func(c *controlplane.ControlPlane) int {
		control = c
		if err := prepare(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}))
}

// options switch off what the simulated API server does not do.
func options() controlplane.Options {
	return controlplane.Options{APIServerArgs: []string{"--disable-admission-plugins=" + strings.Join(switchedOff(), ",")}}
}

// prepare installs the definitions and completes the built-in manifests.
func prepare(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "differential-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if shared, err = newWorld(ctx, folder); err != nil {
		return err
	}
	if err := control.InstallCRDs(ctx, shared.files...); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(control.RESTConfig())
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for _, k := range shared.kinds {
		if k.custom {
			continue
		}
		if err := k.complete(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

// complete asks the real API server what it makes of a manifest: the simulated one takes
// objects of built-in kinds as they are stored.
func (k *kind) complete(ctx context.Context, client dynamic.Interface) error {
	object := &unstructured.Unstructured{Object: k.seed}
	object = object.DeepCopy()
	object.SetName("seed")
	namespace := ""
	if k.Namespaced {
		namespace = "default"
		object.SetNamespace(namespace)
	}
	if k.Kind == "Event" {
		object = object.DeepCopy()
		if err := unstructured.SetNestedField(object.Object, namespace, "regarding", "namespace"); err != nil {
			return fmt.Errorf("completing an Event: %w", err)
		}
	}
	made, err := client.Resource(k.GroupVersionResource).Namespace(namespace).
		Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return fmt.Errorf("completing %s: %w", k.GroupVersionResource, err)
	}
	finalizers, labels, annotations := made.GetFinalizers(), made.GetLabels(), made.GetAnnotations()
	unstructured.RemoveNestedField(made.Object, "metadata")
	unstructured.RemoveNestedField(made.Object, "status")
	made.SetFinalizers(finalizers)
	made.SetLabels(labels)
	made.SetAnnotations(annotations)
	if k.Kind == "Event" {
		made.Object["regarding"], made.Object["metadata"] = k.seed["regarding"], map[string]any{}
	}
	k.seed = made.Object
	return nil
}
