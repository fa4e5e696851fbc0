package builtin

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// attributes are what selectors look at of an object: its labels, its name and namespace,
// and the fields of its kind that may be selected by.
func (k *kind) attributes(object runtime.Object) (labels.Set, fields.Set, error) {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the metadata of a %s: %w", k.Kind, err)
	}
	known := fields.Set{"metadata.name": metadata.GetName()}
	if !k.is(clusterWide) {
		known["metadata.namespace"] = metadata.GetNamespace()
	}
	for _, path := range k.selectable {
		known[location(path).String()] = fmt.Sprint(member(object, path).Interface())
	}
	return metadata.GetLabels(), known, nil
}

// predicate is what a selection looks for.
func (k *kind) predicate(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
	return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: k.attributes}
}

// selects lets the kind be selected by its fields. A real API server refuses others.
func (k *kind) selects(scheme *runtime.Scheme) error {
	if len(k.selectable) == 0 {
		return nil // It has what all kinds have.
	}
	allowed := []string{"metadata.name", "metadata.namespace"}
	for _, path := range k.selectable {
		allowed = append(allowed, location(path).String())
	}
	err := scheme.AddFieldLabelConversionFunc(k.GroupVersionKind, func(label, value string) (string, string, error) {
		if !slices.Contains(allowed, label) {
			return "", "", fmt.Errorf("field label not supported: %s", label)
		}
		return label, value, nil
	})
	if err != nil {
		return fmt.Errorf("letting the kind %s be selected by fields: %w", k.Kind, err)
	}
	return nil
}
