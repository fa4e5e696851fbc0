package apiserver_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// TestDiscovery holds what a client finds out about a server: its resources with their short names and subresources, and what is in
// custom resources.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	server, err := apiserver.New([]*apiextensionsv1.CustomResourceDefinition{definition(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{
		Host: "http://simulated", Transport: server.Transport(storage.NewWorld(clocktesting.NewFakeClock(start))),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			if slices.Contains([]string{"configmaps", "deployments", "deployments/scale", "deployments/status", "widgets", "widgets/scale", "widgets/status"}, r.Name) {
				got[list.GroupVersion+" "+r.Name] = append([]string{r.Kind}, r.ShortNames...)
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{
		"v1 configmaps":       {"ConfigMap", "cm"},
		"apps/v1 deployments": {"Deployment", "deploy"}, "apps/v1 deployments/scale": {"Scale"}, "apps/v1 deployments/status": {"Deployment"},
		"example.com/v1 widgets": {"Widget", "wd"}, "example.com/v1 widgets/scale": {"Scale"}, "example.com/v1 widgets/status": {"Widget"},
	}, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}

	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	text, err := paths["apis/example.com/v1"].Schema("application/json")
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	kind, _, _ := unstructured.NestedString(document, "components", "schemas", "com.example.v1.Widget", "properties", "spec", "properties", "size", "type")
	if kind != "integer" {
		t.Errorf("spec.size of a Widget is of type %q in:\n%s", kind, text)
	}
}
