package apiserver

import (
	"io"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// serveReview answers who may do what: whoever asks may do all.
func (k *kinds) serveReview(w http.ResponseWriter, r *http.Request) {
	gv := authorizationv1.SchemeGroupVersion
	data, err := io.ReadAll(io.LimitReader(r.Body, largestBody))
	if err != nil {
		responsewriters.ErrorNegotiated(apierrors.NewBadRequest(err.Error()), k.codecs, gv, w, r)
		return
	}
	review, _, err := k.codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		responsewriters.ErrorNegotiated(apierrors.NewBadRequest(err.Error()), k.codecs, gv, w, r)
		return
	}
	switch review := review.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		review.Status.Allowed = true
	case *authorizationv1.SubjectAccessReview:
		review.Status.Allowed = true
	case *authorizationv1.LocalSubjectAccessReview:
		review.Status.Allowed = true
	case *authorizationv1.SelfSubjectRulesReview:
		all := []string{"*"}
		review.Status.ResourceRules = []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}}
		review.Status.NonResourceRules = []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}}
	}
	responsewriters.WriteObjectNegotiated(k.codecs, negotiation.DefaultEndpointRestrictions, gv, w, r, http.StatusCreated, review, false)
}
