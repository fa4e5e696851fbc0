package controlplane

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// T is what Namespace needs of *testing.T. That it is an interface keeps package testing out of other programs.
type T interface {
	Context() context.Context
	Name() string
	Cleanup(f func())
	Fatalf(format string, args ...any)
}

// maxPrefix leaves room for the suffix that the server adds within the 63 characters of a namespace's name.
const maxPrefix = 50

// Namespace makes a namespace for a test, named after it, and deletes that after the test.
func (c *ControlPlane) Namespace(t T) string {
	name, err := c.CreateNamespace(t.Context(), prefix(t.Name()))
	if err != nil {
		t.Fatalf("%v", err)
		return ""
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := c.DeleteNamespace(ctx, name); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return name
}

// CreateNamespace makes a namespace whose name starts with prefix. Where the controller manager runs, it waits for the
// ServiceAccount without which Pods are refused.
func (c *ControlPlane) CreateNamespace(ctx context.Context, prefix string) (string, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Namespace",
		"metadata":   map[string]any{"generateName": prefix + "-"},
	}}
	created, err := c.dynamic.Resource(namespaces()).Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("creating a namespace for %q: %w", prefix, err)
	}
	name := created.GetName()
	if !c.options.ControllerManager {
		return name, nil
	}
	accounts := c.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace(name)
	err = c.poll(ctx, func() bool {
		_, err := accounts.Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	if err != nil {
		return "", fmt.Errorf("waiting for the ServiceAccount of namespace %q: %w", name, err)
	}
	return name, nil
}

// DeleteNamespace begins to delete a namespace; one that is gone is no error. Only where the controller manager runs
// does the deletion come to an end.
func (c *ControlPlane) DeleteNamespace(ctx context.Context, name string) error {
	err := c.dynamic.Resource(namespaces()).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting namespace %q: %w", name, err)
	}
	return nil
}

func namespaces() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
}

// prefix makes a test's name fit for a namespace: letters, digits and single dashes.
func prefix(test string) string {
	words := strings.FieldsFunc(strings.ToLower(test), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	return strings.TrimRight(name[:min(len(name), maxPrefix)], "-")
}
