// Package e2e tries dyncontroller on a real control plane and real CRDs.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// cluster is the control plane of all tests of the package.
var cluster *controlplane.ControlPlane

var (
	tidbclusters    = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	tidbdashboards  = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbdashboards"}
	services        = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	autoscalers     = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	configmaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets         = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	limitRanges     = schema.GroupVersionResource{Version: "v1", Resource: "limitranges"}
	events          = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
	serviceaccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	definitions     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	namespacesGVR   = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Main(controlplane.Options{}, func(c *controlplane.ControlPlane) int {
		cluster = c
		if err := installCRDs(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}))
}

func installCRDs(ctx context.Context) error {
	module, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	if err != nil {
		return err
	}
	folder := filepath.Join(module, "manifests", "crd", "v1")
	return cluster.InstallCRDs(ctx,
		filepath.Join(folder, "pingcap.com_tidbclusters.yaml"), filepath.Join(folder, "pingcap.com_tidbdashboards.yaml"))
}

func client(t *testing.T) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func create(t *testing.T, gvr schema.GroupVersionResource, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	object, err := client(t).Resource(gvr).Namespace(namespace).
		Create(t.Context(), &unstructured.Unstructured{Object: decode(t, text)}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func get(t *testing.T, gvr schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := client(t).Resource(gvr).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// edit changes an object as somebody else would.
func edit(t *testing.T, gvr schema.GroupVersionResource, namespace, name, patch string) *unstructured.Unstructured {
	t.Helper()
	object, err := client(t).Resource(gvr).Namespace(namespace).
		Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func field(object *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	return value
}
