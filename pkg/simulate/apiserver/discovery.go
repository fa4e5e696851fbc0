package apiserver

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// aggregated is the content type of discovery that lists all resources at once (KEP-3352).
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// serveDiscovery answers what the server is and what it serves. All clients of today accept what a server aggregates.
func (s *Server) serveDiscovery(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, openAPIPath) {
		s.described.ServeHTTP(w, r)
		return
	}
	var body any
	contentType := "application/json"
	switch strings.TrimSuffix(r.URL.Path, "/") {
	case "/version":
		body = version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.0"} // As doc.go says.
	case "/api":
		body, contentType = s.groups(func(group string) bool { return group == "" }), aggregated
	case "/apis":
		body, contentType = s.groups(func(group string) bool { return group != "" }), aggregated
	default:
		s.kinds.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_ = json.NewEncoder(w).Encode(body) // The client is there.
}

// groups are those of a server, with their resources by version.
func (s *Server) groups(wanted func(group string) bool) apidiscoveryv2.APIGroupDiscoveryList {
	byVersion := map[string]map[string][]apidiscoveryv2.APIResourceDiscovery{}
	for _, gvr := range slices.SortedFunc(maps.Keys(s.byName), compareResources) {
		if !wanted(gvr.Group) {
			continue
		}
		if byVersion[gvr.Group] == nil {
			byVersion[gvr.Group] = map[string][]apidiscoveryv2.APIResourceDiscovery{}
		}
		byVersion[gvr.Group][gvr.Version] = append(byVersion[gvr.Group][gvr.Version], discovered(s.byName[gvr], s.short[gvr.GroupResource()]))
	}
	out := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}}
	for _, group := range slices.Sorted(maps.Keys(byVersion)) {
		found := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
		for _, v := range slices.SortedFunc(maps.Keys(byVersion[group]), func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) }) {
			found.Versions = append(found.Versions, apidiscoveryv2.APIVersionDiscovery{
				Version: v, Resources: byVersion[group][v], Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
			})
		}
		out.Items = append(out.Items, found)
	}
	return out
}

func discovered(r Resource, short []string) apidiscoveryv2.APIResourceDiscovery {
	kind := &metav1.GroupVersionKind{Group: r.Kind.Group, Version: r.Kind.Version, Kind: r.Kind.Kind}
	out := apidiscoveryv2.APIResourceDiscovery{
		Resource: r.GVR.Resource, ResponseKind: kind, Scope: apidiscoveryv2.ScopeCluster, SingularResource: strings.ToLower(r.Kind.Kind), ShortNames: short,
		Verbs: []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
	}
	if r.Namespaced {
		out.Scope = apidiscoveryv2.ScopeNamespace
	}
	below := func(name string, kind *metav1.GroupVersionKind) {
		out.Subresources = append(out.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: name, ResponseKind: kind, Verbs: []string{"get", "patch", "update"}})
	}
	if r.Scale {
		below("scale", &metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
	}
	if r.Status {
		below("status", kind)
	}
	return out
}

func compareResources(a, b apischema.GroupVersionResource) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
}
