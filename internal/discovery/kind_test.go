package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
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
	Server
	preferred string
	lists     []*metav1.APIResourceList
	err       error
}

func (v versions) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	group := &metav1.APIGroup{Name: "example.com", PreferredVersion: metav1.GroupVersionForDiscovery{Version: v.preferred}}
	return []*metav1.APIGroup{group}, v.lists, v.err
}

func TestServedVersion(t *testing.T) {
	list := func(version string, resources ...string) *metav1.APIResourceList {
		out := &metav1.APIResourceList{GroupVersion: "example.com/" + version}
		for _, name := range resources {
			out.APIResources = append(out.APIResources, metav1.APIResource{Name: name})
		}
		return out
	}
	v1 := apischema.GroupVersion{Group: "example.com", Version: "v1"}
	partly := &discovery.ErrGroupDiscoveryFailed{Groups: map[apischema.GroupVersion]error{v1: errors.New("away")}}
	cases := map[string]struct {
		reason string
		server versions
		want   string
	}{
		"preferred":        {"It is the one that clients use.", versions{preferred: "v2", lists: []*metav1.APIResourceList{list("v1", "widgets"), list("v2", "widgets"), list("v3", "widgets")}}, "v2"},
		"preferred lacks":  {"Not all versions have all resources.", versions{preferred: "v2", lists: []*metav1.APIResourceList{list("v1", "widgets"), list("v2", "gadgets")}}, "v1"},
		"another is away":  {"Any version has the same objects.", versions{preferred: "v1", lists: []*metav1.APIResourceList{list("v2", "widgets")}, err: partly}, "v2"},
		"unreadable group": {"It is not ours.", versions{preferred: "v1", lists: []*metav1.APIResourceList{{GroupVersion: "a/b/c", APIResources: []metav1.APIResource{{Name: "widgets"}}}, list("v1", "widgets")}}, "v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 { // In either order.
				found, err := Served(t.Context(), tc.server, apischema.GroupResource{Group: "example.com", Resource: "widgets"})
				if err != nil || found == nil || found.Version != tc.want {
					t.Errorf("%s\nwant %s, got %v, %v", tc.reason, tc.want, found, err)
				}
				slices.Reverse(tc.server.lists)
			}
		})
	}
	away := versions{preferred: "v2", lists: []*metav1.APIResourceList{list("v2", "gadgets")}, err: partly}
	if found, err := Served(t.Context(), away, apischema.GroupResource{Group: "example.com", Resource: "widgets"}); err == nil {
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
