package inventory_test

import (
	"context"
	"errors"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
)

// client is the ConfigMaps of a namespace, with the API server's optimistic locking.
type client struct {
	dynamic.ResourceInterface

	mu       sync.Mutex
	stored   map[string]*unstructured.Unstructured
	version  int
	writes   []string
	meantime func() // runs once, after the next read
	fail     error  // of the next write
}

func newClient() *client { return &client{stored: map[string]*unstructured.Unstructured{}} }

// Get implements dynamic.ResourceInterface.
func (c *client) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	c.mu.Lock()
	found := c.stored[name].DeepCopy()
	meantime := c.meantime
	c.meantime = nil
	c.mu.Unlock()
	if meantime != nil {
		meantime()
	}
	if found == nil {
		return nil, apierrors.NewNotFound(inventory.GVR().GroupResource(), name)
	}
	return found, nil
}

// Create implements dynamic.ResourceInterface.
func (c *client) Create(_ context.Context, o *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored[o.GetName()] != nil {
		return nil, apierrors.NewAlreadyExists(inventory.GVR().GroupResource(), o.GetName())
	}
	return c.put("create", o)
}

// Update implements dynamic.ResourceInterface.
func (c *client) Update(_ context.Context, o *unstructured.Unstructured, _ metav1.UpdateOptions, _ ...string) (*unstructured.Unstructured, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch before := c.stored[o.GetName()]; {
	case before == nil:
		return nil, apierrors.NewNotFound(inventory.GVR().GroupResource(), o.GetName())
	case o.GetResourceVersion() != before.GetResourceVersion():
		return nil, apierrors.NewConflict(inventory.GVR().GroupResource(), o.GetName(), errors.New("it was modified"))
	}
	return c.put("update", o)
}

func (c *client) put(verb string, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.fail != nil {
		return nil, c.fail
	}
	c.writes = append(c.writes, verb+" "+o.GetName())
	c.version++
	o = o.DeepCopy()
	o.SetResourceVersion(strconv.Itoa(c.version))
	c.stored[o.GetName()] = o
	return o.DeepCopy(), nil
}

// set stores data as somebody else would.
func (c *client) set(data map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.stored[configMap] = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": configMap, "resourceVersion": strconv.Itoa(c.version), "annotations": map[string]any{"note": "keep"},
		},
		"data": data,
	}}
}

func (c *client) delete(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stored, name)
}

// broken is a client that cannot read.
type broken struct {
	dynamic.ResourceInterface
	err error
}

// Get implements dynamic.ResourceInterface.
func (b broken) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	return nil, b.err
}
