package doorkeeper

import (
	"context"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ask has the API server say who has the token, and whether they may get the path. An error
// says that it could not be asked.
func (d *Doorkeeper) ask(ctx context.Context, token, path string) (int, error) {
	who, err := d.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking whose a token is: %w", err)
	}
	if !who.Status.Authenticated || who.Status.User.Username == "" {
		return http.StatusUnauthorized, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.Status.User.Username, UID: who.Status.User.UID, Groups: who.Status.User.Groups, Extra: extra(who.Status.User.Extra),
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}
	answer, err := d.access.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking whether a caller may get %s: %w", path, err)
	}
	if !answer.Status.Allowed || answer.Status.Denied {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func extra(of map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	out := make(map[string]authorizationv1.ExtraValue, len(of))
	for name, values := range of {
		out[name] = authorizationv1.ExtraValue(values)
	}
	return out
}
