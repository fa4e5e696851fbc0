package builtin

import (
	"net/http"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// shortestWatch is of no use: nothing is watched.
const shortestWatch = time.Minute

// endpoint answers requests about a kind.
type endpoint struct {
	row *kind
	// verbs make handlers, by the name of the subresource, empty for the kind itself, and
	// by the verb of a request.
	verbs map[string]map[string]maker
}

// maker makes the handler of one request: those of k8s.io/apiserver are not for several.
type maker func() http.HandlerFunc

// reached reports whether there is such a path: in a namespace or not.
func (k *kind) reached(info *request.RequestInfo) bool {
	if k.is(clusterWide) {
		return info.Namespace == "" || k.Kind == "Namespace"
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
func (k *Kinds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, told := request.RequestInfoFrom(r.Context())
	if !told || !info.IsResourceRequest {
		k.fail(w, r, schema.GroupVersion{}, notFound())
		return
	}
	gv := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	served, known := k.served[gv.WithResource(info.Resource)]
	if !known {
		k.fail(w, r, gv, notFound())
		return
	}
	at, err := served()
	if err != nil {
		k.fail(w, r, gv, apierrors.NewInternalError(err))
		return
	}
	verbs, known := at.verbs[info.Subresource]
	if !known || !at.row.reached(info) {
		k.fail(w, r, gv, notFound())
		return
	}
	handler, can := verbs[info.Verb]
	if !can || !at.row.allows(info) {
		k.fail(w, r, gv, apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, strings.ToLower(r.Method), schema.GroupResource{}, "", "", 0, false))
		return
	}
	handler()(w, r)
}

func (k *Kinds) fail(w http.ResponseWriter, r *http.Request, gv schema.GroupVersion, err error) {
	responsewriters.ErrorNegotiated(err, k.codecs, gv, w, r)
}

// notFound is the answer about paths that are not served.
func notFound() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
}

// patches are the types of patches that are understood.
func patches() []string {
	return []string{
		string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType),
	}
}

func (k *Kinds) endpoint(row *kind) (*endpoint, error) {
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
		"create":           func() http.HandlerFunc { return handlers.CreateResource(objects, scope, k.admit) },
		"update":           func() http.HandlerFunc { return handlers.UpdateResource(objects, scope, k.admit) },
		"patch":            func() http.HandlerFunc { return handlers.PatchResource(objects, scope, k.admit, patches()) },
		"delete":           func() http.HandlerFunc { return handlers.DeleteResource(objects, true, scope, k.admit) },
		"deletecollection": func() http.HandlerFunc { return handlers.DeleteCollection(objects, true, scope, k.admit) },
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

func (k *Kinds) add(to *endpoint, name string, body schema.GroupVersionKind, storage subresource) error {
	resets, _ := storage.(rest.ResetFieldsStrategy)
	scope, err := k.scope(to.row, name, body, resets, storage)
	if err != nil {
		return err
	}
	to.verbs[name] = map[string]maker{
		"get":    func() http.HandlerFunc { return handlers.GetResource(storage, scope) },
		"update": func() http.HandlerFunc { return handlers.UpdateResource(storage, scope, k.admit) },
		"patch":  func() http.HandlerFunc { return handlers.PatchResource(storage, scope, k.admit, patches()) },
	}
	return nil
}
