package apiserver

import (
	"net/http"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/applyconfigurations"
)

// kinds serves the built-in kinds. It is immutable, makes what a kind needs when that is
// asked for first, and is safe for concurrent use.
type kinds struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	types  func() managedfields.TypeConverter
	served map[schema.GroupVersionResource]func() (*endpoint, error)
}

func newKinds() (*kinds, error) {
	known, err := newScheme()
	if err != nil {
		return nil, err
	}
	k := &kinds{
		scheme: known,
		codecs: serializer.NewCodecFactory(known),
		types:  sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(known) }),
		served: map[schema.GroupVersionResource]func() (*endpoint, error){},
	}
	for _, row := range table() {
		if err := row.selects(known); err != nil {
			return nil, err
		}
		k.served[row.groupVersionResource()] = sync.OnceValues(func() (*endpoint, error) { return k.endpoint(row) })
	}
	return k, nil
}

// shortestWatch is how long a watch lasts at least that does not ask for how long, and at most twice that, as those of a real API server.
const shortestWatch = 30 * time.Minute

// endpoint answers requests about a kind.
type endpoint struct {
	row *kind
	// verbs make handlers, by the name of the subresource, empty for the kind itself, and
	// by the verb of a request.
	verbs map[string]map[string]maker
}

// maker makes the handler of one request: those of k8s.io/apiserver are not for several.
type maker func() http.HandlerFunc

// reached reports whether a kind has such a path: in a namespace or not.
func reached(namespaced bool, kind string, info *request.RequestInfo) bool {
	if !namespaced {
		return info.Namespace == "" || kind == "Namespace"
	}
	// A list by metadata.name has a name as well.
	return info.Namespace != "" || info.Name == "" || info.Verb == "list" || info.Verb == "watch"
}

// allows reports whether the verb fits the path: some are for one object, some for all.
func (k *kind) allows(info *request.RequestInfo) bool {
	switch info.Verb {
	case "create":
		return info.Name == "" && (info.Namespace != "" || k.is(clusterWide))
	case "deletecollection":
		return k.Kind != "Namespace" && (info.Namespace != "" || k.is(clusterWide))
	case "update", "patch":
		return info.Name != ""
	default:
		return true
	}
}

// ServeHTTP implements [http.Handler] for a request with a world and a RequestInfo in its
// context.
func (k *kinds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, _ := request.RequestInfoFrom(r.Context())
	gv := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	if gv == authorizationv1.SchemeGroupVersion && info.Verb == "create" {
		k.serveReview(w, r)
		return
	}
	handler, err := k.handler(gv, info)
	if err != nil {
		responsewriters.ErrorNegotiated(err, k.codecs, gv, w, r)
		return
	}
	handler()(w, r)
}

func (k *kinds) handler(gv schema.GroupVersion, info *request.RequestInfo) (maker, error) {
	resource := gv.WithResource(info.Resource)
	served, known := k.served[resource]
	if !known || !info.IsResourceRequest {
		return nil, notFound(resource, info)
	}
	at, err := served()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	verbs, known := at.verbs[info.Subresource]
	if !known || !reached(!at.row.is(clusterWide), at.row.Kind, info) {
		return nil, notFound(resource, info)
	}
	handler, can := verbs[info.Verb]
	if !can || !at.row.allows(info) {
		return nil, apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, info.Verb, schema.GroupResource{}, "", "", 0, false)
	}
	return handler, nil
}

// patches are the types of patches that are understood.
func patches() []string {
	return []string{
		string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType),
	}
}

func (k *kinds) endpoint(row *kind) (*endpoint, error) {
	objects, status, err := k.store(row)
	if err != nil {
		return nil, err
	}
	scope, err := k.scope(row, "", row.GroupVersionKind, objects, objects)
	if err != nil {
		return nil, err
	}
	out := &endpoint{row, map[string]map[string]maker{"": {
		"get":              func() http.HandlerFunc { return handlers.GetResource(objects, scope) },
		"list":             func() http.HandlerFunc { return handlers.ListResource(objects, objects, scope, false, shortestWatch) },
		"watch":            func() http.HandlerFunc { return handlers.ListResource(objects, objects, scope, true, shortestWatch) },
		"create":           func() http.HandlerFunc { return handlers.CreateResource(objects, scope, lifecycle{}) },
		"update":           func() http.HandlerFunc { return handlers.UpdateResource(objects, scope, lifecycle{}) },
		"patch":            func() http.HandlerFunc { return handlers.PatchResource(objects, scope, lifecycle{}, patches()) },
		"delete":           func() http.HandlerFunc { return handlers.DeleteResource(objects, true, scope, lifecycle{}) },
		"deletecollection": func() http.HandlerFunc { return handlers.DeleteCollection(objects, true, scope, lifecycle{}) },
	}}}
	if status != nil {
		if err := k.add(out, "status", row.GroupVersionKind, statuses{status}); err != nil {
			return nil, err
		}
	}
	if row.is(hasScale) {
		gvk := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
		if err := k.add(out, "scale", gvk, scales{row, objects}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// subresource is what is needed to serve one.
type subresource interface {
	rest.Patcher
	rest.TableConvertor
}

func (k *kinds) add(to *endpoint, name string, body schema.GroupVersionKind, storage subresource) error {
	resets, _ := storage.(rest.ResetFieldsStrategy)
	scope, err := k.scope(to.row, name, body, resets, storage)
	if err != nil {
		return err
	}
	to.verbs[name] = map[string]maker{
		"get":    func() http.HandlerFunc { return handlers.GetResource(storage, scope) },
		"update": func() http.HandlerFunc { return handlers.UpdateResource(storage, scope, lifecycle{}) },
		"patch":  func() http.HandlerFunc { return handlers.PatchResource(storage, scope, lifecycle{}, patches()) },
	}
	return nil
}
