package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/util/dryrun"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// largestBody is how many bytes a request may have, as for a real API server.
const largestBody = 3 << 20

// newScheme knows the Go types of all built-in kinds. What little is done to objects as
// they are decoded stands here.
func newScheme() (*runtime.Scheme, error) {
	out := runtime.NewScheme()
	if err := clientscheme.AddToScheme(out); err != nil {
		return nil, fmt.Errorf("registering the built-in kinds: %w", err)
	}
	out.AddTypeDefaultingFunc(&corev1.Secret{}, foldSecret)
	out.AddTypeDefaultingFunc(&corev1.Namespace{}, labelNamespace)
	out.AddTypeDefaultingFunc(&corev1.Node{}, allocateAll)
	return out, nil
}

// foldSecret moves stringData to data, which is how Secrets are stored and shown.
func foldSecret(object any) {
	s, isSecret := object.(*corev1.Secret)
	if !isSecret || len(s.StringData) == 0 {
		return
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for key, value := range s.StringData {
		s.Data[key] = []byte(value)
	}
	s.StringData = nil
}

// labelNamespace gives a namespace the label that all have.
func labelNamespace(object any) {
	if n, isNamespace := object.(*corev1.Namespace); isNamespace && n.Name != "" {
		metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelMetadataName, n.Name)
	}
}

// allocateAll lets all that a node has be used where nothing else is said.
func allocateAll(object any) {
	n, isNode := object.(*corev1.Node)
	if isNode && n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
}

// codec is how objects of a version are stored: as protocol buffers, which cannot tell an empty list or
// map from one that is absent, nor null from what is empty in a map. What was found in a world is JSON.
func (k *kinds) codec(gv schema.GroupVersion) runtime.Codec {
	return k.codecs.CodecForVersions(protobuf.NewSerializer(k.scheme, k.scheme), k.codecs.UniversalDeserializer(), gv, gv)
}

// maker returns a function that makes empty objects of a kind.
func (k *kinds) maker(gvk schema.GroupVersionKind) func() runtime.Object {
	return func() runtime.Object {
		out, err := k.scheme.New(gvk)
		if err != nil {
			return nil // Tests hold that the scheme knows all kinds of the table.
		}
		return out
	}
}

// scope is what handlers need to know of a kind or of a subresource, whose body is of the
// kind that is given.
func (k *kinds) scope(row *kind, subresource string, body schema.GroupVersionKind, resets rest.ResetFieldsStrategy, tables rest.TableConvertor) (*handlers.RequestScope, error) {
	var filter map[fieldpath.APIVersion]fieldpath.Filter
	if resets != nil {
		filter = fieldpath.NewExcludeFilterSetMap(resets.GetResetFields())
	}
	types := k.types()
	if body.Kind == "Scale" {
		types = managedfields.NewDeducedTypeConverter() // The schemas of client-go have no Scale.
	}
	fields, err := managedfields.NewDefaultFieldManager(
		types, k.scheme, k.scheme, k.scheme, body, body.GroupVersion(), subresource, filter)
	if err != nil {
		return nil, fmt.Errorf("tracking the fields of %s: %w", row.resource, err)
	}
	return &handlers.RequestScope{
		Namer:            handlers.ContextBasedNaming{Namer: meta.NewAccessor(), ClusterScoped: row.is(clusterWide)},
		Serializer:       k.codecs,
		ParameterCodec:   runtime.NewParameterCodec(k.scheme),
		Creater:          k.scheme, //nolint:misspell // So it is called.
		Convertor:        k.scheme,
		Defaulter:        k.scheme,
		Typer:            k.scheme,
		UnsafeConvertor:  runtime.UnsafeObjectConvertor(k.scheme),
		Authorizer:       authorizerfactory.NewAlwaysAllowAuthorizer(),
		TableConvertor:   tables,
		FieldManager:     fields,
		Resource:         row.groupVersionResource(),
		Kind:             body,
		Subresource:      subresource,
		MetaGroupVersion: metav1.SchemeGroupVersion,
		HubGroupVersion:  body.GroupVersion(),

		EquivalentResourceMapper: runtime.NewEquivalentResourceRegistry(),
		MaxRequestBodyBytes:      largestBody,
	}, nil
}

// attributes are what selectors look at of an object: its labels, its name and namespace,
// and the fields of its kind that may be selected by.
func (k *kind) attributes(object runtime.Object) (labels.Set, fields.Set, error) {
	metadata := metadataOf(object)
	known := fields.Set{"metadata.name": metadata.GetName()}
	if !k.is(clusterWide) {
		known["metadata.namespace"] = metadata.GetNamespace()
	}
	for _, path := range k.selectable {
		known[location(path).String()] = fmt.Sprint(member(object, path).Interface())
	}
	return metadata.GetLabels(), known, nil
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
	return scheme.AddFieldLabelConversionFunc(k.GroupVersionKind, func(label, value string) (string, string, error) {
		if !slices.Contains(allowed, label) {
			return "", "", fmt.Errorf("field label not supported: %s", label)
		}
		return label, value, nil
	})
}

// statuses are the same as their status subresource shows them.
type statuses struct{ *registry.Store }

// main is what is needed to serve a kind.
type main interface {
	rest.StandardStorage
	rest.ResetFieldsStrategy
}

var (
	_ main         = namespaces{}
	_ rest.Patcher = statuses{}
)

// Update implements [rest.Updater]: it never creates.
func (s statuses) Update(
	ctx context.Context, name string, update rest.UpdatedObjectInfo, validateNew rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return s.Store.Update(ctx, name, update, validateNew, validate, false, options) //nolint:wrapcheck // It is an answer.
}

// store makes the registry of a kind and that of its status, nil where it has none.
func (k *kinds) store(row *kind) (main, *registry.Store, error) {
	own := strategy{row, k.scheme, names.SimpleNameGenerator}
	if row.Kind == "Event" {
		own.ObjectTyper = coreEvents{k.scheme}
	}
	resource := row.groupVersionResource().GroupResource()
	store := &registry.Store{
		NewFunc:                   k.maker(row.GroupVersionKind),
		NewListFunc:               k.maker(row.GroupVersion().WithKind(row.Kind + "List")),
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: schema.GroupResource{Group: row.Group, Resource: strings.ToLower(row.Kind)},
		CreateStrategy:            own,
		UpdateStrategy:            own,
		DeleteStrategy:            deletion(own),
		ResetFieldsStrategy:       own,
		ReturnDeletedObject:       row.is(answersDeleted),
		TableConvertor:            rest.NewDefaultTableConvertor(resource),
	}
	if row.Kind == "Namespace" {
		store.ShouldDeleteDuringUpdate = emptied
	}
	stored := storedBy(k.codec(row.GroupVersion()), resource)
	if err := store.CompleteWithOptions(&generic.StoreOptions{AttrFunc: row.attributes, RESTOptions: stored}); err != nil {
		return nil, nil, fmt.Errorf("making the registry of %s: %w", resource, err)
	}
	var status *registry.Store
	if row.is(hasStatus) {
		other := *store
		other.UpdateStrategy, other.ResetFieldsStrategy = statusStrategy{own}, statusStrategy{own}
		status = &other
	}
	if row.Kind == "Namespace" {
		return namespaces{store}, status, nil
	}
	return store, status, nil
}

// deletion is the strategy for deleting objects of a kind.
func deletion(s strategy) rest.RESTDeleteStrategy {
	switch {
	case s.Kind == "Pod":
		return graceful{s}
	case s.is(orphans):
		return dependents{s, rest.OrphanDependents}
	case s.Kind == "Event":
		return dependents{s, rest.Unsupported}
	default:
		return s
	}
}

// namespaces are deleted in two steps: first they are terminating, and they go once their
// spec.finalizers have.
type namespaces struct{ *registry.Store }

// emptied reports whether an update takes the last finalizer of a namespace that is going.
func emptied(ctx context.Context, key string, object, existing runtime.Object) bool {
	n, isNamespace := object.(*corev1.Namespace)
	return isNamespace && len(n.Spec.Finalizers) == 0 && registry.ShouldDeleteDuringUpdate(ctx, key, object, existing)
}

// Delete implements [rest.GracefulDeleter].
func (n namespaces) Delete(
	ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
) (runtime.Object, bool, error) {
	found, err := n.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	going, _ := found.(*corev1.Namespace)
	if err := n.precondition(going, options); err != nil {
		return nil, false, err
	}
	switch {
	case going.DeletionTimestamp.IsZero():
		terminating, err := n.terminate(ctx, name, validate, options)
		return terminating, false, err
	case len(going.Spec.Finalizers) > 0:
		return going, false, nil
	default:
		return n.Store.Delete(ctx, name, validate, options) //nolint:wrapcheck // It is an answer.
	}
}

// precondition checks what is asked of a namespace, and adds that it be the one that was found.
func (n namespaces) precondition(found *corev1.Namespace, options *metav1.DeleteOptions) error {
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	asked := options.Preconditions
	if asked.UID == nil {
		asked.UID = &found.UID
	}
	version := cmp.Or(asked.ResourceVersion, &found.ResourceVersion)
	for _, is := range []struct{ what, asked, found string }{
		{"UID", string(*asked.UID), string(found.UID)}, {"ResourceVersion", *version, found.ResourceVersion},
	} {
		if is.asked != is.found {
			return apierrors.NewConflict(n.DefaultQualifiedResource, found.Name,
				fmt.Errorf("Precondition failed: %s in precondition: %s, %s in object meta: %s", is.what, is.asked, is.what, is.found)) //nolint:staticcheck // So it is worded.
		}
	}
	return nil
}

func (n namespaces) terminate(
	ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
) (runtime.Object, error) {
	key, err := n.KeyFunc(ctx, name)
	if err != nil {
		return nil, err
	}
	change := func(existing runtime.Object) (runtime.Object, error) {
		if err := validate(ctx, existing); err != nil {
			return nil, err
		}
		going, _ := existing.(*corev1.Namespace)
		now := metav1.Now()
		going.DeletionTimestamp = &now
		going.Status.Phase = corev1.NamespaceTerminating
		propagate(going, options)
		return going, nil
	}
	out := n.NewFunc()
	asked := storage.Preconditions{UID: options.Preconditions.UID, ResourceVersion: options.Preconditions.ResourceVersion}
	err = n.Storage.GuaranteedUpdate(ctx, key, out, false, &asked, storage.SimpleUpdate(change), dryrun.IsDryRun(options.DryRun), nil)
	return out, storageerrors.InterpretUpdateError(err, n.DefaultQualifiedResource, name) //nolint:wrapcheck // It is an answer.
}

// propagate sets the finalizers that say what becomes of dependents, where that is asked for.
func propagate(going *corev1.Namespace, options *metav1.DeleteOptions) {
	if options.PropagationPolicy == nil {
		return
	}
	for finalizer, wanted := range map[string]bool{
		metav1.FinalizerOrphanDependents: *options.PropagationPolicy == metav1.DeletePropagationOrphan,
		metav1.FinalizerDeleteDependents: *options.PropagationPolicy == metav1.DeletePropagationForeground,
	} {
		going.Finalizers = slices.DeleteFunc(going.Finalizers, func(f string) bool { return f == finalizer })
		if wanted {
			going.Finalizers = append(going.Finalizers, finalizer)
		}
	}
}

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
	return scaleOf(object), nil
}

// Update implements [rest.Updater].
func (s scales) Update(
	ctx context.Context, name string, update rest.UpdatedObjectInfo, validateNew rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	seen := func(ctx context.Context, object, old runtime.Object) error {
		return validate(ctx, scaleOf(object), scaleOf(old))
	}
	object, _, err := s.objects.Update(ctx, name, scaleUpdate{s.row, name, update}, validateNew, seen, false, options)
	if err != nil {
		return nil, false, err //nolint:wrapcheck // It is an answer.
	}
	return scaleOf(object), false, nil
}

// scaleOf is the scale of an object.
func scaleOf(object runtime.Object) *autoscalingv1.Scale {
	metadata := metadataOf(object)
	out := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: metadata.Name, Namespace: metadata.Namespace, UID: metadata.UID,
		ResourceVersion: metadata.ResourceVersion, CreationTimestamp: metadata.CreationTimestamp,
	}}
	if replicas := member(object, "Spec.Replicas"); !replicas.IsNil() {
		out.Spec.Replicas = int32(replicas.Elem().Int()) //nolint:gosec // It is an int32.
	}
	out.Status.Replicas = int32(member(object, "Status.Replicas").Int()) //nolint:gosec // It is an int32.
	switch selector := member(object, "Spec.Selector").Interface().(type) {
	case map[string]string:
		out.Status.Selector = labels.SelectorFromSet(selector).String()
	case *metav1.LabelSelector:
		if parsed, err := metav1.LabelSelectorAsSelector(selector); err == nil {
			out.Status.Selector = parsed.String()
		}
	}
	return out
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
	metadata := metadataOf(object)
	resource := u.row.groupVersionResource().GroupResource()
	resource.Resource += "/scale"
	if metadata.ResourceVersion == "" {
		return nil, apierrors.NewNotFound(resource, u.name)
	}
	fields := managedfields.NewScaleHandler(metadata.ManagedFields, u.row.GroupVersion(), managedfields.ResourcePathMappings{
		u.row.GroupVersion().String(): fieldpath.MakePathOrDie("spec", "replicas"),
	})
	was := scaleOf(object)
	var err error
	if was.ManagedFields, err = fields.ToSubresource(); err != nil {
		return nil, fmt.Errorf("reading who manages a scale: %w", err)
	}
	changed, err := u.update.UpdatedObject(ctx, was)
	if err != nil {
		return nil, err //nolint:wrapcheck // It is an answer.
	}
	is, _ := changed.(*autoscalingv1.Scale) // The handler has decoded it as one.
	if is.Spec.Replicas < 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), metadata.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), is.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	if is.UID != "" && is.UID != metadata.UID {
		return nil, apierrors.NewConflict(resource, metadata.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", is.UID, metadata.UID)) //nolint:staticcheck // So it is worded.
	}
	member(object, "Spec.Replicas").Set(reflect.ValueOf(&is.Spec.Replicas))
	metadata.ResourceVersion = is.ResourceVersion
	if metadata.ManagedFields, err = fields.ToParent(is.ManagedFields); err != nil {
		return nil, fmt.Errorf("writing who manages a scale: %w", err)
	}
	return object, nil
}
