package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason       string
		method, path string
		want         Request
		text         string
		writes       bool
	}{
		"get": {
			reason: "The core group has no name.",
			method: http.MethodGet, path: "/api/v1/namespaces/tidb/pods/p-0",
			want: Request{Verb: "get", Version: "v1", Resource: "pods", Namespace: "tidb", Name: "p-0"},
			text: "#0 get pods/tidb/p-0 0",
		},
		"list": {
			reason: "Without a name it is a list, of all namespaces here; a false watch is none.",
			method: http.MethodGet, path: "/api/v1/pods?watch=false&labelSelector=a%3Db",
			want: Request{Verb: "list", Version: "v1", Resource: "pods"},
			text: "#0 list pods 0",
		},
		"watch": {
			reason: "A watch is a list that goes on.",
			method: http.MethodGet, path: "/apis/pingcap.com/v1alpha1/namespaces/tidb/tidbclusters?watch=true",
			want: Request{Verb: "watch", Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters", Namespace: "tidb"},
			text: "#0 watch pingcap.com/tidbclusters/tidb 0",
		},
		"watch of one": {
			reason: "kubectl and client-go spell true in two ways; some watch a single name.",
			method: http.MethodGet, path: "/api/v1/namespaces/tidb/pods/p-0?watch=1",
			want: Request{Verb: "watch", Version: "v1", Resource: "pods", Namespace: "tidb", Name: "p-0"},
			text: "#0 watch pods/tidb/p-0 0",
		},
		"create": {
			reason: "What it will be called is not in the path.",
			method: http.MethodPost, path: "/api/v1/namespaces/tidb/configmaps?fieldManager=dyncontroller",
			want: Request{
				Verb: "create", Version: "v1", Resource: "configmaps", Namespace: "tidb", Manager: "dyncontroller",
			},
			text: "#0 create configmaps/tidb 0", writes: true,
		},
		"update": {
			reason: "A PUT replaces.",
			method: http.MethodPut, path: "/api/v1/namespaces/tidb/configmaps/c",
			want: Request{Verb: "update", Version: "v1", Resource: "configmaps", Namespace: "tidb", Name: "c"},
			text: "#0 update configmaps/tidb/c 0", writes: true,
		},
		"patch of a status": {
			reason: "A subresource follows the name.",
			method: http.MethodPatch, path: "/apis/apps/v1/namespaces/tidb/deployments/d/status",
			want: Request{
				Verb: "patch", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status",
				Namespace: "tidb", Name: "d",
			},
			text: "#0 patch apps/deployments/status/tidb/d 0", writes: true,
		},
		"dry run": {
			reason: "It changes nothing.",
			method: http.MethodPatch, path: "/api/v1/nodes/n?dryRun=All",
			want: Request{Verb: "patch", Version: "v1", Resource: "nodes", Name: "n", DryRun: true},
			text: "#0 patch nodes/n 0",
		},
		"delete": {
			reason: "One object.",
			method: http.MethodDelete, path: "/api/v1/namespaces/tidb/pods/p-0",
			want: Request{Verb: "delete", Version: "v1", Resource: "pods", Namespace: "tidb", Name: "p-0"},
			text: "#0 delete pods/tidb/p-0 0", writes: true,
		},
		"deletecollection": {
			reason: "Many at once.",
			method: http.MethodDelete, path: "/api/v1/namespaces/tidb/pods",
			want: Request{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "tidb"},
			text: "#0 deletecollection pods/tidb 0", writes: true,
		},
		"namespace": {
			reason: "It is an object itself, in no namespace.",
			method: http.MethodGet, path: "/api/v1/namespaces/tidb",
			want: Request{Verb: "get", Version: "v1", Resource: "namespaces", Name: "tidb"},
			text: "#0 get namespaces/tidb 0",
		},
		"namespaces": {
			reason: "Nor are all of them in one.",
			method: http.MethodGet, path: "/api/v1/namespaces",
			want: Request{Verb: "list", Version: "v1", Resource: "namespaces"},
			text: "#0 list namespaces 0",
		},
		"finalize": {
			reason: "A subresource of the namespace is no resource in it.",
			method: http.MethodPut, path: "/api/v1/namespaces/tidb/finalize",
			want: Request{Verb: "update", Version: "v1", Resource: "namespaces", Subresource: "finalize", Name: "tidb"},
			text: "#0 update namespaces/finalize/tidb 0", writes: true,
		},
		"review": {
			reason: "It is created, and only a question.",
			method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			want: Request{Verb: "create", Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"},
			text: "#0 create authorization.k8s.io/selfsubjectaccessreviews 0",
		},
		"discovery of a group": {
			reason: "A group and its version are no resource.",
			method: http.MethodGet, path: "/apis/apps/v1",
			want: Request{Verb: "get"},
			text: "#0 get /apis/apps/v1 0",
		},
		"metrics": {
			reason: "There is more than resources.",
			method: http.MethodGet, path: "/metrics",
			want: Request{Verb: "get"},
			text: "#0 get /metrics 0",
		},
		"root": {
			reason: "A path of nothing is a path.",
			method: http.MethodGet, path: "/",
			want: Request{Verb: "get"},
			text: "#0 get / 0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil)
			tc.want.Path = request.URL.Path
			got := Classify(request)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if got.String() != tc.text {
				t.Errorf("%s\nas text it is %q, want %q", tc.reason, got, tc.text)
			}
			if got.Writes() != tc.writes {
				t.Errorf("%s\nWrites() = %t", tc.reason, got.Writes())
			}
		})
	}
}

func TestFaultedRequestSaysSo(t *testing.T) {
	t.Parallel()
	r := Request{Number: 7, Verb: "create", Version: "v1", Resource: "configmaps", Namespace: "tidb", Code: 201, Faulted: true}
	if got, want := r.String(), "#7 create configmaps/tidb 201 (the client does not know)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
