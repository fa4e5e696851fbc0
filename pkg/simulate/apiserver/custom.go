package apiserver

import (
	"fmt"
	"math"
	"net/http"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// requestTimeout is never reached: nothing is waited for.
const requestTimeout = time.Minute

// newCustom returns the API server's own handler of custom resources.
func newCustom(definitions []*apiextensionsv1.CustomResourceDefinition, admit admission.Interface, otherwise http.Handler) (http.Handler, error) {
	static, err := known(definitions)
	if err != nil {
		return nil, err
	}
	handler, err := apiserver.NewCustomResourceDefinitionHandler(
		nil, nil, static, otherwise, options{}, admit, nil, nil, nil, 1, authorizerfactory.NewAlwaysAllowAuthorizer(),
		requestTimeout, requestTimeout, metadataModels(), math.MaxInt32,
	)
	if err != nil {
		return nil, fmt.Errorf("serving custom resources: %w", err)
	}
	return handler, nil
}

// options implement [generic.RESTOptionsGetter].
type options struct{}

// GetRESTOptions implements [generic.RESTOptionsGetter].
func (options) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Codec: unstructured.UnstructuredJSONScheme}
	return generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		Decorator:               storage.Decorate,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          storage.Prefix(resource),
	}, nil
}

// definitions are those that a server has been told. They implement
// [informers.CustomResourceDefinitionInformer] and never change.
type definitions struct{ indexer cache.Indexer }

var _ informers.CustomResourceDefinitionInformer = definitions{}

func known(all []*apiextensionsv1.CustomResourceDefinition) (definitions, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for i, definition := range all {
		served := definition.DeepCopy()
		served.UID = types.UID(fmt.Sprintf("crd-%d", i))
		if err := accept(served); err != nil {
			return definitions{}, fmt.Errorf("the CustomResourceDefinition %s cannot be served: %w", definition.Name, err)
		}
		if err := indexer.Add(served); err != nil {
			return definitions{}, fmt.Errorf("keeping the CustomResourceDefinition %s: %w", definition.Name, err)
		}
	}
	return definitions{indexer}, nil
}

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
