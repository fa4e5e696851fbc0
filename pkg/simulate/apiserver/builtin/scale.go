package builtin

import (
	"context"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// scales are the objects of a kind as their scale subresource shows them.
type scales struct {
	row     *kind
	objects main
}

var _ rest.Patcher = scales{}

// New implements [rest.Storage].
func (scales) New() runtime.Object { return &autoscalingv1.Scale{} }

// Destroy implements [rest.Storage].
func (scales) Destroy() {}

// ConvertToTable implements [rest.TableConvertor].
func (s scales) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return s.objects.ConvertToTable(ctx, object, options) //nolint:wrapcheck // It is an answer.
}

// Get implements [rest.Getter].
func (s scales) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	object, err := s.objects.Get(ctx, name, options)
	if err != nil {
		return nil, err //nolint:wrapcheck // It is an answer.
	}
	return scaleOf(object)
}

// Update implements [rest.Updater].
func (s scales) Update(
	ctx context.Context, name string, update rest.UpdatedObjectInfo, validateNew rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	seen := func(ctx context.Context, object, old runtime.Object) error {
		is, err := scaleOf(object)
		if err != nil {
			return err
		}
		was, err := scaleOf(old)
		if err != nil {
			return err
		}
		return validate(ctx, is, was)
	}
	object, _, err := s.objects.Update(ctx, name, scaleUpdate{s.row, name, update}, validateNew, seen, false, options)
	if err != nil {
		return nil, false, err //nolint:wrapcheck // It is an answer.
	}
	out, err := scaleOf(object)
	return out, false, err
}

// scaleOf is the scale of an object.
func scaleOf(object runtime.Object) (*autoscalingv1.Scale, error) {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of what is scaled: %w", err)
	}
	selector, err := selectorOf(object)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	out := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: metadata.GetName(), Namespace: metadata.GetNamespace(), UID: metadata.GetUID(),
		ResourceVersion: metadata.GetResourceVersion(), CreationTimestamp: metadata.GetCreationTimestamp(),
	}}
	if replicas := member(object, "Spec.Replicas"); !replicas.IsNil() {
		out.Spec.Replicas = int32(replicas.Elem().Int()) //nolint:gosec // It is an int32.
	}
	out.Status.Replicas = int32(member(object, "Status.Replicas").Int()) //nolint:gosec // It is an int32.
	out.Status.Selector = selector
	return out, nil
}

func selectorOf(object runtime.Object) (string, error) {
	switch selector := member(object, "Spec.Selector").Interface().(type) {
	case map[string]string:
		return labels.SelectorFromSet(selector).String(), nil
	case *metav1.LabelSelector:
		out, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			return "", fmt.Errorf("reading a selector: %w", err)
		}
		return out.String(), nil
	default:
		return "", nil
	}
}

// scaleUpdate turns a change of a scale into one of its object.
type scaleUpdate struct {
	row    *kind
	name   string
	update rest.UpdatedObjectInfo
}

// Preconditions implements [rest.UpdatedObjectInfo].
func (u scaleUpdate) Preconditions() *metav1.Preconditions { return u.update.Preconditions() }

// UpdatedObject implements [rest.UpdatedObjectInfo].
func (u scaleUpdate) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	object := old.DeepCopyObject()
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of what is scaled: %w", err)
	}
	resource := u.row.groupVersionResource().GroupResource()
	resource.Resource += "/scale"
	if metadata.GetResourceVersion() == "" {
		return nil, apierrors.NewNotFound(resource, u.name)
	}
	fields := managedfields.NewScaleHandler(metadata.GetManagedFields(), u.row.GroupVersion(), managedfields.ResourcePathMappings{
		u.row.GroupVersion().String(): fieldpath.MakePathOrDie("spec", "replicas"),
	})
	was, err := scaleOf(object)
	if err != nil {
		return nil, err
	}
	if was.ManagedFields, err = fields.ToSubresource(); err != nil {
		return nil, fmt.Errorf("reading who manages a scale: %w", err)
	}
	changed, err := u.update.UpdatedObject(ctx, was)
	if err != nil {
		return nil, err //nolint:wrapcheck // It is an answer.
	}
	is, isScale := changed.(*autoscalingv1.Scale)
	if !isScale {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected input object type to be Scale, but %T", changed))
	}
	if is.Spec.Replicas < 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), metadata.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), is.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	if is.UID != "" && is.UID != metadata.GetUID() {
		return nil, apierrors.NewConflict(resource, metadata.GetName(),
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", is.UID, metadata.GetUID())) //nolint:staticcheck // So it is worded.
	}
	member(object, "Spec.Replicas").Set(reflect.ValueOf(&is.Spec.Replicas))
	metadata.SetResourceVersion(is.ResourceVersion)
	entries, err := fields.ToParent(is.ManagedFields)
	if err != nil {
		return nil, fmt.Errorf("writing who manages a scale: %w", err)
	}
	metadata.SetManagedFields(entries)
	return object, nil
}
