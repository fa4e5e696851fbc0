package builtin

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// statusStrategy is that of writes of the status subresource.
type statusStrategy struct{ strategy }

// GetResetFields implements [rest.ResetFieldsStrategy].
func (s statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	paths := []fieldpath.Path{fieldpath.MakePathOrDie("spec")}
	switch {
	case s.is(aloofStatus):
		paths = append(paths, fieldpath.MakePathOrDie("metadata"))
	case s.Kind == "Deployment":
		paths = append(paths, fieldpath.MakePathOrDie("metadata", "labels"))
	case s.Kind == "Pod":
		paths = append(paths, fieldpath.MakePathOrDie("metadata", "deletionTimestamp"), fieldpath.MakePathOrDie("metadata", "ownerReferences"))
	}
	return s.reset(paths...)
}

// PrepareForUpdate implements [rest.RESTUpdateStrategy].
func (s statusStrategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	for field := range reflect.TypeOf(object).Elem().Fields() {
		switch field.Name {
		case "TypeMeta", "ObjectMeta", "Status":
		default:
			restore(object, old, field.Name)
		}
	}
	if s.is(aloofStatus) {
		is, isMetadata := reflect.TypeAssert[*metav1.ObjectMeta](member(object, "ObjectMeta").Addr())
		was, wasMetadata := reflect.TypeAssert[*metav1.ObjectMeta](member(old, "ObjectMeta").Addr())
		if isMetadata && wasMetadata {
			metav1.ResetObjectMetaForStatus(is, was)
		}
	}
	if s.own != nil && s.own.updateStatus != nil {
		s.own.updateStatus(object, old)
	}
}

// ValidateUpdate implements [rest.RESTUpdateStrategy]. The registry has checked the metadata.
func (s statusStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
