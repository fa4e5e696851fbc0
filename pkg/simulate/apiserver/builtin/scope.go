package builtin

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// largestBody is how many bytes a request may have, as for a real API server.
const largestBody = 3 << 20

// newScheme knows the Go types of all built-in kinds. What little is done to objects as
// they are decoded stands here.
func newScheme() (*runtime.Scheme, error) {
	out := runtime.NewScheme()
	if err := scheme.AddToScheme(out); err != nil {
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

// allocateAll lets all that a node has be used where nothing else is said.
func allocateAll(object any) {
	n, isNode := object.(*corev1.Node)
	if isNode && n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
}

// codec is how objects of a version are stored.
func (k *Kinds) codec(gv schema.GroupVersion) runtime.Codec {
	plain := json.NewSerializerWithOptions(json.DefaultMetaFactory, k.scheme, k.scheme, json.SerializerOptions{})
	return k.codecs.CodecForVersions(kept{plain, k.scheme}, plain, gv, gv)
}

// maker returns a function that makes empty objects of a kind.
func (k *Kinds) maker(gvk schema.GroupVersionKind) func() runtime.Object {
	return func() runtime.Object {
		out, err := k.scheme.New(gvk)
		if err != nil {
			return nil // Tests hold that the scheme knows all kinds of the table.
		}
		return out
	}
}

func singular(row *kind) schema.GroupResource {
	return schema.GroupResource{Group: row.Group, Resource: strings.ToLower(row.Kind)}
}

// allow lets everybody do everything.
type allow struct{}

// Authorize implements [authorizer.UnconditionalAuthorizer].
func (allow) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// scope is what handlers need to know of a kind or of a subresource, whose body is of the
// kind that is given.
func (k *Kinds) scope(row *kind, subresource string, body schema.GroupVersionKind, resets rest.ResetFieldsStrategy, tables rest.TableConvertor) (*handlers.RequestScope, error) {
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
		Authorizer:       allow{},
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
