package apiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	known "github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// TestFieldSelectors holds that kinds are selected by the fields by which a real API
// server selects them, and by no others.
func TestFieldSelectors(t *testing.T) {
	c := newCluster(t)
	c.run(pods, []step{
		{reason: "two pods", ask: "POST ", kind: plain, code: 201, body: `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"one"}}`},
		{reason: "two pods", ask: "POST ", kind: plain, code: 201, body: `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"two","hostNetwork":true}}`},
		{reason: "by a text", ask: "GET ?fieldSelector=spec.nodeName%3Done", code: 200, want: map[string]string{"items.0.metadata.name": "a", "items.1": ""}},
		{reason: "by what it is not", ask: "GET ?fieldSelector=spec.nodeName%21%3Done", code: 200, want: map[string]string{"items.0.metadata.name": "b", "items.1": ""}},
		{reason: "by a boolean", ask: "GET ?fieldSelector=spec.hostNetwork%3Dtrue", code: 200, want: map[string]string{"items.0.metadata.name": "b", "items.1": ""}},
		{reason: "false is there without being written", ask: "GET ?fieldSelector=spec.hostNetwork%3Dfalse", code: 200, want: map[string]string{"items.0.metadata.name": "a", "items.1": ""}},
		{reason: "by two", ask: "GET ?fieldSelector=spec.nodeName%3Dtwo,metadata.name%3Db", code: 200, want: map[string]string{"items.0.metadata.name": "b"}},
		{reason: "by no other field", ask: "GET ?fieldSelector=spec.priority%3D1", code: 400, want: map[string]string{"message": "field label not supported: spec.priority"}},
	})
	c.run("/api/v1/namespaces/n/secrets", []step{
		{reason: "a secret", ask: "POST ", kind: plain, code: 201, body: `{"metadata":{"name":"a"},"type":"t"}`},
		{reason: "a field at the top", ask: "GET ?fieldSelector=type%3Dt", code: 200, want: map[string]string{"items.0.metadata.name": "a"}},
		{reason: "another value", ask: "GET ?fieldSelector=type%3Du", code: 200, want: map[string]string{"items.0": ""}},
	})
	c.run("/api/v1/secrets", []step{
		{reason: "a name in all namespaces", ask: "GET ?fieldSelector=metadata.name%3Da", code: 200, want: map[string]string{"items.0.metadata.name": "a", "items.1": ""}},
		{reason: "another name", ask: "GET ?fieldSelector=metadata.name%3Db", code: 200, want: map[string]string{"items.0": ""}},
		{reason: "no object", ask: "GET /a", code: 404},
	})
	c.run(configMaps, []step{
		{reason: "what all kinds have", ask: "GET ?fieldSelector=metadata.namespace%3Dn", code: 200},
		{reason: "nothing else", ask: "GET ?fieldSelector=data.a%3Db", code: 400},
	})
}

func TestPaths(t *testing.T) {
	t.Parallel()
	const missing, not = http.StatusNotFound, http.StatusMethodNotAllowed
	newCluster(t).run("", []step{
		{"GET /api/v1/namespaces/n/nothings", "", "", missing, map[string]string{"reason": "NotFound", "details.causes": ""}, "no such resource"},
		{"GET /apis/apps/v1/namespaces/n/nothings/a", "", "", missing, nil, "nor here"},
		{"GET /api", "", "", http.StatusOK, map[string]string{"kind": "APIGroupDiscoveryList"}, "discovery"},
		{"GET /api/v1/configmaps/a", "", "", missing, nil, "a namespace is missing"},
		{"GET /api/v1/configmaps", "", "", http.StatusOK, nil, "those of all namespaces"},
		{"GET /api/v1/namespaces/n/nodes/a", "", "", missing, nil, "nodes are in no namespace"},
		{"POST /api/v1/configmaps", plain, `{}`, not, map[string]string{"reason": "MethodNotAllowed"}, "a namespace is missing"},
		{"PUT /api/v1/namespaces/n/configmaps", plain, `{}`, not, nil, "a name is missing"},
		{"POST /api/v1/namespaces/n/configmaps/a", plain, `{}`, not, nil, "one too many"},
		{"DELETE /api/v1/namespaces", "", "", not, nil, "namespaces do not go together"},
		{"GET /api/v1/namespaces/n/configmaps?watch=true", "", "", http.StatusInternalServerError, nil, "nothing can be watched"},
		{"DELETE /api/v1/namespaces/n/pods/a/status", "", "", not, nil, "a status cannot go"},
	})
}

// collection is the path of all objects of a resource, in a namespace if it has those.
func collection(r apiserver.Resource) string {
	path := "/apis/" + r.GVR.Group + "/" + r.GVR.Version
	if r.GVR.Group == "" {
		path = "/api/" + r.GVR.Version
	}
	if r.Namespaced {
		path += "/namespaces/n"
	}
	return path + "/" + r.GVR.Resource
}

// minimal is the least object of a resource.
func minimal(r apiserver.Resource) string {
	more := ""
	if r.GVR.Group == "events.k8s.io" {
		more = `,"eventTime":"2026-01-01T00:00:00.000000Z","action":"a","reason":"r","type":"Normal",
			"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"n"}`
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}%s}`, r.GVR.GroupVersion().String(), r.Kind.Kind, more)
}

// TestEveryKind goes through the life of an object of each kind: so the table names kinds
// and fields that are there. It holds the table against what is known of the built-in kinds.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	groups := map[schema.GroupResource]bool{}
	for _, r := range apiserver.BuiltIn() {
		groups[r.GVR.GroupResource()] = true
		t.Run(r.Kind.String(), func(t *testing.T) {
			is := known.Source().Resource(r.GVR)
			if is == nil && r.GVR.Group != "coordination.k8s.io" || is != nil && (is.Kind != r.Kind.Kind || is.Namespaced != r.Namespaced) {
				t.Errorf("known is %+v, served %+v", is, r)
			}
			at := collection(r)
			if got := c.ask("POST", at, plain, minimal(r)); got.code != created || got.at("kind") != r.Kind.Kind {
				t.Fatalf("creating: %d %v", got.code, got.body)
			}
			label := `{"metadata":{"labels":{"a":"b"}}}`
			if got := c.ask("PATCH", at+"/a", merge, label); got.code != ok || got.at("metadata.labels.a") != "b" {
				t.Errorf("merging: %d %v", got.code, got.body)
			}
			if got := c.ask("PATCH", at+"/a?fieldManager=f&force=true", apply, minimal(r)); got.code != ok {
				t.Errorf("applying: %d %v", got.code, got.body)
			}
			for _, sub := range []string{"status", "scale", "nothing"} {
				want := http.StatusNotFound
				if is != nil && is.Subresources[sub] != nil {
					want = ok
				}
				if got := c.ask("PATCH", at+"/a/"+sub, merge, `{}`); got.code != want {
					t.Errorf("merging %s: %d %v", sub, got.code, got.body)
				}
			}
			if got := c.ask("GET", at, "", ""); got.at("kind") != r.Kind.Kind+"List" || got.at("items.0.metadata.name") != "a" || got.at("items.0.kind") != "" {
				t.Errorf("listing: %v", got.body)
			}
			if got := c.ask("DELETE", at+"/a", "", ""); got.code != ok {
				t.Errorf("deleting: %d %v", got.code, got.body)
			}
		})
	}
	unserved := []string{
		"bindings", "componentstatuses", "selfsubjectreviews", "tokenreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews",
		"selfsubjectrulesreviews", "subjectaccessreviews", "customresourcedefinitions", "apiservices",
	}
	for _, name := range known.Source().Resources() {
		if !groups[name.GroupResource()] && !slices.Contains(unserved, name.Resource) {
			t.Errorf("%s is known and not served in any version", name.GroupVersionResource)
		}
	}
}
