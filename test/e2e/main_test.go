// Package e2e tries dyncontroller with real CRDs: in virtual time on a simulated API server what the program does, and on a real control plane
// what only that shows.
package e2e

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// planes are the control planes of the tests.
var planes = controlplane.NewPool(func(ctx context.Context) (*controlplane.ControlPlane, error) {
	c, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	if err := installCRDs(ctx, c); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
})

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

// long is for make test-long.
var long = flag.Bool("long", false, "repeat more often what is the same each time")

// times is how often something is repeated, or of how many objects something is tried.
func times(short, inLong int) int {
	if *long {
		return inLong
	}
	return short
}

// programs is a directory for what tests build.
var programs string

// TestMain has client-go not pause between the errors of all informers: a pause since an error of another virtual clock does not end.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil //nolint:reassign // It is a test.
	debug.SetGCPercent(400)         // It has little and makes much: with 100, a quarter of the CPU time is for the garbage.
	os.Exit(planes.Main(func() int {
		var err error
		if programs, err = os.MkdirTemp("", "dyncontroller-e2e-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(programs) //nolint:errcheck // It is a temporary directory.
		return m.Run()
	}))
}

// alongside has a test run beside others, with a control plane that is its own until it ends.
func alongside(t *testing.T) {
	t.Helper()
	t.Parallel()
	planes.Lend(t)
}

// cluster is that of the test.
func cluster(t *testing.T) virtual.Cluster {
	t.Helper()
	if c := virtual.Of(t); c != nil {
		return c
	}
	return controlPlane(t)
}

// controlPlane is that of a test which needs a real one.
func controlPlane(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	return planes.Of(t)
}

func installCRDs(ctx context.Context, c *controlplane.ControlPlane) error {
	files, err := customResources(ctx)
	if err != nil {
		return err
	}
	return c.InstallCRDs(ctx, files...)
}

// customResources are the files of those that all tests have.
func customResources(ctx context.Context) ([]string, error) {
	module, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(module, "manifests", "crd", "v1")
	return []string{filepath.Join(folder, "pingcap.com_tidbclusters.yaml"), filepath.Join(folder, "pingcap.com_tidbdashboards.yaml")}, nil
}

func client(t *testing.T) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(cluster(t).RESTConfig())
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
