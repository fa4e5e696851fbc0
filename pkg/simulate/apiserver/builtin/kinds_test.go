package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	schemas "github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver/builtin"
)

// collection is the path of all objects of a resource, in a namespace if it has those.
func collection(r builtin.Resource) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	if r.Namespaced {
		path += "/namespaces/n"
	}
	return path + "/" + r.Resource
}

// body is a minimal object of a resource.
func body(r builtin.Resource) string {
	more := ""
	if r.Group == "events.k8s.io" {
		more = `,"eventTime":"2026-01-01T00:00:00.000000Z","action":"a","reason":"r","type":"Normal",
			"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"n"}`
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}%s}`, r.GroupVersion().String(), r.Kind, more)
}

// TestEveryKind goes through the life of an object of each kind: so the table names kinds
// and fields that are there.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, r := range c.kinds.Resources() {
		t.Run(r.String(), func(t *testing.T) {
			at := collection(r)
			if got := c.ask("POST", at, asJSON, body(r)); got.code != http.StatusCreated || got.at("kind") != r.Kind {
				t.Fatalf("creating: %d %v", got.code, got.body)
			}
			label := `{"metadata":{"labels":{"a":"b"}}}`
			if got := c.ask("PATCH", at+"/a", asMerge, label); got.code != http.StatusOK || got.at("metadata.labels.a") != "b" {
				t.Errorf("merging: %d %v", got.code, got.body)
			}
			if got := c.ask("PATCH", at+"/a?fieldManager=f&force=true", asApply, body(r)); got.code != http.StatusOK {
				t.Errorf("applying: %d %v", got.code, got.body)
			}
			for _, sub := range r.Subresources {
				if got := c.ask("PATCH", at+"/a/"+sub, asMerge, `{}`); got.code != http.StatusOK {
					t.Errorf("merging %s: %d %v", sub, got.code, got.body)
				}
			}
			if got := c.ask("GET", at, "", ""); got.at("kind") != r.Kind+"List" || got.at("items.0.metadata.name") != "a" || got.at("items.0.kind") != "" {
				t.Errorf("listing: %v", got.body)
			}
			if got := c.ask("GET", at+"/a/nothing", "", ""); got.code != http.StatusNotFound || got.at("message") != "the server could not find the requested resource" {
				t.Errorf("a subresource that nobody has: %d %v", got.code, got.body)
			}
			if got := c.ask("DELETE", at+"/a", "", ""); got.code != http.StatusOK {
				t.Errorf("deleting: %d %v", got.code, got.body)
			}
		})
	}
}

// TestKnown holds the table against what is known of the built-in kinds.
func TestKnown(t *testing.T) {
	t.Parallel()
	kinds, err := builtin.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	groups := map[apischema.GroupResource]bool{}
	for _, r := range kinds.Resources() {
		groups[r.GroupResource()] = true
		known := schemas.Source().Resource(r.GroupVersionResource)
		if known == nil {
			if r.Group != "coordination.k8s.io" {
				t.Errorf("%s is not known", r)
			}
			continue
		}
		if known.Kind != r.Kind || known.Namespaced != r.Namespaced {
			t.Errorf("%s is of kind %s, in a namespace: %t; known is %s, %t", r, r.Kind, r.Namespaced, known.Kind, known.Namespaced)
		}
		for _, sub := range []string{"status", "scale"} {
			if _, has := known.Subresources[sub]; has != slices.Contains(r.Subresources, sub) {
				t.Errorf("%s: whether there is a subresource %s: %t is known", r, sub, has)
			}
		}
		if found, is := kinds.Kind(r.GroupVersion().WithKind(r.Kind)); !is || found.Resource != r.Resource {
			t.Errorf("%s is not found by its kind", r)
		}
	}
	unserved := []string{
		"bindings", "componentstatuses", "selfsubjectreviews", "tokenreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews",
		"selfsubjectrulesreviews", "subjectaccessreviews", "customresourcedefinitions", "apiservices",
	}
	for _, name := range schemas.Source().Resources() {
		if !groups[name.GroupResource()] && !slices.Contains(unserved, name.Resource) {
			t.Errorf("%s is known and not served in any version", name.GroupVersionResource)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	kinds, err := builtin.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, served := kinds.Resource(apischema.GroupVersionResource{Group: "autoscaling", Version: "v1", Resource: "horizontalpodautoscalers"}); served {
		t.Error("of the versions of a kind one is served")
	}
	got, served := kinds.Resource(apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	if !served || got.Kind != "Deployment" || !got.Namespaced || strings.Join(got.Subresources, " ") != "scale status" {
		t.Errorf("got %+v", got)
	}
	if _, served := kinds.Kind(apischema.GroupVersionKind{Version: "v1", Kind: "Nothing"}); served {
		t.Error("there is no such kind")
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	const missing, not = http.StatusNotFound, http.StatusMethodNotAllowed
	newCluster(t).run("", []step{
		{"GET /api/v1/namespaces/n/nothings", "", "", missing, map[string]string{"reason": "NotFound", "details.causes": ""}, "no such resource"},
		{"GET /apis/apps/v1/namespaces/n/nothings/a", "", "", missing, nil, "nor here"},
		{"GET /api", "", "", missing, nil, "about no resource"},
		{"GET /api/v1/configmaps/a", "", "", missing, nil, "a namespace is missing"},
		{"GET /api/v1/configmaps", "", "", http.StatusOK, nil, "those of all namespaces"},
		{"GET /api/v1/namespaces/n/nodes/a", "", "", missing, nil, "nodes are in no namespace"},
		{"POST /api/v1/configmaps", asJSON, `{}`, not, map[string]string{"reason": "MethodNotAllowed"}, "a namespace is missing"},
		{"PUT /api/v1/namespaces/n/configmaps", asJSON, `{}`, not, nil, "a name is missing"},
		{"POST /api/v1/namespaces/n/configmaps/a", asJSON, `{}`, not, nil, "one too many"},
		{"DELETE /api/v1/namespaces", "", "", not, nil, "namespaces do not go together"},
		{"DELETE /api/v1/namespaces/n/pods/a/status", "", "", not, nil, "a status cannot go"},
	})
}

// refusing lets nothing be made or changed.
type refusing struct{ seen []string }

func (*refusing) Handles(admission.Operation) bool { return true }

func (r *refusing) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	r.seen = append(r.seen, fmt.Sprintf("%s %s %s/%s", a.GetOperation(), a.GetResource().Resource, a.GetNamespace(), a.GetName()))
	return admission.NewForbidden(a, errors.New("not today"))
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	refuse := &refusing{}
	c := admitting(t, refuse)
	c.run(configMaps, []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"}}`, http.StatusForbidden, map[string]string{"reason": "Forbidden"}, "refused"},
		{"PATCH /a?fieldManager=f", asApply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, http.StatusForbidden, nil, "applying creates"},
		{"GET /a", "", "", http.StatusNotFound, nil, "it is not there"},
	})
	if got := strings.Join(refuse.seen, ", "); got != "CREATE configmaps n/a, CREATE configmaps n/a" {
		t.Errorf("got %s", got)
	}
}

// TestWorlds asks for many worlds at once: they have nothing in common.
func TestWorlds(t *testing.T) {
	t.Parallel()
	first := newCluster(t)
	var all sync.WaitGroup
	answers := make([]string, 4)
	for i := range answers {
		all.Go(func() {
			c := newCluster(t)
			c.kinds = first.kinds
			for _, at := range []string{configMaps, deployments, pods} {
				got := c.ask("POST", at, asJSON, `{"metadata":{"generateName":"g-"}}`)
				answers[i] += fmt.Sprintln(got.code, got.body)
			}
		})
	}
	all.Wait()
	for _, a := range answers {
		if a != answers[0] || !strings.Contains(a, "201") {
			t.Errorf("got %s and %s", a, answers[0])
		}
	}
}
