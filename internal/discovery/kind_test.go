package discovery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

func TestServed(t *testing.T) {
	apps := apischema.GroupResource{Group: "apps", Resource: "deployments"}
	nodeMetrics := apischema.GroupResource{Group: "metrics.k8s.io", Resource: "nodes"}
	failing := &apiServer{legacy: true, refuses: map[string]int{"/apis/metrics.k8s.io/v1beta1": http.StatusServiceUnavailable}}
	cases := map[string]struct {
		reason string
		server *apiServer
		of     apischema.GroupResource
		want   string // version, and whether there are namespaces
	}{
		"core":             {"The core group has no name.", &apiServer{}, apischema.GroupResource{Resource: "pods"}, "v1 true"},
		"group":            {"Others have.", &apiServer{}, apps, "v1 true"},
		"legacy":           {"A server that does not aggregate discovery says the same.", &apiServer{legacy: true}, apps, "v1 true"},
		"cluster-scoped":   {"It has no namespaces.", &apiServer{}, apischema.GroupResource{Resource: "nodes"}, "v1 false"},
		"of another group": {"The same name in another group is another resource.", &apiServer{}, nodeMetrics, "v1beta1 false"},
		"not served":       {"The resource is not there.", &apiServer{}, apischema.GroupResource{Group: "apps", Resource: "jobs"}, ""},
		"no such group":    {"Nor is the group.", &apiServer{}, apischema.GroupResource{Group: "batch", Resource: "jobs"}, ""},
		"not a resource":   {"A subresource is none.", &apiServer{}, apischema.GroupResource{Resource: "status"}, ""},
		"another is away":  {"What is asked for is known for certain.", &apiServer{away: "metrics.k8s.io"}, apps, "v1 true"},
		"another fails":    {"Likewise without aggregation.", failing, apps, "v1 true"},
		"none, one away":   {"Of its group all is known.", &apiServer{away: "metrics.k8s.io"}, apischema.GroupResource{Group: "batch", Resource: "jobs"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := Served(t.Context(), tc.server.client(t), tc.of)
			if err != nil {
				t.Fatalf("%s\nerror: %v", tc.reason, err)
			}
			got := ""
			if found != nil {
				got = fmt.Sprint(found.Version, " ", found.Namespaced)
				if found.Group != tc.of.Group || found.Name != tc.of.Resource {
					t.Errorf("%s\nwant %s, got %s.%s", tc.reason, tc.of, found.Name, found.Group)
				}
			}
			if got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestServedUncertain holds that what cannot be told is an error: to take a resource
// for gone is to forget what was left there.
func TestServedUncertain(t *testing.T) {
	of := apischema.GroupResource{Group: "metrics.k8s.io", Resource: "nodes"}
	cases := map[string]struct {
		reason string
		server *apiServer
	}{
		"away":         {"The server of the group is away.", &apiServer{away: "metrics.k8s.io"}},
		"fails":        {"Its list cannot be had.", &apiServer{legacy: true, refuses: map[string]int{"/apis/metrics.k8s.io/v1beta1": http.StatusServiceUnavailable}}},
		"no discovery": {"Nothing is known at all.", &apiServer{refuses: map[string]int{"/api": http.StatusForbidden, "/apis": http.StatusForbidden}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if found, err := Served(t.Context(), tc.server.client(t), of); err == nil {
				t.Errorf("%s\ngot %v", tc.reason, found)
			}
		})
	}
}

// versions is a server of one group with several versions.
type versions struct {
	preferred string
	lists     []*metav1.APIResourceList
	away      string // a version that it has, of which it cannot say what is in it
}

func (v versions) client(t *testing.T) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		groups := map[string]*metav1.APIGroup{}
		var all metav1.APIGroupList
		for _, list := range v.lists {
			if r.URL.Path == "/apis/"+list.GroupVersion {
				_ = json.NewEncoder(w).Encode(list)
				return
			}
			at := strings.LastIndex(list.GroupVersion, "/")
			group := groups[list.GroupVersion[:at]]
			if group == nil {
				group = &metav1.APIGroup{Name: list.GroupVersion[:at], PreferredVersion: metav1.GroupVersionForDiscovery{Version: v.preferred}}
				groups[group.Name] = group
			}
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: list.GroupVersion, Version: list.GroupVersion[at+1:]})
		}
		if r.URL.Path != "/apis" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		for _, group := range groups {
			if v.away != "" {
				group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: group.Name + "/" + v.away, Version: v.away})
			}
			all.Groups = append(all.Groups, *group)
		}
		_ = json.NewEncoder(w).Encode(all)
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestServedVersion(t *testing.T) {
	list := func(version string, resources ...string) *metav1.APIResourceList {
		out := &metav1.APIResourceList{GroupVersion: "example.com/" + version}
		for _, name := range resources {
			out.APIResources = append(out.APIResources, metav1.APIResource{Name: name})
		}
		return out
	}
	cases := map[string]struct {
		reason string
		server versions
		want   string
	}{
		"preferred":        {"It is the one that clients use.", versions{preferred: "v2", lists: []*metav1.APIResourceList{list("v1", "widgets"), list("v2", "widgets"), list("v3", "widgets")}}, "v2"},
		"preferred lacks":  {"Not all versions have all resources.", versions{preferred: "v2", lists: []*metav1.APIResourceList{list("v1", "widgets"), list("v2", "gadgets")}}, "v1"},
		"another is away":  {"Any version has the same objects.", versions{preferred: "v1", lists: []*metav1.APIResourceList{list("v2", "widgets")}, away: "v1"}, "v2"},
		"unreadable group": {"It is not ours.", versions{preferred: "v1", lists: []*metav1.APIResourceList{{GroupVersion: "a/b/c", APIResources: []metav1.APIResource{{Name: "widgets"}}}, list("v1", "widgets")}}, "v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 { // In either order.
				found, err := Served(t.Context(), tc.server.client(t), apischema.GroupResource{Group: "example.com", Resource: "widgets"})
				if err != nil || found == nil || found.Version != tc.want {
					t.Errorf("%s\nwant %s, got %v, %v", tc.reason, tc.want, found, err)
				}
				slices.Reverse(tc.server.lists)
			}
		})
	}
	away := versions{preferred: "v2", lists: []*metav1.APIResourceList{list("v2", "gadgets")}, away: "v1"}
	if found, err := Served(t.Context(), away.client(t), apischema.GroupResource{Group: "example.com", Resource: "widgets"}); err == nil {
		t.Errorf("the version that is away may have them, got %v", found)
	}
}

// TestDefined holds that a CRD is there, or is not, only where the API server says so.
func TestDefined(t *testing.T) {
	backups := apischema.GroupResource{Group: "example.com", Resource: "backups"}
	for name, tc := range map[string]struct {
		reason string
		of     apischema.GroupResource
		status int
		want   bool
		fails  bool
	}{
		"There":   {"The API server has it.", backups, http.StatusOK, true, false},
		"Missing": {"It has none of the name.", backups, http.StatusNotFound, false, false},
		"Denied":  {"It does not say.", backups, http.StatusForbidden, false, true},
		"Core":    {"There can be none of the core group, so nobody is asked.", apischema.GroupResource{Resource: "pods"}, http.StatusForbidden, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{refuses: map[string]int{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/backups.example.com": tc.status}}
			got, err := Defined(t.Context(), server.client(t).RESTClient(), tc.of)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("%s\nwant %t, got %t and %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// TestOddAnswers holds that no answer of an API server, or of what is before it, stops the process.
func TestOddAnswers(t *testing.T) {
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for name, tc := range map[string]struct {
		reason, contentType, core, others string
		fails                             bool
		want                              int // resources
	}{
		"core group twice": {
			"A group without a name has no lists below /apis.", aggregated,
			`{"items":[{"versions":[{"version":"v1","resources":[{"resource":"pods","responseKind":{"kind":"Pod"}}]}]}]}`,
			`{"items":[{"versions":[{"version":"v9"}]},{"metadata":{"name":"a/b"},"versions":[{"version":"v1"}]}]}`, false, 1,
		},
		"null":          {"Nothing is served.", aggregated, `null`, `{"items":null}`, false, 0},
		"no kind":       {"It is not a resource, but has one below it.", aggregated, `{}`, `{"items":[{"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[{"resource":"x","subresources":[{"subresource":"s","responseKind":{"kind":"S"}}]}]}]}]}`, false, 1},
		"a page":        {"Something else answers.", "text/html", `<html>`, `<html>`, true, 0},
		"no groups":     {"It is an empty list.", "application/json", `{"versions":[]}`, `{"groups":[]}`, false, 0},
		"nameless":      {"What it is of cannot be asked for.", "application/json", `{"versions":[""]}`, `{"groups":[{"versions":[{}]}]}`, false, 0},
		"another shape": {"It says nothing that can be read.", "application/json", `{"versions":{"a":1}}`, `{}`, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tc.contentType)
				switch r.URL.Path {
				case "/api":
					_, _ = w.Write([]byte(tc.core))
				case "/apis":
					_, _ = w.Write([]byte(tc.others))
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			defer server.Close()
			client, err := NewClient(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			found, _, err := Resources(t.Context(), client)
			if (err != nil) != tc.fails || len(found) != tc.want {
				t.Errorf("%s\ngot %v, %v", tc.reason, found, err)
			}
		})
	}
}
