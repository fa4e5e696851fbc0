package builtin

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// strategy is that of a row of the table for writes of whole objects. It is immutable.
type strategy struct {
	*kind
	runtime.ObjectTyper
	names.NameGenerator
}

var (
	_ rest.RESTCreateStrategy  = strategy{}
	_ rest.RESTUpdateStrategy  = strategy{}
	_ rest.ResetFieldsStrategy = strategy{}

	_ rest.DeclarativeValidationStrategy = strategy{}
)

// NamespaceScoped implements [rest.RESTCreateStrategy].
func (s strategy) NamespaceScoped() bool { return !s.is(clusterWide) }

// AllowCreateOnUpdate implements [rest.RESTUpdateStrategy].
func (s strategy) AllowCreateOnUpdate(context.Context) bool { return s.is(createdByUpdate) }

// AllowUnconditionalUpdate implements [rest.RESTUpdateStrategy].
func (s strategy) AllowUnconditionalUpdate(context.Context) bool { return !s.is(guarded) }

// Canonicalize implements [rest.RESTCreateStrategy].
func (strategy) Canonicalize(runtime.Object) {}

// WarningsOnCreate implements [rest.RESTCreateStrategy].
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate implements [rest.RESTUpdateStrategy].
func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// GetResetFields implements [rest.ResetFieldsStrategy].
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if !s.is(hasStatus) {
		return nil
	}
	return s.reset(fieldpath.MakePathOrDie("status"))
}

// reset says that the fields are not to be set in a request.
func (k *kind) reset(paths ...fieldpath.Path) map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(k.GroupVersion().String()): fieldpath.NewSet(paths...)}
}

// PrepareForCreate implements [rest.RESTCreateStrategy].
func (s strategy) PrepareForCreate(ctx context.Context, object runtime.Object) {
	if s.is(hasStatus) && !s.is(settableStatus) {
		clearMember(object, "Status")
	}
	if s.bumps != nil {
		setGeneration(object, 1)
	}
	if s.own != nil && s.own.create != nil {
		s.own.create(ctx, object)
	}
}

// PrepareForUpdate implements [rest.RESTUpdateStrategy].
func (s strategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	if s.is(hasStatus) {
		restore(object, old, "Status")
	}
	if s.own != nil && s.own.update != nil {
		s.own.update(object, old)
	}
	if differs(object, old, s.bumps) {
		setGeneration(object, generation(old)+1)
	}
}

// Validate implements [rest.RESTCreateStrategy].
func (s strategy) Validate(_ context.Context, object runtime.Object) field.ErrorList {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	out := validation.ValidateObjectMetaAccessor(metadata, s.NamespaceScoped(), s.validName, field.NewPath("metadata"))
	out = append(out, finalizers(metadata)...)
	if s.own != nil && s.own.validate != nil {
		out = append(out, s.own.validate(object)...)
	}
	return out
}

// ValidateUpdate implements [rest.RESTUpdateStrategy]. The registry has checked the metadata.
func (s strategy) ValidateUpdate(_ context.Context, object, old runtime.Object) field.ErrorList {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	out := finalizers(metadata)
	for _, path := range s.fixed {
		out = append(out, validation.ValidateImmutableField(member(object, path).Interface(), member(old, path).Interface(), location(path))...)
	}
	if s.own == nil {
		return out
	}
	if s.own.validateUpdate != nil {
		out = append(out, s.own.validateUpdate(object, old)...)
	}
	if s.own.validate != nil {
		out = append(out, s.own.validate(object)...)
	}
	return out
}

// ValidateDeclaratively implements [rest.DeclarativeValidationStrategy]. There are no
// declarations here; but as for a real API server, what is found twice is said once.
func (strategy) ValidateDeclaratively(
	_ context.Context, _, _ runtime.Object, found field.ErrorList, _ operation.Type, _ rest.DeclarativeValidationConfig,
) field.ErrorList {
	var out field.ErrorList
	said := map[string]bool{}
	for _, problem := range found {
		if text := problem.Error(); !said[text] {
			said[text] = true
			out = append(out, problem)
		}
	}
	return out
}

// DeclarativeValidationConfig implements [rest.DeclarativeValidationStrategy].
func (strategy) DeclarativeValidationConfig(context.Context, runtime.Object, runtime.Object) rest.DeclarativeValidationConfig {
	return rest.DeclarativeValidationConfig{}
}

// finalizers is what is wrong with names of finalizers: those without a domain are Kubernetes' own.
func finalizers(object metav1.Object) field.ErrorList {
	var out field.ErrorList
	for i, name := range object.GetFinalizers() {
		switch name {
		case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
			continue
		}
		if !strings.Contains(name, "/") {
			at := field.NewPath("metadata", "finalizers").Index(i)
			out = append(out, field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return out
}

func generation(object runtime.Object) int64 { return member(object, "ObjectMeta.Generation").Int() }

func setGeneration(object runtime.Object, to int64) {
	member(object, "ObjectMeta.Generation").SetInt(to)
}
