package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// The labels of the ConfigMap.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by" // dyncontroller
	LabelInstance  = "dyncontroller.dev/instance"
)

// maxSize is what the values of a ConfigMap may have together, in bytes.
const maxSize = 1 << 20

// attempts bounds how often a change is made anew because somebody else was faster.
const attempts = 10

// GVR returns the resource that the books are stored in. To keep one takes get,
// create and update in its namespace.
func GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

// Client is what a [ConfigMap] needs of a dynamic client for the ConfigMaps of its
// namespace.
type Client interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Create(ctx context.Context, object *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, object *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error)
}

// ConfigMap is a [Store] in a ConfigMap, with a key for each set. It is created when
// there is first something to keep, and is empty, not deleted, when all has been
// cleaned up.
type ConfigMap struct {
	client              Client
	namespace, instance string
}

// NewConfigMap returns the store of an instance. Instances in one namespace do not
// see each other's.
func NewConfigMap(client Client, namespace, instance string) (*ConfigMap, error) {
	if reasons := validation.IsDNS1123Label(instance); len(reasons) > 0 {
		return nil, fmt.Errorf("the instance %q cannot be part of the name of a ConfigMap: %s", instance, strings.Join(reasons, "; "))
	}
	return &ConfigMap{client: client, namespace: namespace, instance: instance}, nil
}

func (c *ConfigMap) name() string { return "dyncontroller-inventory-" + c.instance }

// String names the ConfigMap.
func (c *ConfigMap) String() string { return "ConfigMap " + c.namespace + "/" + c.name() }

// Load implements [Store].
func (c *ConfigMap) Load(ctx context.Context) (Book, error) {
	_, book, err := c.read(ctx)
	return book, err
}

// errOvertaken says that somebody else has written in the meantime.
var errOvertaken = errors.New("somebody else has written it in the meantime")

// Update implements [Store].
func (c *ConfigMap) Update(ctx context.Context, change func(Book) Book) (Book, error) {
	var book Book
	err := errOvertaken
	for i := 0; i < attempts && errors.Is(err, errOvertaken); i++ {
		book, err = c.try(ctx, change)
	}
	return book, err
}

func (c *ConfigMap) try(ctx context.Context, change func(Book) Book) (Book, error) {
	stored, before, err := c.read(ctx)
	if err != nil {
		return Book{}, err
	}
	after := change(before)
	if after.Equal(before) {
		return after, nil
	}
	texts, err := c.encode(after)
	if err != nil {
		return Book{}, err
	}
	if err := c.write(ctx, stored, texts); err != nil {
		return Book{}, fmt.Errorf("writing the inventory, %s: %w", c, err)
	}
	return after, nil
}

// read returns the ConfigMap, nil where there is none.
func (c *ConfigMap) read(ctx context.Context) (*unstructured.Unstructured, Book, error) {
	stored, err := c.client.Get(ctx, c.name(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, Book{}, nil
	case err != nil:
		return nil, Book{}, fmt.Errorf("reading the inventory, %s: %w", c, err)
	}
	texts, _, err := unstructured.NestedStringMap(stored.Object, "data")
	if err != nil {
		return nil, Book{}, c.unreadable(err)
	}
	book, err := decode(texts)
	if err != nil {
		return nil, Book{}, c.unreadable(err)
	}
	return stored, book, nil
}

func (c *ConfigMap) unreadable(err error) error {
	return fmt.Errorf("reading the inventory, %s: %w; it says what rules have left in the cluster: "+
		"use the version that wrote it, restore it, or delete the key, after which what that set has left is not cleaned up", c, err)
}

func (c *ConfigMap) encode(b Book) (map[string]string, error) {
	texts, err := encode(b)
	if err != nil {
		return nil, fmt.Errorf("writing the inventory, %s: %w", c, err)
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > maxSize {
		return nil, fmt.Errorf("writing the inventory, %s: it would have %d bytes for %d sets, and a ConfigMap holds %d: "+
			"run some of the sets under another instance", c, size, len(texts), maxSize)
	}
	return texts, nil
}

// write replaces all of data. Other fields, such as annotations, are left as they
// are.
func (c *ConfigMap) write(ctx context.Context, stored *unstructured.Unstructured, texts map[string]string) error {
	isNew := stored == nil
	if isNew {
		stored = &unstructured.Unstructured{}
		stored.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
		stored.SetNamespace(c.namespace)
		stored.SetName(c.name())
	}
	labels := map[string]string{}
	maps.Copy(labels, stored.GetLabels())
	labels[LabelManagedBy], labels[LabelInstance] = plan.FieldManager, c.instance
	stored.SetLabels(labels)
	if err := unstructured.SetNestedStringMap(stored.Object, texts, "data"); err != nil {
		return err
	}
	var err error
	if isNew {
		_, err = c.client.Create(ctx, stored, metav1.CreateOptions{FieldManager: plan.FieldManager})
	} else {
		_, err = c.client.Update(ctx, stored, metav1.UpdateOptions{FieldManager: plan.FieldManager})
	}
	overtaken := apierrors.IsConflict(err) || isNew && apierrors.IsAlreadyExists(err) || !isNew && apierrors.IsNotFound(err)
	if overtaken {
		return fmt.Errorf("%w: %w", errOvertaken, err)
	}
	return err
}
