package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// apiServer answers about ServiceAccounts and access.
type apiServer struct {
	account   func() (code int, body any) // nil: it is there, with the uid u-1
	may       func(user string, about authorizationv1.ResourceAttributes) (allowed bool, refused int)
	mu        sync.Mutex
	rules     func(namespace string) (status authorizationv1.SubjectRulesReviewStatus, refused int) // nil: it cannot list
	asked     []string                                                                              // user and right of each review; guarded by mu
	listed    []string                                                                              // user and namespace of each list; guarded by mu
	now, most int                                                                                   // reviews under way; guarded by mu
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		code, body := http.StatusOK, any(map[string]any{"metadata": map[string]any{"name": "rules", "uid": "u-1"}})
		if s.account != nil {
			code, body = s.account()
		}
		answer(w, code, body)
		return
	}
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
	}()
	if strings.HasSuffix(r.URL.Path, "/selfsubjectrulesreviews") {
		s.answerRules(w, r)
		return
	}
	var review authorizationv1.SelfSubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		answer(w, http.StatusBadRequest, status(http.StatusBadRequest))
		return
	}
	about, user := *review.Spec.ResourceAttributes, r.Header.Get("Impersonate-User")
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s: %s %s.%s/%s in %q %q", user, about.Verb, about.Resource, about.Group, about.Subresource, about.Namespace, about.Name))
	s.mu.Unlock()
	allowed, refused := s.may(user, about)
	if refused != 0 {
		answer(w, refused, status(refused))
		return
	}
	review.Status.Allowed = allowed
	answer(w, http.StatusCreated, review)
}

func (s *apiServer) answerRules(w http.ResponseWriter, r *http.Request) {
	var review authorizationv1.SelfSubjectRulesReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		answer(w, http.StatusBadRequest, status(http.StatusBadRequest))
		return
	}
	s.mu.Lock()
	s.listed = append(s.listed, r.Header.Get("Impersonate-User")+": "+review.Spec.Namespace)
	s.mu.Unlock()
	review.Status = authorizationv1.SubjectRulesReviewStatus{Incomplete: true}
	refused := 0
	if s.rules != nil {
		review.Status, refused = s.rules(review.Spec.Namespace)
	}
	if refused != 0 {
		answer(w, refused, status(refused))
		return
	}
	answer(w, http.StatusCreated, review)
}

func (s *apiServer) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func status(code int) any {
	return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": http.StatusText(code), "message": "refused"}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// reviewer asks the server about an account, without protobuf and limits.
func reviewer(t *testing.T, handler http.Handler, account types.NamespacedName) *access.Reviewer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	r, err := access.NewReviewer(config, account)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func right(verb, resource string) plan.Permission {
	return plan.Permission{Verb: verb, Resource: schema.GroupResource{Resource: resource}, Namespace: "shop"}
}

func TestReview(t *testing.T) {
	getPods, listPods := right("get", "pods"), right("list", "pods")
	status := plan.Permission{Verb: "patch", Resource: schema.GroupResource{Group: "apps", Resource: "deployments"}, Subresource: "status", Namespace: "a", Name: "b"}
	everything := func(string, authorizationv1.ResourceAttributes) (bool, int) { return true, 0 }
	tests := map[string]struct {
		reason      string
		account     types.NamespacedName
		there       func() (int, any)
		may         func(user string, about authorizationv1.ResourceAttributes) (bool, int)
		permissions []plan.Permission
		want        access.Finding
		denied      bool   // to act as the account
		absent      bool   // the account
		err         string // why one cannot know
	}{
		"all": {reason: "Nothing is missing.", account: account, may: everything, permissions: []plan.Permission{getPods, status}, want: access.Finding{UID: "u-1"}},
		"some": {
			reason: "What is missing is sorted.", account: account, permissions: []plan.Permission{listPods, status, getPods},
			may:  func(_ string, about authorizationv1.ResourceAttributes) (bool, int) { return about.Verb == "list", 0 },
			want: access.Finding{UID: "u-1", Missing: []plan.Permission{getPods, status}},
		},
		"itself": {
			reason: "The process has no ServiceAccount to look for.", permissions: []plan.Permission{getPods, listPods},
			there: func() (int, any) { return http.StatusInternalServerError, nil },
			may: func(user string, about authorizationv1.ResourceAttributes) (bool, int) {
				return user == "" && about.Verb == "get", 0
			},
			want: access.Finding{Missing: []plan.Permission{listPods}},
		},
		"nothing": {reason: "Nothing is asked for.", account: account, want: access.Finding{UID: "u-1"}},
		"absent": {
			reason: "Nobody asks what nobody may.", account: account, permissions: []plan.Permission{getPods}, absent: true,
			there: func() (int, any) { return http.StatusNotFound, nil },
		},
		"going": {
			reason: "An account that is being deleted is none.", account: account, permissions: []plan.Permission{getPods}, absent: true,
			there: func() (int, any) {
				return http.StatusOK, map[string]any{"metadata": map[string]any{"uid": "u-1", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
			},
		},
		"hidden": {
			reason: "Whether there is an account the process may not know.", account: account, permissions: []plan.Permission{getPods},
			there: func() (int, any) { return http.StatusForbidden, nil }, err: "asking whether there is ServiceAccount shop/rules",
		},
		"denied": {
			reason: "The process may not act as the account.", account: account, permissions: []plan.Permission{getPods, listPods}, denied: true,
			may: func(user string, _ authorizationv1.ResourceAttributes) (bool, int) {
				if user == "" {
					return false, 0
				}
				return false, http.StatusForbidden
			},
			want: access.Finding{UID: "u-1"},
		},
		"silenced": {
			reason: "The account may not ask.", account: account, permissions: []plan.Permission{getPods},
			may: func(user string, _ authorizationv1.ResourceAttributes) (bool, int) {
				if user == "" {
					return true, 0
				}
				return false, http.StatusForbidden
			},
			want: access.Finding{UID: "u-1"}, err: "asking whether ServiceAccount shop/rules may get pods in namespace shop",
		},
		"nobody may ask": {
			reason: "Nor may the process.", account: account, permissions: []plan.Permission{getPods},
			may:  func(string, authorizationv1.ResourceAttributes) (bool, int) { return false, http.StatusForbidden },
			want: access.Finding{UID: "u-1"}, err: "asking whether one may act as ServiceAccount shop/rules",
		},
		"the process may not ask": {
			reason: "Of itself there is nobody to be denied.", permissions: []plan.Permission{getPods},
			may: func(string, authorizationv1.ResourceAttributes) (bool, int) { return false, http.StatusForbidden }, err: "may get pods",
		},
		"broken": {
			reason: "One answer is missing, so all are unknown.", account: account, permissions: []plan.Permission{getPods, listPods},
			may: func(_ string, about authorizationv1.ResourceAttributes) (bool, int) {
				if about.Verb == "list" {
					return false, http.StatusInternalServerError
				}
				return true, 0
			},
			want: access.Finding{UID: "u-1"}, err: "asking whether ServiceAccount shop/rules may list pods in namespace shop",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{account: tc.there, may: tc.may}
			got, err := reviewer(t, server, tc.account).Review(t.Context(), tc.permissions)
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s have the error %v, want %q", tc.reason, err, tc.err)
			}
			_, denied := errors.AsType[*access.ImpersonationError](got.Account)
			if denied != tc.denied || errors.Is(got.Account, access.ErrNoAccount) != tc.absent || (got.Account != nil) != (denied || tc.absent) {
				t.Errorf("%s the account: %v", tc.reason, got.Account)
			}
			got.Account = nil
			if err == nil {
				tc.want.Reviewed = tc.permissions
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReviewLists holds that one list for each namespace tells all, what it tells, and that
// only what is not listed is asked for by itself.
func TestReviewLists(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	in := func(namespace, verb string, of schema.GroupResource, subresource, name string) plan.Permission {
		return plan.Permission{Verb: verb, Resource: of, Subresource: subresource, Namespace: namespace, Name: name}
	}
	of := func(verbs, groups, resources string, names ...string) authorizationv1.ResourceRule {
		return authorizationv1.ResourceRule{
			Verbs: strings.Split(verbs, ","), APIGroups: strings.Split(groups, ","), Resources: strings.Split(resources, ","), ResourceNames: names,
		}
	}
	get := in("shop", "get", deployments, "", "")
	tests := map[string]struct {
		reason     string
		rules      []authorizationv1.ResourceRule
		incomplete bool
		refused    int
		permission plan.Permission
		missing    bool
		asked      int
	}{
		"listed":              {reason: "It is among others.", rules: []authorizationv1.ResourceRule{of("get", "", "pods"), of("list,get", "apps", "replicasets,deployments")}, permission: get},
		"nothing":             {reason: "The list is complete.", permission: get, missing: true},
		"all":                 {reason: "An administrator may.", rules: []authorizationv1.ResourceRule{of("*", "*", "*")}, permission: in("shop", "patch", deployments, "status", "web")},
		"another verb":        {reason: "Each is a right.", rules: []authorizationv1.ResourceRule{of("list", "apps", "deployments")}, permission: get, missing: true},
		"another group":       {reason: "It is another resource.", rules: []authorizationv1.ResourceRule{of("get", ",extensions", "deployments")}, permission: get, missing: true},
		"another resource":    {reason: "It is another one.", rules: []authorizationv1.ResourceRule{of("get", "apps", "daemonsets")}, permission: get, missing: true},
		"not crossed":         {reason: "A verb of one rule is none of another.", rules: []authorizationv1.ResourceRule{of("get", "apps", "daemonsets"), of("list", "apps", "deployments")}, permission: get, missing: true},
		"subresource":         {reason: "It is named.", rules: []authorizationv1.ResourceRule{of("patch", "apps", "deployments/status")}, permission: in("shop", "patch", deployments, "status", "")},
		"subresource of all":  {reason: "RBAC has it so.", rules: []authorizationv1.ResourceRule{of("patch", "apps", "*/status")}, permission: in("shop", "patch", deployments, "status", "")},
		"not the subresource": {reason: "It is a right of its own.", rules: []authorizationv1.ResourceRule{of("patch", "apps", "deployments,*/scale")}, permission: in("shop", "patch", deployments, "status", ""), missing: true},
		"not the object":      {reason: "Nor is it the other way.", rules: []authorizationv1.ResourceRule{of("patch", "apps", "*/status,deployments/status")}, permission: in("shop", "patch", deployments, "", ""), missing: true},
		"name":                {reason: "It is the one.", rules: []authorizationv1.ResourceRule{of("get", "apps", "deployments", "api", "web")}, permission: in("shop", "get", deployments, "", "web")},
		"another name":        {reason: "It is not.", rules: []authorizationv1.ResourceRule{of("get", "apps", "deployments", "api", "*")}, permission: in("shop", "get", deployments, "", "web"), missing: true},
		"any name":            {reason: "Some names are not all.", rules: []authorizationv1.ResourceRule{of("get", "apps", "deployments", "web")}, permission: get, missing: true},
		"every namespace":     {reason: "What a namespace has does not count.", rules: []authorizationv1.ResourceRule{of("get", "apps", "deployments")}, permission: in("", "get", deployments, "", ""), missing: true},
		"incomplete, listed":  {reason: "It is a right all the same.", rules: []authorizationv1.ResourceRule{of("get", "apps", "deployments")}, incomplete: true, permission: get},
		"incomplete, allowed": {reason: "An authorizer cannot list.", incomplete: true, permission: get, asked: 1},
		"incomplete, denied":  {reason: "Nor does it allow.", incomplete: true, permission: in("shop", "delete", deployments, "", ""), missing: true, asked: 1},
		"may not ask":         {reason: "It may ask for a single right.", refused: http.StatusForbidden, permission: get, asked: 1},
		"no lists":            {reason: "The API server has none.", refused: http.StatusNotFound, permission: get, asked: 1},
		"no list of nowhere":  {reason: "The API server wants a name that there can be.", refused: http.StatusUnprocessableEntity, permission: in("", "get", deployments, "", ""), asked: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{
				rules: func(namespace string) (authorizationv1.SubjectRulesReviewStatus, int) {
					out := authorizationv1.SubjectRulesReviewStatus{Incomplete: tc.incomplete}
					if namespace == "shop" {
						out.ResourceRules = tc.rules
					}
					return out, tc.refused
				},
				may: func(user string, about authorizationv1.ResourceAttributes) (bool, int) {
					return user == "" || about.Verb == "get", 0
				},
			}
			found, err := reviewer(t, server, account).Review(t.Context(), []plan.Permission{tc.permission})
			if err != nil {
				t.Fatalf("%s %v", tc.reason, err)
			}
			asked := slices.DeleteFunc(server.questions(), func(line string) bool { return strings.Contains(line, ": impersonate ") })
			if missing := len(found.Missing) > 0; missing != tc.missing || len(asked) != tc.asked {
				t.Errorf("%s missing is %t, asked were %q", tc.reason, missing, asked)
			}
		})
	}
	server := &apiServer{rules: func(string) (authorizationv1.SubjectRulesReviewStatus, int) {
		return authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{of("get", "apps", "deployments")}}, 0
	}}
	var twenty []plan.Permission
	for i := range 20 {
		twenty = append(twenty, in([]string{"shop", "bank", ""}[i%3], "get", deployments, "", fmt.Sprint(i)))
	}
	if found, err := reviewer(t, server, account).Review(t.Context(), twenty); err != nil || len(found.Missing) > 0 {
		t.Errorf("have %v, %v", found, err)
	}
	user := "system:serviceaccount:shop:rules: "
	if diff := cmp.Diff([]string{user + "shop", user + "bank", user + "-"}, server.listed); diff != "" {
		t.Errorf("lists for 20 rights in two namespaces and everywhere (-want +got):\n%s", diff)
	}
}

// TestReviewAsks holds that each right is asked for as it is, as the account, and not
// all at once.
func TestReviewAsks(t *testing.T) {
	server := &apiServer{may: func(string, authorizationv1.ResourceAttributes) (bool, int) { return true, 0 }}
	permissions := []plan.Permission{{
		Verb: "patch", Resource: schema.GroupResource{Group: "apps", Resource: "deployments"}, Subresource: "status", Namespace: "a", Name: "b",
	}}
	r := reviewer(t, server, account)
	if _, err := r.Review(t.Context(), permissions); err != nil {
		t.Fatal(err)
	}
	want := []string{`system:serviceaccount:shop:rules: patch deployments.apps/status in "a" "b"`}
	if diff := cmp.Diff(want, server.questions()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i := range 50 {
		permissions = append(permissions, right("get", fmt.Sprint("r", i)))
	}
	if _, err := r.Review(t.Context(), permissions); err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if server.most > 4 || len(server.asked) != len(permissions)+1 {
		t.Errorf("%d questions, up to %d at once", len(server.asked), server.most)
	}
}

// TestReviewEnds holds that nobody waits for an API server that does not answer when it
// is over, and that the rest is not asked after an error.
func TestReviewEnds(t *testing.T) {
	var permissions []plan.Permission
	for i := range 100 {
		permissions = append(permissions, right("get", fmt.Sprint("r", i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	server := &apiServer{may: func(string, authorizationv1.ResourceAttributes) (bool, int) {
		cancel()
		<-release
		return true, 0
	}}
	_, err := reviewer(t, server, account).Review(ctx, permissions)
	close(release)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("have %v", err)
	}
	broken := &apiServer{may: func(string, authorizationv1.ResourceAttributes) (bool, int) { return false, http.StatusBadRequest }}
	if _, err := reviewer(t, broken, account).Review(t.Context(), permissions); !apierrors.IsBadRequest(err) {
		t.Errorf("have %v", err)
	}
	if n := len(broken.questions()); n > 20 {
		t.Errorf("%d questions were asked", n)
	}
}

// TestNewReviewer holds that a configuration that cannot be used is an error.
func TestNewReviewer(t *testing.T) {
	config := &rest.Config{Host: "https://localhost:1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/none"}, Timeout: time.Second}
	if _, err := access.NewReviewer(config, account); err == nil {
		t.Error("there is a reviewer without its CA")
	}
}
