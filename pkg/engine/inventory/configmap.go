package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// The labels of the ConfigMap.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by" // dyncontroller
	LabelInstance  = "dyncontroller.dev/instance"
)

// formatVersion is of the stored form. A program refuses what a later one has written: it would not know what to clean up.
const formatVersion = 1

// page is what is stored of a set: what its status would say. Each entry has the set, too.
type (
	page struct {
		Version   int            `json:"version"`
		Leftovers []pageLeftover `json:"leftovers"`
		Paused    []pagePause    `json:"paused,omitempty"`
		Counted   []pageCount    `json:"counted,omitempty"`
		Rollouts  []pageRollout  `json:"rollouts,omitempty"`
	}
	pageSet struct {
		SetKind      string `json:"setKind"`
		SetNamespace string `json:"setNamespace,omitempty"`
		Set          string `json:"set"`
	}
	pageLeftover struct {
		pageSet
		v1alpha1.Leftover
	}
	pagePause struct {
		pageSet
		v1alpha1.Pause
	}
	pageCount struct {
		pageSet
		v1alpha1.Count
	}
	pageRollout struct {
		pageSet
		v1alpha1.Rollout
	}
)

// GVR returns the resource that the books are stored in. To keep one takes get, create and update in its namespace.
func GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

// ConfigMap is a [Part] in a ConfigMap, with a key for each set. It is created when there is first something to keep, and
// is empty, not deleted, when all has been cleaned up.
type ConfigMap struct {
	client                    dynamic.ResourceInterface // of the ConfigMaps of its namespace
	namespace, name, instance string
}

// NewConfigMap returns the store of an instance. Instances in one namespace do not see each other's.
func NewConfigMap(client dynamic.ResourceInterface, namespace, instance string) (*ConfigMap, error) {
	name, err := ConfigMapName(instance)
	if err != nil {
		return nil, err
	}
	return &ConfigMap{client, namespace, name, instance}, nil
}

// ConfigMapName is the name of the ConfigMap of an instance.
func ConfigMapName(instance string) (string, error) {
	if reasons := validation.IsDNS1123Label(instance); len(reasons) > 0 {
		return "", fmt.Errorf("the instance %q cannot be part of the name of a ConfigMap: %s", instance, strings.Join(reasons, "; "))
	}
	return "dyncontroller-inventory-" + instance, nil
}

// String names the ConfigMap.
func (c *ConfigMap) String() string { return "ConfigMap " + c.namespace + "/" + c.name }

// Read implements [Part].
func (c *ConfigMap) Read(ctx context.Context) (Book, Replace, error) {
	stored, err := c.client.Get(ctx, c.name, metav1.GetOptions{})
	isNew := apierrors.IsNotFound(err)
	switch {
	case isNew:
		stored = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": c.namespace, "name": c.name},
		}}
	case err != nil:
		return Book{}, nil, fmt.Errorf("reading the inventory, %s: %w", c, err)
	}
	texts, _, err := unstructured.NestedStringMap(stored.Object, "data")
	var books []Book
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		book, wrong := decodePage(id, texts[id])
		if wrong != nil {
			err = fmt.Errorf("key %q: %w", id, wrong)
			break
		}
		books = append(books, book)
	}
	if err != nil {
		return Book{}, nil, fmt.Errorf("reading the inventory, %s: %w; it says what rules have left in the cluster: "+
			"use the version that wrote it, restore it, or delete the key, after which what that set has left is not cleaned up", c, err)
	}
	before := Book{}.And(books...)
	return before, func(ctx context.Context, after Book) (Book, error) {
		if after.Equal(before) {
			return after, nil
		}
		err := c.write(ctx, stored, isNew, after)
		if apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) {
			err = fmt.Errorf("%w; if it is too large, run some of the sets with another --instance", err)
		}
		if err != nil {
			return Book{}, fmt.Errorf("writing the inventory, %s: %w", c, err)
		}
		return after, nil
	}, nil
}

// decodePage reads the text of a key.
func decodePage(id, text string) (Book, error) {
	var format struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal([]byte(text), &format); err != nil {
		return Book{}, err
	}
	if format.Version != formatVersion {
		return Book{}, fmt.Errorf("it is in format %d, and this program knows format %d", format.Version, formatVersion)
	}
	var p page
	if err := parse([]byte(text), &p); err != nil {
		return Book{}, err
	}
	var s v1alpha1.Status
	var sets []pageSet
	for _, l := range p.Leftovers {
		s.Inventory, sets = append(s.Inventory, l.Leftover), append(sets, l.pageSet)
	}
	for _, one := range p.Paused {
		s.Paused, sets = append(s.Paused, one.Pause), append(sets, one.pageSet)
	}
	for _, one := range p.Counted {
		s.Counted, sets = append(s.Counted, one.Count), append(sets, one.pageSet)
	}
	for _, one := range p.Rollouts {
		s.Rollouts, sets = append(s.Rollouts, one.Rollout), append(sets, one.pageSet)
	}
	var set plan.Rule
	for _, of := range sets {
		if set = (plan.Rule{Kind: of.SetKind, Namespace: of.SetNamespace, Set: of.Set}); set.SetID() != id {
			return Book{}, fmt.Errorf("it has something of the set %q, which has another key", of.Set)
		}
	}
	return decode(set, s)
}

// write replaces all of data. Other fields, such as annotations, are left as they are. The same book has the same texts.
func (c *ConfigMap) write(ctx context.Context, stored *unstructured.Unstructured, isNew bool, book Book) error {
	texts := map[string]string{}
	for set, of := range split(book, setOf) {
		at, s := pageSet{set.Kind, set.Namespace, set.Set}, of.encode()
		p := page{Version: formatVersion, Leftovers: []pageLeftover{}}
		for _, l := range s.Inventory {
			p.Leftovers = append(p.Leftovers, pageLeftover{at, l})
		}
		for _, one := range s.Paused {
			p.Paused = append(p.Paused, pagePause{at, one})
		}
		for _, one := range s.Counted {
			p.Counted = append(p.Counted, pageCount{at, one})
		}
		for _, one := range s.Rollouts {
			p.Rollouts = append(p.Rollouts, pageRollout{at, one})
		}
		data, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("encoding what the set %s left: %w", set.SetID(), err)
		}
		texts[set.SetID()] = string(data)
	}
	labels := map[string]string{}
	maps.Copy(labels, stored.GetLabels())
	labels[LabelManagedBy], labels[LabelInstance] = plan.FieldManager, c.instance
	stored.SetLabels(labels)
	err := unstructured.SetNestedStringMap(stored.Object, texts, "data")
	switch {
	case err != nil:
		return err
	case isNew:
		_, err = c.client.Create(ctx, stored, metav1.CreateOptions{FieldManager: plan.FieldManager})
	default:
		_, err = c.client.Update(ctx, stored, metav1.UpdateOptions{FieldManager: plan.FieldManager})
	}
	if apierrors.IsConflict(err) || isNew && apierrors.IsAlreadyExists(err) || !isNew && apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	return err
}
