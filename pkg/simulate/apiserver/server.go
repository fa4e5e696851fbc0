package apiserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// Server answers requests as a kube-apiserver would that has certain definitions. It is
// immutable, and safe for concurrent use: what is stored belongs to the world of a request.
type Server struct {
	custom    http.Handler // asks kinds about all that it does not know
	kinds     http.Handler
	paths     request.RequestInfoResolver
	described descriptions
	byKind    map[apischema.GroupVersionKind]Resource
	byName    map[apischema.GroupVersionResource]Resource
	short     map[apischema.GroupResource][]string // names
	// preferred is the first version of each.
	preferred map[apischema.GroupResource]apischema.GroupVersionResource
}

// Resource is what a server knows of a resource in one of its versions.
type Resource struct {
	GVR        apischema.GroupVersionResource
	Kind       apischema.GroupVersionKind
	Namespaced bool
	Status     bool // it has the subresource
	Scale      bool // so of that one
}

// New returns a server of custom resources and of the built-in kinds.
func New(definitions []*apiextensionsv1.CustomResourceDefinition) (*Server, error) {
	kinds, err := newKinds()
	if err != nil {
		return nil, err
	}
	custom, err := newCustom(definitions, kinds)
	if err != nil {
		return nil, err
	}
	s := &Server{
		custom:    custom,
		kinds:     kinds,
		described: describe(definitions),
		byKind:    map[apischema.GroupVersionKind]Resource{},
		byName:    map[apischema.GroupVersionResource]Resource{},
		short:     map[apischema.GroupResource][]string{},
		preferred: map[apischema.GroupResource]apischema.GroupVersionResource{},
		paths:     &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}
	for _, resource := range builtIn() {
		s.add(resource)
	}
	for _, name := range builtin.Source().Resources() {
		s.short[name.GroupResource()] = name.Other[min(1, len(name.Other)):] // The first is the singular.
	}
	for _, d := range definitions {
		s.short[apischema.GroupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural}] = d.Spec.Names.ShortNames
		for _, version := range d.Spec.Versions {
			if version.Served {
				at := apischema.GroupVersion{Group: d.Spec.Group, Version: version.Name}
				s.add(Resource{
					at.WithResource(d.Spec.Names.Plural), at.WithKind(d.Spec.Names.Kind), d.Spec.Scope == apiextensionsv1.NamespaceScoped,
					version.Subresources != nil && version.Subresources.Status != nil, version.Subresources != nil && version.Subresources.Scale != nil,
				})
			}
		}
	}
	return s, nil
}

// builtIn are the resources of the table.
func builtIn() (out []Resource) {
	for _, row := range table() {
		out = append(out, Resource{row.groupVersionResource(), row.GroupVersionKind, !row.is(clusterWide), row.is(hasStatus), row.is(hasScale)})
	}
	return out
}

func (s *Server) add(resource Resource) {
	s.byKind[resource.Kind], s.byName[resource.GVR] = resource, resource
	if _, known := s.preferred[resource.GVR.GroupResource()]; !known {
		s.preferred[resource.GVR.GroupResource()] = resource.GVR
	}
}

// OfKind finds the resource of a kind.
func (s *Server) OfKind(kind apischema.GroupVersionKind) (Resource, bool) {
	found, known := s.byKind[kind]
	return found, known
}

// Of finds a resource by its name.
func (s *Server) Of(resource apischema.GroupVersionResource) (Resource, bool) {
	found, known := s.byName[resource]
	return found, known
}

// Preferred is a version of a resource in which all its objects can be read.
func (s *Server) Preferred(resource apischema.GroupResource) apischema.GroupVersionResource {
	return s.preferred[resource]
}

// requestTimeout is never reached: nothing but a watch waits, and that has a time of its own.
const requestTimeout = time.Minute

// newCustom returns the API server's own handler of custom resources.
func newCustom(all []*apiextensionsv1.CustomResourceDefinition, otherwise http.Handler) (http.Handler, error) {
	known := definitions{cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for i, definition := range all {
		served := definition.DeepCopy()
		served.UID = types.UID(fmt.Sprintf("crd-%d", i))
		if err := accept(served); err != nil {
			return nil, fmt.Errorf("the CustomResourceDefinition %s cannot be served: %w", definition.Name, err)
		}
		if err := known.indexer.Add(served); err != nil {
			return nil, fmt.Errorf("keeping the CustomResourceDefinition %s: %w", definition.Name, err)
		}
	}
	handler, err := apiserver.NewCustomResourceDefinitionHandler(
		nil, nil, known, otherwise, options{}, lifecycle{}, nil, nil, nil, 1, authorizerfactory.NewAlwaysAllowAuthorizer(),
		requestTimeout, shortestWatch, metadataModels(), math.MaxInt32,
	)
	if err != nil {
		return nil, fmt.Errorf("serving custom resources: %w", err)
	}
	return handler, nil
}

// options implement [generic.RESTOptionsGetter] for custom resources.
type options struct{}

// GetRESTOptions implements [generic.RESTOptionsGetter].
func (options) GetRESTOptions(resource apischema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return storedBy(unstructured.UnstructuredJSONScheme, resource), nil
}

// storedBy has a resource stored in the world of each request.
func storedBy(codec runtime.Codec, resource apischema.GroupResource) generic.RESTOptions {
	config := storagebackend.Config{Codec: codec}
	return generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		Decorator:               storage.Decorate,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          storage.Prefix(resource),
	}
}

// definitions are those that a server has been told. They implement
// [informers.CustomResourceDefinitionInformer] and never change.
type definitions struct{ indexer cache.Indexer }

var _ informers.CustomResourceDefinitionInformer = definitions{}

// Informer implements [informers.CustomResourceDefinitionInformer].
func (d definitions) Informer() cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(&cache.ListWatch{}, &apiextensionsv1.CustomResourceDefinition{}, 0, cache.Indexers{})
}

// Lister implements [informers.CustomResourceDefinitionInformer].
func (d definitions) Lister() listers.CustomResourceDefinitionLister {
	return listers.NewCustomResourceDefinitionLister(d.indexer)
}

// metadataModels are the schemas that those of custom resources refer to.
func metadataModels() map[string]*spec.Schema {
	name := func(path string) spec.Ref {
		return spec.MustCreateRef("#/components/schemas/" + util.ToRESTFriendlyName(path))
	}
	out := map[string]*spec.Schema{}
	for path, definition := range openapi.GetOpenAPIDefinitions(name) {
		out[util.ToRESTFriendlyName(path)] = &definition.Schema
	}
	return out
}

// lifecycle keeps new objects out of namespaces that are going, and the namespaces of the
// cluster itself from going, as the admission plugin of that name does. A namespace that nobody has made is taken to be there.
type lifecycle struct{}

var _ admission.ValidationInterface = lifecycle{}

// Handles implements [admission.Interface].
func (lifecycle) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Delete
}

// Validate implements [admission.ValidationInterface].
func (lifecycle) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetOperation() == admission.Delete {
		own := sets.New(metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic)
		if a.GetKind().GroupKind() == (apischema.GroupKind{Kind: "Namespace"}) && own.Has(a.GetName()) {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), errors.New("this namespace may not be deleted"))
		}
		return nil
	}
	data := storage.From(ctx).Get(storage.Change{Resource: apischema.GroupResource{Resource: "namespaces"}, Name: a.GetNamespace()})
	if data == nil {
		return nil
	}
	found, err := runtime.Decode(clientscheme.Codecs.UniversalDeserializer(), data)
	if err != nil {
		return fmt.Errorf("reading the namespace %s: %w", a.GetNamespace(), err)
	}
	if namespace, is := found.(*corev1.Namespace); !is || namespace.DeletionTimestamp == nil {
		return nil
	}
	err = admission.NewForbidden(a, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.GetNamespace()))
	if refused, is := err.(*apierrors.StatusError); is { //nolint:errorlint // As it was made.
		refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
			Type:    corev1.NamespaceTerminatingCause,
			Message: fmt.Sprintf("namespace %s is being terminated", a.GetNamespace()),
			Field:   "metadata.namespace",
		})
	}
	return err
}
