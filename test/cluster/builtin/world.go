package main

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// world is what the code of Kubernetes knows beyond the documents.
type world struct {
	schemes []*runtime.Scheme
	// enums are the values of fields by schema and field; the documents are made without.
	enums map[string]map[string][]string
}

func newWorld() *world {
	w := &world{schemes: schemes(), enums: map[string]map[string][]string{}}
	refer := func(path string) spec.Ref { return spec.MustCreateRef(reference + path) }
	for name, definition := range openapi.GetOpenAPIDefinitions(refer) {
		w.enums[name] = enums(definition)
	}
	return w
}

func enums(definition common.OpenAPIDefinition) map[string][]string {
	found := map[string][]string{}
	for name, property := range definition.Schema.Properties {
		values := property.Enum
		if property.Items != nil && property.Items.Schema != nil {
			values = property.Items.Schema.Enum
		}
		for _, v := range values {
			found[name] = append(found[name], fmt.Sprint(v))
		}
	}
	return found
}

// enum lists the values of a field, none where it can have any. What a condition can be is written in documents only, which
// all that read one go by.
func (w *world) enum(model string, f field) []string {
	if f.typ.Name() == "ConditionStatus" {
		return []string{"False", "True", "Unknown"}
	}
	return w.enums[model][f.name]
}

// root finds the Go type of a kind.
func (w *world) root(gvk schema.GroupVersionKind) (root, error) {
	for _, s := range w.schemes {
		if !s.Recognizes(gvk) {
			continue
		}
		plain, err := s.New(gvk)
		if err != nil {
			return root{}, fmt.Errorf("making a %s: %w", gvk, err)
		}
		return root{typ: reflect.TypeOf(plain).Elem(), applyTo: func(made any) {
			if o, ok := made.(runtime.Object); ok {
				s.Default(o)
			}
		}}, nil
	}
	return root{}, fmt.Errorf("no Go type for %s", gvk)
}
