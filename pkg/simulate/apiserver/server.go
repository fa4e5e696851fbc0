package apiserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// Server answers requests as a kube-apiserver would that has certain definitions. It is
// immutable, and safe for concurrent use: what is stored belongs to the world of a request.
type Server struct {
	custom http.Handler // asks kinds about all that it does not know
	kinds  http.Handler
	paths  request.RequestInfoResolver
	byKind map[schema.GroupVersionKind]Resource
	byName map[schema.GroupVersionResource]Resource
	// preferred is the first version of each.
	preferred map[schema.GroupResource]schema.GroupVersionResource
}

// New returns a server of custom resources and of the built-in kinds.
func New(definitions []*apiextensionsv1.CustomResourceDefinition) (*Server, error) {
	kinds, err := builtin.New(lifecycle{})
	if err != nil {
		return nil, err
	}
	custom, err := newCustom(definitions, lifecycle{}, kinds)
	if err != nil {
		return nil, err
	}
	s := &Server{
		custom:    custom,
		kinds:     kinds,
		byKind:    map[schema.GroupVersionKind]Resource{},
		byName:    map[schema.GroupVersionResource]Resource{},
		preferred: map[schema.GroupResource]schema.GroupVersionResource{},
		paths:     &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}
	for _, resource := range slices.Concat(builtinResources(kinds), customResources(definitions)) {
		s.byKind[resource.Kind], s.byName[resource.GVR] = resource, resource
		if _, known := s.preferred[resource.GVR.GroupResource()]; !known {
			s.preferred[resource.GVR.GroupResource()] = resource.GVR
		}
	}
	return s, nil
}

// Transport returns a transport to the server, for requests about a world. It needs no network
// and is safe for concurrent use.
func (s *Server) Transport(world *storage.World) http.RoundTripper { return transport{s, world} }

type transport struct {
	server *Server
	world  *storage.World
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.Clone(audit.WithAuditContext(storage.With(r.Context(), t.world)))
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	asked.RequestURI = r.URL.RequestURI()
	path, err := t.server.paths.NewRequestInfo(asked)
	if err != nil {
		return nil, fmt.Errorf("reading the path of a request: %w", err)
	}
	answer := httptest.NewRecorder()
	handler := t.server.custom
	if !path.IsResourceRequest {
		handler = t.server.kinds // There is no discovery: the one of custom resources is nil.
	}
	handler.ServeHTTP(answer, asked.WithContext(request.WithRequestInfo(asked.Context(), path)))
	out := answer.Result()
	out.Request = r
	return out, nil
}
