package openapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

func apps(t testing.TB) *Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "apps.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func gvr(resource string) apischema.GroupVersionResource {
	return apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

func TestResources(t *testing.T) {
	want := []schema.Name{
		{GroupVersionResource: gvr("deployments"), Kind: "Deployment"},
		{GroupVersionResource: gvr("machines"), Kind: "Machine"},
	}
	if diff := cmp.Diff(want, apps(t).Resources()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestResource(t *testing.T) {
	d := apps(t)
	got := d.Resource(gvr("deployments"))
	want := &schema.Resource{
		GroupVersionResource: gvr("deployments"),
		Kind:                 "Deployment",
		Namespaced:           true,
		Verbs:                []string{"create", "deletecollection", "get", "list", "patch", "watch"},
		Subresources: map[string]*schema.Type{
			"scale":  d.Type("Scale"),
			"status": d.Type("Deployment"),
			"exec":   schema.Open(),
		},
		SubresourcesKnown: true,
		Type:              d.Type("Deployment"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if d.Resource(gvr("deployments")) != got {
		t.Error("it is made twice")
	}
	if got := d.Resource(gvr("deployment")); got != nil {
		t.Errorf("what is not in the document is %+v", got)
	}
}

func TestResourceThatIsOnlyRead(t *testing.T) {
	got := apps(t).Resource(gvr("machines"))
	if got.Namespaced || !got.Type.Known() || got.Type.Map.Fields["online"].Type.Kinds != value.Bool {
		t.Errorf("the machine is %+v of type %+v, want what the kind says", got, got.Type)
	}
	if diff := cmp.Diff([]string{"get"}, got.Verbs); diff != "" {
		t.Errorf("the verbs: (-want +got)\n%s", diff)
	}
}

// TestScopes holds that only what is in a namespace has one in its metadata, and that
// a subresource with the object as its body has its type.
func TestScopes(t *testing.T) {
	const kind = `"x-kubernetes-group-version-kind": {"version": "v1", "kind": "K"}`
	const write = `{"put": {"x-kubernetes-action": "put", ` + kind + `, "requestBody": {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/K"}}}}}}`
	d, err := Parse([]byte(`{"paths": {
		"/api/v1/namespaces/{namespace}/inside/{name}": ` + write + `, "/api/v1/outside/{name}": ` + write + `, "/api/v1/outside/{name}/status": ` + write + `},
		"components": {"schemas": {"K": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "K"}],
			"properties": {"metadata": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	inside := d.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "inside"})
	outside := d.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "outside"})
	if got := inside.Type.Map.Fields["metadata"].Type; got != schema.Metadata() {
		t.Errorf("inside the metadata are %+v", got)
	}
	if got := outside.Type.Map.Fields["metadata"].Type; got != schema.ClusterMetadata() {
		t.Errorf("outside the metadata are %+v", got)
	}
	if outside.Subresources["status"] != outside.Type {
		t.Error("the status is written with another type than the object")
	}
}

// TestWatch holds that what a document lists can be watched, unless it lists what
// can.
func TestWatch(t *testing.T) {
	const list = `{"get": {"x-kubernetes-action": "list", "x-kubernetes-group-version-kind": {"version": "v1", "kind": "K"}}}`
	const watch = `{"get": {"x-kubernetes-action": "watchlist", "x-kubernetes-group-version-kind": {"version": "v1", "kind": "K"}}}`
	for paths, tc := range map[string]struct {
		reason string
		want   []string
	}{
		`"/api/v1/as": ` + list: {"API servers of others do not say", []string{"list", "watch"}},
		`"/api/v1/as": ` + list + `, "/api/v1/watch/as": ` + watch: {"it can", []string{"list", "watch"}},
		`"/api/v1/as": ` + list + `, "/api/v1/watch/bs": ` + watch: {"others can, and it cannot", []string{"list"}},
	} {
		d, err := Parse([]byte(`{"paths": {` + paths + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		got := d.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "as"})
		if diff := cmp.Diff(tc.want, got.Verbs); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
		}
		if got.Type != schema.Open() {
			t.Errorf("%s: a kind without a schema is %+v", tc.reason, got.Type)
		}
	}
}

func TestParsePath(t *testing.T) {
	core := func(resource string) apischema.GroupVersionResource {
		return apischema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	for text, want := range map[string]path{
		"/api/v1/pods":                                                   {gvr: core("pods")},
		"/api/v1/namespaces/{namespace}/pods":                            {gvr: core("pods"), namespaced: true},
		"/api/v1/namespaces/{namespace}/pods/{name}":                     {gvr: core("pods"), namespaced: true},
		"/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}":        {gvr: core("pods"), namespaced: true, subresource: "proxy"},
		"/api/v1/namespaces/{name}":                                      {gvr: core("namespaces")},
		"/api/v1/namespaces/{name}/finalize":                             {gvr: core("namespaces"), subresource: "finalize"},
		"/api/v1/watch/pods":                                             {gvr: core("pods"), watch: true},
		"/api/v1/watch/namespaces/{namespace}/pods/{name}":               {gvr: core("pods"), namespaced: true, watch: true},
		"/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status": {gvr: gvr("deployments"), namespaced: true, subresource: "status"},
		"/apis/apps/v1/watch/deployments":                                {gvr: gvr("deployments"), watch: true},
	} {
		if got, ok := parsePath(text); !ok || got != want {
			t.Errorf("%s is %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "/", "/api/v1/", "/apis/apps/v1/", "/apis/", "/apis/apps/", "/version/", "/logs/{path}", "/apis/{group}/v1/{resource}"} {
		if got, ok := parsePath(text); ok {
			t.Errorf("%q is %+v, want no path of a resource", text, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":       "",
		"YAML":          "paths: {}",
		"another shape": `{"paths": []}`,
	} {
		if _, err := Parse([]byte(data)); err == nil || !strings.HasPrefix(err.Error(), "reading an OpenAPI document: ") {
			t.Errorf("%s is refused with %v", name, err)
		}
	}
}

// TestDocumentIsSharedByWorkers is for the race detector.
func TestDocumentIsSharedByWorkers(t *testing.T) {
	d := apps(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for _, name := range d.Resources() {
				d.Resource(name.GroupVersionResource)
			}
			d.Type("Scale")
		})
	}
	wait.Wait()
}

// BenchmarkDocument has as many schemas as the document of the core.
func BenchmarkDocument(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"paths": {`)
	const kind = `{"version": "v1", "kind": "K%d"}`
	for i := range 50 {
		fmt.Fprintf(&text, `"/api/v1/k%ds": {"post": {"description": %q, "x-kubernetes-action": "post", "x-kubernetes-group-version-kind": `+kind+
			`, "requestBody": {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/K%d"}}}}}},`, i, strings.Repeat("prose ", 5_000), i, i)
	}
	text.WriteString(`"/api/": {}}, "components": {"schemas": {`)
	for i := range 500 {
		fmt.Fprintf(&text, `"K%d": {"description": %q, "type": "object", "properties": {"next": {"$ref": "#/components/schemas/K%d"}}},`,
			i, strings.Repeat("prose ", 200), i+1)
	}
	text.WriteString(`"K500": {"type": "string"}}}}`)
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		d, err := Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		if r := d.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "k7s"}); !r.Type.Known() {
			b.Fatal("the type is not known")
		}
	}
}
