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
	asked     []string // user and right of each review; guarded by mu
	now, most int      // reviews under way; guarded by mu
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
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
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
