package controlplane

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func tidbclusters() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
}

func configmaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func pods() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

func start(t *testing.T, o Options) *ControlPlane {
	t.Helper()
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func configMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
	}}
}

func tidbCluster(name string) map[string]any {
	return map[string]any{
		"apiVersion": "pingcap.com/v1alpha1",
		"kind":       "TidbCluster",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"version": "v8.5.0",
			"pd":      map[string]any{"replicas": int64(2), "requests": map[string]any{"storage": "1Gi"}},
		},
	}
}

func create(
	t *testing.T, c *ControlPlane, resource schema.GroupVersionResource, namespace string, object map[string]any,
) *unstructured.Unstructured {
	t.Helper()
	created, err := c.dynamic.Resource(resource).Namespace(namespace).
		Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func installTidb(t *testing.T, c *ControlPlane) {
	t.Helper()
	dir, err := ModuleDir(t.Context(), TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.InstallCRDs(t.Context(), filepath.Join(dir, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml")); err != nil {
		t.Fatal(err)
	}
}
