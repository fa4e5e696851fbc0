package virtual

import (
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

// guard lets through to an API server what the Roles in it allow. Impersonation and refusals are those of Kubernetes' own filters; which Roles
// count, and what they allow, is as https://kubernetes.io/docs/reference/access-authn-authz/rbac/ says. It is safe for concurrent use.
type guard struct {
	to    http.RoundTripper
	log   func(answered, *http.Response)
	paths *request.RequestInfoFactory
	roles typedrbacv1.RbacV1Interface

	mu    sync.Mutex
	known []grant // nil where they are to be read anew; guarded by mu
}

// grant is what a binding gives to a subject.
type grant struct {
	subject   rbacv1.Subject
	namespace string // in which it is given, "" for each and for what is in none
	rules     []rbacv1.PolicyRule
}

func newGuard(to http.RoundTripper) (*guard, error) {
	roles, err := typedrbacv1.NewForConfig(&rest.Config{Host: "http://" + host, Transport: to, QPS: -1})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &guard{
		to: to, roles: roles, paths: &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}, nil
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	info, err := g.paths.NewRequestInfo(r)
	if err != nil {
		return nil, fmt.Errorf("reading the path of a request: %w", err)
	}
	about := answered{Request: r, info: info, by: bearer(r), begun: metav1.NowMicro()}
	asked := r.Clone(request.WithUser(request.WithRequestInfo(r.Context(), info), about.by))
	var allowed *http.Request
	take := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { allowed = r })
	answer := httptest.NewRecorder()
	impersonation.WithImpersonation(filters.WithAuthorization(take, g, scheme.Codecs), g, scheme.Codecs).ServeHTTP(answer, asked)
	if allowed != nil {
		if as, _ := request.UserFrom(allowed.Context()); as != about.by {
			about.as = as
		}
	} else if name := r.Header.Get("Impersonate-User"); name != "" {
		about.as = &user.DefaultInfo{Name: name}
	}
	var response *http.Response
	switch {
	case allowed == nil:
		response = answer.Result()
	case info.APIGroup == authorizationv1.GroupName && info.Verb == "create":
		g.review(answer, allowed)
		response = answer.Result()
	default:
		if response, err = g.to.RoundTrip(allowed); err != nil {
			return nil, err //nolint:wrapcheck // It is the server's.
		}
	}
	response.Request = r
	if info.APIGroup == rbacv1.GroupName {
		g.mu.Lock()
		g.known = nil
		g.mu.Unlock()
	}
	g.log(about, response)
	return response, nil
}

// bearer is whose token a request has: the name of a ServiceAccount is its token. Without one it is a user who may do everything.
func bearer(r *http.Request) user.Info {
	name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	namespace, _, err := serviceaccount.SplitUsername(name)
	if err != nil {
		return &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}
	}
	return &user.DefaultInfo{Name: name, Groups: append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)}
}

// Authorize implements [authorizer.UnconditionalAuthorizer].
func (g *guard) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	rules, err := g.rules(ctx, a.GetUser(), a.GetNamespace())
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
func (g *guard) rules(ctx context.Context, of user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil {
		var err error
		if g.known, err = g.read(ctx); err != nil {
			return nil, err
		}
	}
	var out []rbacv1.PolicyRule
	for _, one := range g.known {
		if (one.namespace == "" || one.namespace == namespace) && one.isFor(of) {
			out = append(out, one.rules...)
		}
	}
	return out, nil
}

func (g *grant) isFor(who user.Info) bool {
	switch g.subject.Kind {
	case rbacv1.GroupKind:
		return slices.Contains(who.GetGroups(), g.subject.Name)
	case rbacv1.ServiceAccountKind:
		return who.GetName() == serviceaccount.MakeUsername(g.subject.Namespace, g.subject.Name)
	default:
		return who.GetName() == g.subject.Name
	}
}

// authenticated is what system:basic-user and system:discovery allow, which Kubernetes binds to each user that it knows.
var authenticated = grant{
	subject: rbacv1.Subject{Kind: rbacv1.GroupKind, Name: user.AllAuthenticated},
	rules: []rbacv1.PolicyRule{
		{Verbs: []string{"create"}, APIGroups: []string{authorizationv1.GroupName}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
		{Verbs: []string{"get"}, NonResourceURLs: []string{"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", "/version"}},
	},
}

// read reads what all bindings give.
func (g *guard) read(ctx context.Context) ([]grant, error) {
	rules := map[string][]rbacv1.PolicyRule{"/cluster-admin": {{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}}
	out := []grant{authenticated}
	clusterRoles, err := g.roles.ClusterRoles().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading ClusterRoles: %w", err)
	}
	for _, role := range clusterRoles.Items {
		rules["/"+role.Name] = role.Rules
	}
	roles, err := g.roles.Roles("").List(ctx, metav1.ListOptions{})
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
			out = append(out, grant{subject, namespace, rules[from+"/"+role.Name]})
		}
	}
	wide, err := g.roles.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading ClusterRoleBindings: %w", err)
	}
	for _, binding := range wide.Items {
		add(binding.Subjects, "", binding.RoleRef)
	}
	bindings, err := g.roles.RoleBindings("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading RoleBindings: %w", err)
	}
	for _, binding := range bindings.Items {
		add(binding.Subjects, binding.Namespace, binding.RoleRef)
	}
	return out, nil
}

// review answers who may do what.
func (g *guard) review(w http.ResponseWriter, r *http.Request) {
	gv := authorizationv1.SchemeGroupVersion
	fail := func(err error) { responsewriters.ErrorNegotiated(err, scheme.Codecs, gv, w, r) }
	data, err := io.ReadAll(r.Body)
	if err != nil {
		fail(err)
		return
	}
	review, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		fail(err)
		return
	}
	who, _ := request.UserFrom(r.Context())
	switch review := review.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		review.Status, err = g.decide(r.Context(), who, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
	case *authorizationv1.SubjectAccessReview:
		who = &user.DefaultInfo{Name: review.Spec.User, Groups: review.Spec.Groups}
		review.Status, err = g.decide(r.Context(), who, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
	case *authorizationv1.SelfSubjectRulesReview:
		review.Status, err = g.list(r.Context(), who, review.Spec.Namespace)
	}
	if err != nil {
		fail(err)
		return
	}
	responsewriters.WriteObjectNegotiated(scheme.Codecs, negotiation.DefaultEndpointRestrictions, gv, w, r, http.StatusCreated, review, false)
}

func (g *guard) decide(ctx context.Context, who user.Info, of *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) (out authorizationv1.SubjectAccessReviewStatus, err error) {
	about := authorizer.AttributesRecord{User: who}
	switch {
	case of != nil:
		about.ResourceRequest, about.Verb, about.Namespace, about.Name = true, of.Verb, of.Namespace, of.Name
		about.APIGroup, about.APIVersion, about.Resource, about.Subresource = of.Group, of.Version, of.Resource, of.Subresource
	case path != nil:
		about.Verb, about.Path = path.Verb, path.Path
	}
	decision, reason, err := g.Authorize(ctx, about)
	return authorizationv1.SubjectAccessReviewStatus{Allowed: decision == authorizer.DecisionAllow, Reason: reason}, err
}

func (g *guard) list(ctx context.Context, who user.Info, namespace string) (out authorizationv1.SubjectRulesReviewStatus, err error) {
	rules, err := g.rules(ctx, who, namespace)
	if slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		rules = []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}, {Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}}
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
