package virtual

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/filters/impersonation"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
	typedrbacv1 "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"
)

// rbac refuses requests that no Role allows, and sends the others on to an API server. The filters for impersonation and authorization are
// those of the API server itself; what Roles allow is read as https://kubernetes.io/docs/reference/access-authn-authz/rbac/ says. ClusterRoles
// are not aggregated, of those that Kubernetes brings only cluster-admin is there, and a Role may give more than its writer has. It is safe for
// concurrent use.
type rbac struct {
	server http.RoundTripper
	log    func(auditEntry, *http.Response)
	paths  *request.RequestInfoFactory
	filter http.Handler // hands on what is allowed, see allowed
	roles  typedrbacv1.RbacV1Interface

	mu    sync.Mutex // nothing waits for time while it holds it
	known []binding  // nil where they are to be read anew; guarded by mu
}

// binding is what a RoleBinding or ClusterRoleBinding gives to a subject.
type binding struct {
	subject   rbacv1.Subject
	namespace string // in which it is given, "" for each and for what is in none
	rules     []rbacv1.PolicyRule
}

func newRBAC(server http.RoundTripper) (*rbac, error) {
	roles, err := typedrbacv1.NewForConfig(&rest.Config{Host: "http://" + host, Transport: server, QPS: -1})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	r := &rbac{
		server: server, roles: roles,
		paths: &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}
	authorized := filters.WithAuthorization(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		passedOf(request).allowed = request
	}), r, scheme.Codecs)
	impersonated := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		passedOf(request).impersonated = request
		authorized.ServeHTTP(w, request)
	})
	r.filter = impersonation.WithConstrainedImpersonation(impersonated, r, scheme.Codecs)
	return r, nil
}

// passed is a request as it passes the filters, nil where it does not.
type passed struct{ impersonated, allowed *http.Request }

type passedKey struct{}

func passedOf(r *http.Request) *passed {
	out, _ := r.Context().Value(passedKey{}).(*passed)
	return out
}

// RoundTrip implements [http.RoundTripper].
func (r *rbac) RoundTrip(sent *http.Request) (*http.Response, error) {
	info, err := r.paths.NewRequestInfo(sent)
	if err != nil {
		return nil, fmt.Errorf("reading the path of a request: %w", err)
	}
	entry := auditEntry{Request: sent, info: info, received: metav1.NowMicro()}
	passed, answer := &passed{}, httptest.NewRecorder()
	if entry.user, err = authenticate(sent); err != nil {
		responsewriters.ErrorNegotiated(err, scheme.Codecs, authorizationv1.SchemeGroupVersion, answer, sent)
	} else {
		ctx := context.WithValue(request.WithUser(request.WithRequestInfo(sent.Context(), info), entry.user), passedKey{}, passed)
		r.filter.ServeHTTP(answer, sent.Clone(ctx))
	}
	if passed.impersonated != nil {
		if user, _ := request.UserFrom(passed.impersonated.Context()); user != entry.user {
			entry.impersonated = user
		}
	}
	var response *http.Response
	switch {
	case passed.allowed == nil:
		response = answer.Result()
	case info.APIGroup == authorizationv1.GroupName && info.Verb == "create":
		r.review(answer, passed.allowed)
		response = answer.Result()
	default:
		if response, err = r.server.RoundTrip(passed.allowed); err != nil {
			return nil, err //nolint:wrapcheck // It is the server's.
		}
	}
	response.Request = sent
	if info.APIGroup == rbacv1.GroupName && !slices.Contains([]string{"get", "list", "watch"}, info.Verb) {
		r.mu.Lock()
		r.known = nil
		r.mu.Unlock()
	}
	r.log(entry, response)
	return response, nil
}

// authenticate is whose token a request has: that of a ServiceAccount is its user name. Without one it is a user who may do everything.
func authenticate(r *http.Request) (user.Info, error) {
	name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if name == "" {
		return &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}, nil
	}
	namespace, _, err := serviceaccount.SplitUsername(name)
	if err != nil {
		return nil, apierrors.NewUnauthorized(err.Error())
	}
	return &user.DefaultInfo{Name: name, Groups: append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)}, nil
}

// Authorize implements [authorizer.UnconditionalAuthorizer].
func (r *rbac) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	rules, err := r.rules(ctx, a.GetUser(), a.GetNamespace())
	if err != nil {
		return authorizer.DecisionNoOpinion, "", err
	}
	if slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(&rule, a) }) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func allows(rule *rbacv1.PolicyRule, a authorizer.Attributes) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, value)
	}
	if !a.IsResourceRequest() {
		return has(rule.Verbs, a.GetVerb()) && slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool {
			prefix, open := strings.CutSuffix(url, "*")
			return url == a.GetPath() || open && strings.HasPrefix(a.GetPath(), prefix)
		})
	}
	resource := a.GetResource()
	if sub := a.GetSubresource(); sub != "" {
		if resource += "/" + sub; slices.Contains(rule.Resources, "*/"+sub) {
			resource = "*/" + sub
		}
	}
	return has(rule.Verbs, a.GetVerb()) && has(rule.APIGroups, a.GetAPIGroup()) && has(rule.Resources, resource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.GetName()))
}

// rules are those that a user has in a namespace, "" for those that are of none.
func (r *rbac) rules(ctx context.Context, of user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		var err error
		if r.known, err = r.read(ctx); err != nil {
			return nil, err
		}
	}
	var out []rbacv1.PolicyRule
	for _, one := range r.known {
		if (one.namespace == "" || one.namespace == namespace) && one.appliesTo(of) {
			out = append(out, one.rules...)
		}
	}
	return out, nil
}

func (b *binding) appliesTo(who user.Info) bool {
	switch b.subject.Kind {
	case rbacv1.GroupKind:
		return slices.Contains(who.GetGroups(), b.subject.Name)
	case rbacv1.ServiceAccountKind:
		return who.GetName() == serviceaccount.MakeUsername(cmp.Or(b.subject.Namespace, b.namespace), b.subject.Name)
	default:
		return who.GetName() == b.subject.Name
	}
}

// read reads what all bindings give. A Role that is not there gives nothing.
func (r *rbac) read(ctx context.Context) ([]binding, error) {
	all := []string{"*"}
	rules := map[string][]rbacv1.PolicyRule{"/cluster-admin": {{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}}
	out := []binding{{ // Of the ClusterRoles system:basic-user and system:discovery, which are bound to each user that is known.
		subject: rbacv1.Subject{Kind: rbacv1.GroupKind, Name: user.AllAuthenticated},
		rules: []rbacv1.PolicyRule{
			{Verbs: []string{"create"}, APIGroups: []string{authorizationv1.GroupName}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
			{Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"}},
			{Verbs: []string{"get"}, NonResourceURLs: []string{
				"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", "/version", "/version/", "/healthz", "/livez", "/readyz",
			}},
		},
	}}
	clusterRoles, err := r.roles.ClusterRoles().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading ClusterRoles: %w", err)
	}
	for _, role := range clusterRoles.Items {
		rules["/"+role.Name] = role.Rules
	}
	roles, err := r.roles.Roles("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Roles: %w", err)
	}
	for _, role := range roles.Items {
		rules[role.Namespace+"/"+role.Name] = role.Rules
	}
	add := func(subjects []rbacv1.Subject, namespace string, role rbacv1.RoleRef) {
		from := namespace
		if role.Kind == "ClusterRole" {
			from = ""
		}
		for _, subject := range subjects {
			out = append(out, binding{subject, namespace, rules[from+"/"+role.Name]})
		}
	}
	everywhere, err := r.roles.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading ClusterRoleBindings: %w", err)
	}
	for _, one := range everywhere.Items {
		add(one.Subjects, "", one.RoleRef)
	}
	bindings, err := r.roles.RoleBindings("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading RoleBindings: %w", err)
	}
	for _, one := range bindings.Items {
		add(one.Subjects, one.Namespace, one.RoleRef)
	}
	return out, nil
}

// review answers who may do what.
func (r *rbac) review(w http.ResponseWriter, asked *http.Request) {
	gv := authorizationv1.SchemeGroupVersion
	fail := func(err error) { responsewriters.ErrorNegotiated(err, scheme.Codecs, gv, w, asked) }
	data, err := io.ReadAll(asked.Body)
	if err != nil {
		fail(err)
		return
	}
	review, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		fail(err)
		return
	}
	who, _ := request.UserFrom(asked.Context())
	switch review := review.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		review.Status, err = r.decide(asked.Context(), who, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
	case *authorizationv1.SubjectAccessReview:
		who = &user.DefaultInfo{Name: review.Spec.User, Groups: review.Spec.Groups}
		review.Status, err = r.decide(asked.Context(), who, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
	case *authorizationv1.SelfSubjectRulesReview:
		review.Status, err = r.list(asked.Context(), who, review.Spec.Namespace)
	default:
		err = fmt.Errorf("no review of the kind %T is answered", review)
	}
	if err != nil {
		fail(err)
		return
	}
	responsewriters.WriteObjectNegotiated(scheme.Codecs, negotiation.DefaultEndpointRestrictions, gv, w, asked, http.StatusCreated, review, false)
}

func (r *rbac) decide(
	ctx context.Context, who user.Info, of *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes,
) (authorizationv1.SubjectAccessReviewStatus, error) {
	about := authorizer.AttributesRecord{User: who}
	switch {
	case of != nil:
		about.ResourceRequest, about.Verb, about.Namespace, about.Name = true, of.Verb, of.Namespace, of.Name
		about.APIGroup, about.APIVersion, about.Resource, about.Subresource = of.Group, of.Version, of.Resource, of.Subresource
	case path != nil:
		about.Verb, about.Path = path.Verb, path.Path
	}
	decision, reason, err := r.Authorize(ctx, about)
	return authorizationv1.SubjectAccessReviewStatus{Allowed: decision == authorizer.DecisionAllow, Reason: reason}, err
}

func (r *rbac) list(ctx context.Context, who user.Info, namespace string) (out authorizationv1.SubjectRulesReviewStatus, err error) {
	rules, err := r.rules(ctx, who, namespace)
	if all := []string{"*"}; slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		rules = []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
	}
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			out.ResourceRules = append(out.ResourceRules, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			out.NonResourceRules = append(out.NonResourceRules, authorizationv1.NonResourceRule{Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
		}
	}
	return out, err
}
