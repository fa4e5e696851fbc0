package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// notFound is the answer to a request for a path that is not served. It says if a real API server serves the path.
func notFound(resource schema.GroupVersionResource, info *request.RequestInfo) error {
	if known := builtin.Source().Resource(resource); known != nil && info.IsResourceRequest && reached(known.Namespaced, known.Kind, info) {
		if err := limit(resource, info.Subresource); err != nil {
			return err
		}
	}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
}

// limit is the error for a built-in resource that is not simulated, or a subresource of one, if a real API server serves it, and nil
// otherwise: alpha and beta versions are switched off by default.
func limit(resource schema.GroupVersionResource, subresource string) error {
	known := builtin.Source().Resource(resource)
	if known == nil || strings.Contains(resource.Version, "alpha") || strings.Contains(resource.Version, "beta") {
		return nil
	}
	name := resource.Resource
	if subresource != "" {
		if _, has := known.Subresources[subresource]; !has {
			return nil
		}
		name += "/" + subresource
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: fmt.Sprintf("the simulation does not have %s of %s; a real API server has", name, resource.GroupVersion()),
	}}
}

// Limit is the error for a kind that the server does not know, if a real API server has it, and nil otherwise.
func (*Server) Limit(kind schema.GroupVersionKind) error {
	for _, name := range builtin.Source().Resources() {
		if name.GroupVersion() == kind.GroupVersion() && name.Kind == kind.Kind {
			return limit(name.GroupVersionResource, "")
		}
	}
	return nil
}
