package apiserver

import (
	"context"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
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
		member(object, "Status").SetZero()
	}
	if s.bumps != nil {
		metadataOf(object).Generation = 1
	}
	if s.own.create != nil {
		s.own.create(ctx, object)
	}
}

// PrepareForUpdate implements [rest.RESTUpdateStrategy].
func (s strategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	if s.is(hasStatus) {
		restore(object, old, "Status")
	}
	if s.own.update != nil {
		s.own.update(object, old)
	}
	if differs(object, old, s.bumps) {
		metadataOf(object).Generation = metadataOf(old).Generation + 1
	}
}

// Validate implements [rest.RESTCreateStrategy].
func (s strategy) Validate(_ context.Context, object runtime.Object) field.ErrorList {
	out := validation.ValidateObjectMeta(metadataOf(object), s.NamespaceScoped(), s.names, field.NewPath("metadata"))
	out = append(out, finalizers(metadataOf(object))...)
	if s.own.validate != nil {
		out = append(out, s.own.validate(object)...)
	}
	return out
}

// ValidateUpdate implements [rest.RESTUpdateStrategy]. The registry has checked the metadata.
func (s strategy) ValidateUpdate(_ context.Context, object, old runtime.Object) field.ErrorList {
	out := finalizers(metadataOf(object))
	for _, path := range s.fixed {
		out = append(out, validation.ValidateImmutableField(member(object, path).Interface(), member(old, path).Interface(), location(path))...)
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
	for _, problem := range found {
		if !slices.ContainsFunc(out, func(said *field.Error) bool { return said.Error() == problem.Error() }) {
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
func finalizers(object *metav1.ObjectMeta) field.ErrorList {
	own := []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	var out field.ErrorList
	for i, name := range object.Finalizers {
		if !slices.Contains(own, name) && !strings.Contains(name, "/") {
			at := field.NewPath("metadata", "finalizers").Index(i)
			out = append(out, field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return out
}

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
		metav1.ResetObjectMetaForStatus(metadataOf(object), metadataOf(old))
	}
	if s.own.updateStatus != nil {
		s.own.updateStatus(object, old)
	}
}

// ValidateUpdate implements [rest.RESTUpdateStrategy]. The registry has checked the metadata.
func (s statusStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// member is a field of an object's Go type by its path, such as Spec.Selector. The table
// names only fields that are there, which tests hold.
func member(object runtime.Object, path string) reflect.Value {
	value := reflect.ValueOf(object).Elem()
	for name := range strings.SplitSeq(path, ".") {
		value = value.FieldByName(name)
	}
	return value
}

// metadataOf is that of an object of any kind.
func metadataOf(object runtime.Object) *metav1.ObjectMeta {
	out, _ := reflect.TypeAssert[*metav1.ObjectMeta](member(object, "ObjectMeta").Addr())
	return out
}

// restore gives a field the value that it had.
func restore(object, old runtime.Object, path string) { member(object, path).Set(member(old, path)) }

// differs reports whether one of the fields has another value, where nil and empty are the same.
func differs(object, old runtime.Object, paths []string) bool {
	for _, path := range paths {
		if !equality.Semantic.DeepEqual(member(object, path).Interface(), member(old, path).Interface()) {
			return true
		}
	}
	return false
}

// location is the path of a field as it is written in JSON: the names of Go begin with a
// capital letter, else they are the same in the fields that the table names.
func location(path string) *field.Path {
	var names []string
	for name := range strings.SplitSeq(path, ".") {
		names = append(names, strings.ToLower(name[:1])+name[1:])
	}
	return field.NewPath(names[0], names[1:]...)
}

// graceful is the strategy for deleting Pods: those on a node get time to end.
type graceful struct{ strategy }

var _ rest.RESTGracefulDeleteStrategy = graceful{}

// CheckGracefulDelete implements [rest.RESTGracefulDeleteStrategy].
func (graceful) CheckGracefulDelete(_ context.Context, object runtime.Object, options *metav1.DeleteOptions) bool {
	p, isPod := object.(*corev1.Pod)
	if options == nil || !isPod {
		return false
	}
	var seconds int64
	switch {
	case p.Spec.NodeName == "", p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
	case options.GracePeriodSeconds != nil:
		seconds = *options.GracePeriodSeconds
	case p.Spec.TerminationGracePeriodSeconds != nil:
		seconds = *p.Spec.TerminationGracePeriodSeconds
	default:
		seconds = corev1.DefaultTerminationGracePeriodSeconds // What a stored Pod would say.
	}
	if seconds < 0 {
		seconds = 1
	}
	options.GracePeriodSeconds = &seconds
	return true
}

// dependents is the strategy for deleting what leaves its dependents alone, or has none.
type dependents struct {
	strategy
	policy rest.GarbageCollectionPolicy
}

var _ rest.GarbageCollectionDeleteStrategy = dependents{}

// DefaultGarbageCollectionPolicy implements [rest.GarbageCollectionDeleteStrategy].
func (d dependents) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	return d.policy
}
