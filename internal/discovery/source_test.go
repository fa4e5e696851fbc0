package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

var (
	pods        = apischema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments = apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	jobs        = apischema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	metrics     = apischema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "nodes"}
)

// apiServer answers with the documents that client-go has recorded of a real one.
type apiServer struct {
	legacy  bool              // it does not aggregate discovery
	away    string            // a group whose own server is away
	absent  string            // a group that it neither serves nor describes
	at      string            // where the index says that v1 is described, the usual place where it is empty
	novel   bool              // it serves novelties of apps/v1
	wide    bool              // its deployments have no namespaces
	hashes  map[string]string // of descriptions by path, 1 for others
	refuses map[string]int    // status by path
	hangs   map[string]bool   // paths that are not answered

	mu    sync.Mutex
	asked []string
}

func (a *apiServer) client(t *testing.T) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(t, w, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	client, err := NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (a *apiServer) serve(t *testing.T, w http.ResponseWriter, r *http.Request) {
	if a.hangs[r.URL.Path] {
		<-r.Context().Done()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.URL.Path)
	if status := a.refuses[r.URL.Path]; status != 0 {
		w.WriteHeader(status)
		return
	}
	var answer any
	switch path := r.URL.Path; {
	case (path == "/api" || path == "/apis") && !a.legacy:
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		answer = a.aggregated(path == "/api")
	case path == "/api":
		answer = metav1.APIVersions{Versions: []string{"v1"}}
	case path == "/apis":
		answer = metav1.APIGroupList{Groups: []metav1.APIGroup{group("apps", "v1"), group("metrics.k8s.io", "v1beta1")}}
	case path == "/openapi/v3":
		answer = a.index(t)
	case strings.HasPrefix(path, "/openapi/v3/"):
		recorded(t, w, strings.TrimPrefix(path, "/openapi/v3/"))
		return
	default:
		list, found := a.lists()[strings.TrimPrefix(path, "/")]
		if !found {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer = list
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		t.Error(err)
	}
}

func group(name, version string) metav1.APIGroup {
	v := metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + version, Version: version}
	return metav1.APIGroup{Name: name, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v}
}

// lists are the resources of the server as the old way of discovery has them.
func (a *apiServer) lists() map[string]metav1.APIResourceList {
	all := []string{"create", "get", "list", "patch", "watch"}
	out := map[string]metav1.APIResourceList{
		"api/v1": {GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "pods", SingularName: "pod", ShortNames: []string{"po"}, Kind: "Pod", Namespaced: true, Verbs: all},
			{Name: "pods/status", Kind: "Pod", Namespaced: true, Verbs: []string{"get", "patch"}},
			{Name: "pods/novelty", Kind: "Novelty", Namespaced: true, Verbs: []string{"get"}},
			{Name: "nodes", Kind: "Node", Verbs: all},
		}},
		"apis/apps/v1": {GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments", Kind: "Deployment", Namespaced: !a.wide, Verbs: all},
			{Name: "deployments/scale", Group: "autoscaling", Version: "v1", Kind: "Scale", Namespaced: true, Verbs: []string{"get", "patch"}},
		}},
		"apis/metrics.k8s.io/v1beta1": {GroupVersion: "metrics.k8s.io/v1beta1", APIResources: []metav1.APIResource{
			{Name: "nodes", Kind: "NodeMetrics", Verbs: []string{"get", "list"}},
		}},
	}
	if apps := out["apis/apps/v1"]; a.novel {
		apps.APIResources = append(apps.APIResources, metav1.APIResource{Name: "novelties", Kind: "Novelty", Namespaced: true, Verbs: all})
		out["apis/apps/v1"] = apps
	}
	if a.absent != "" {
		delete(out, "apis/"+a.absent+"/v1")
	}
	return out
}

// aggregated are the same as one document.
func (a *apiServer) aggregated(core bool) apidiscoveryv2.APIGroupDiscoveryList {
	var out apidiscoveryv2.APIGroupDiscoveryList
	for _, path := range slices.Sorted(maps.Keys(a.lists())) {
		list := a.lists()[path]
		gv, _ := apischema.ParseGroupVersion(list.GroupVersion)
		if (gv.Group == "") != core {
			continue
		}
		version := apidiscoveryv2.APIVersionDiscovery{Version: gv.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		if a.away != "" && gv.Group == a.away {
			version.Freshness = apidiscoveryv2.DiscoveryFreshnessStale
		} else {
			version.Resources = discovered(gv, list.APIResources)
		}
		out.Items = append(out.Items, apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: gv.Group}, Versions: []apidiscoveryv2.APIVersionDiscovery{version},
		})
	}
	return out
}

func discovered(gv apischema.GroupVersion, list []metav1.APIResource) []apidiscoveryv2.APIResourceDiscovery {
	var out []apidiscoveryv2.APIResourceDiscovery
	for _, r := range list {
		kind := &metav1.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: r.Kind}
		scope := apidiscoveryv2.ScopeCluster
		if r.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		if _, sub, found := strings.Cut(r.Name, "/"); found {
			last := &out[len(out)-1]
			last.Subresources = append(last.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: sub, ResponseKind: kind, Verbs: r.Verbs})
			continue
		}
		out = append(out, apidiscoveryv2.APIResourceDiscovery{
			Resource: r.Name, ResponseKind: kind, Scope: scope, SingularResource: r.SingularName, ShortNames: r.ShortNames, Verbs: r.Verbs,
		})
	}
	return out
}

func (a *apiServer) index(t *testing.T) any {
	t.Helper()
	paths, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		t.Error(err)
	}
	out := map[string]any{}
	for path := range paths {
		hash := a.hashes[path]
		if hash == "" {
			hash = "1"
		}
		if a.absent == "" || path != "apis/"+a.absent+"/v1" {
			out[path] = map[string]any{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + hash}
			if a.at != "" && path == "api/v1" {
				out[path] = map[string]any{"serverRelativeURL": a.at}
			}
		}
	}
	return map[string]any{"paths": out}
}

func recorded(t *testing.T, w http.ResponseWriter, path string) {
	t.Helper()
	paths, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		t.Error(err)
	}
	data, err := paths[path].Schema("application/json")
	if err != nil {
		t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(data); err != nil {
		t.Error(err)
	}
}

func ask(t *testing.T, a *apiServer, wanted ...apischema.GroupVersionResource) *Source {
	t.Helper()
	source, err := Ask(t.Context(), a.client(t), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestResource(t *testing.T) {
	for name, legacy := range map[string]bool{"aggregated": false, "each by itself": true} {
		t.Run(name, func(t *testing.T) {
			source := ask(t, &apiServer{legacy: legacy}, pods, deployments, jobs, metrics)
			pod := source.Resource(pods)
			if pod.Kind != "Pod" || !pod.Namespaced || !slices.Contains(pod.Verbs, "watch") || !pod.SubresourcesKnown {
				t.Errorf("got %+v", pod)
			}
			spec, possible := pod.Type.Field("spec")
			if _, node := spec.Type.Field("nodeName"); !possible || !node {
				t.Error("a pod has spec.nodeName")
			}
			if _, possible := spec.Type.Field("nodename"); possible {
				t.Error("a pod has no spec.nodename")
			}
			if got, want := slices.Sorted(maps.Keys(pod.Subresources)), []string{"novelty", "status"}; !slices.Equal(got, want) {
				t.Errorf("discovery says which subresources there are: want %q, got %q", want, got)
			}
			if pod.Subresources["status"] == nil || pod.Subresources["novelty"].Known() {
				t.Error("a subresource that is not described is open")
			}
			if scale := source.Resource(deployments).Subresources["scale"]; scale == nil || scale.Kinds&value.Map == 0 {
				t.Errorf("the body of scale is a map, got %+v", scale)
			}
			if source.Resource(jobs) != nil {
				t.Error("what is described but not served does not exist")
			}
			if nodes := source.Resource(metrics); nodes == nil || nodes.Namespaced || nodes.Type.Known() || slices.Contains(nodes.Verbs, "watch") {
				t.Errorf("what is served but not described is open: %+v", nodes)
			}
		})
	}
}

// TestAsksLittle holds that only what rules name is fetched, and each once.
func TestAsksLittle(t *testing.T) {
	more := pods
	more.Resource = "nodes"
	cases := map[string]struct {
		reason string
		wanted []apischema.GroupVersionResource
		want   []string
	}{
		"nothing": {"No rule, no document.", nil, []string{"/api", "/apis"}},
		"one":     {"The index, and the one document.", []apischema.GroupVersionResource{pods}, []string{"/api", "/apis", "/openapi/v3", "/openapi/v3/api/v1"}},
		"two":     {"Of one group-version there is one document.", []apischema.GroupVersionResource{pods, more, pods}, []string{"/api", "/apis", "/openapi/v3", "/openapi/v3/api/v1"}},
		"unknown": {"What is not served has none.", []apischema.GroupVersionResource{jobs}, []string{"/api", "/apis", "/openapi/v3"}},
		"alien":   {"Nor has what nobody describes.", []apischema.GroupVersionResource{metrics}, []string{"/api", "/apis", "/openapi/v3"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{}
			ask(t, server, tc.wanted...)
			if got := slices.Sorted(slices.Values(server.asked)); !slices.Equal(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestNotWanted holds that a resource that no rule named exists all the same.
func TestNotWanted(t *testing.T) {
	source := ask(t, &apiServer{})
	if got := source.Resource(pods); got == nil || !got.Type.Known() || len(got.Subresources) != 2 {
		t.Errorf("got %+v, want what is known of all pods", got)
	}
	if got := source.Resource(metrics); got == nil || got.Type.Known() {
		t.Errorf("got %+v", got)
	}
	if got := source.Resource(apischema.GroupVersionResource{Version: "v2", Resource: "pods"}); got != nil {
		t.Errorf("got %+v", got)
	}
}

func TestResources(t *testing.T) {
	want := []schema.Name{
		{GroupVersionResource: apischema.GroupVersionResource{Version: "v1", Resource: "nodes"}, Kind: "Node"},
		{GroupVersionResource: pods, Kind: "Pod", Other: []string{"po", "pod"}},
		{GroupVersionResource: deployments, Kind: "Deployment"},
		{GroupVersionResource: metrics, Kind: "NodeMetrics"},
	}
	source := ask(t, &apiServer{})
	if diff := cmp.Diff(want, source.Resources()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	source.Resources()[0].Kind = "changed"
	if source.Resources()[0].Kind != "Node" {
		t.Error("the source can be changed")
	}
}

func TestWhole(t *testing.T) {
	for name, server := range map[string]*apiServer{
		"stale": {away: "metrics.k8s.io"},
		"error": {legacy: true, refuses: map[string]int{"/apis/metrics.k8s.io/v1beta1": http.StatusServiceUnavailable}},
	} {
		t.Run(name, func(t *testing.T) {
			source := ask(t, server, pods, metrics)
			if source.Whole("metrics.k8s.io") || source.Resource(metrics) != nil {
				t.Error("of a group whose server is away nothing is certain")
			}
			if !source.Whole("") || !source.Whole("apps") || !source.Whole("no.such.group") {
				t.Error("of the others everything is")
			}
			catalog := schema.NewCatalog(source)
			if catalog.Missing(metrics) || !catalog.Missing(jobs) {
				t.Error("jobs do not exist, metrics may")
			}
		})
	}
}

// TestPartly holds that a description that cannot be had takes no other away.
func TestPartly(t *testing.T) {
	server := &apiServer{refuses: map[string]int{"/openapi/v3/api/v1": http.StatusServiceUnavailable}}
	source, err := Ask(t.Context(), server.client(t), []apischema.GroupVersionResource{pods, deployments})
	if err == nil || source == nil {
		t.Fatalf("got %v, %v", source, err)
	}
	if source.documents[pods.GroupVersion()] != nil || source.documents[deployments.GroupVersion()] == nil {
		t.Error("deployments are described, pods are only served")
	}
}

func TestAskFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		server *apiServer
		want   string
	}{
		"no discovery": {"Without it nothing is known.", &apiServer{refuses: map[string]int{"/api": 403, "/apis": 403}}, "asking for the resources of the API server: "},
		"no index":     {"A server that does not say what it describes.", &apiServer{refuses: map[string]int{"/openapi/v3": 403}}, "asking for the schemas of the API server: "},
		"no document":  {"It says so, and does not give it.", &apiServer{refuses: map[string]int{"/openapi/v3/api/v1": 500}}, "asking for the schema of v1: "},
		"elsewhere":    {"The address is that of a Pod.", &apiServer{at: "/api/v1/namespaces/a/pods/b/proxy/"}, "asking for the schema of v1: the address "},
		"back":         {"So it is once the server has resolved it.", &apiServer{at: "/openapi/v3/../../api/v1/namespaces/a/pods/b/proxy"}, "asking for the schema of v1: the address "},
		"other host":   {"The address is that of another host.", &apiServer{at: "https://other.example/schema"}, "asking for the schema of v1: the address "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Ask(t.Context(), tc.server.client(t), []apischema.GroupVersionResource{pods})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("%s\nwant %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestAskEnds holds that a server that does not answer keeps nobody waiting.
func TestAskEnds(t *testing.T) {
	for _, path := range []string{"/apis", "/openapi/v3", "/openapi/v3/api/v1"} {
		t.Run(path, func(t *testing.T) {
			server := &apiServer{hangs: map[string]bool{path: true}}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := Ask(ctx, server.client(t), []apischema.GroupVersionResource{pods})
			if !errors.Is(err, context.DeadlineExceeded) && (err == nil || ctx.Err() == nil) {
				t.Errorf("got %v", err)
			}
		})
	}
}
