package apiserver_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// widget is a definition with a schema, in flow style, and a name.
func widget(name, versions string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + name + `}, spec: {
  group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: [` + versions + `]}}`
}

func version(schema string) string {
	return `{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ` + schema + `}}`
}

func TestNewRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		definition, want string
		reason           string
	}{
		"no structure": {
			definition: widget("widgets.example.com", version(`{type: object, patternProperties: {a: {type: object}}}`)),
			want:       "the CustomResourceDefinition widgets.example.com cannot be served: spec.versions[0].schema.openAPIV3Schema: ",
			reason:     "a schema that is not structural",
		},
		"another name": {
			definition: widget("gadgets.example.com", version(`{type: object}`)),
			want:       `the CustomResourceDefinition gadgets.example.com cannot be served: metadata.name: Invalid value: "gadgets.example.com": must be widgets.example.com`,
			reason:     "its objects would be of no resource",
		},
		"no storage version": {
			definition: widget("widgets.example.com", `{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}`),
			want:       "spec.versions: Invalid value: \"\": must have exactly one version marked as storage version",
			reason:     "nothing could be stored",
		},
		"no versions": {
			definition: widget("widgets.example.com", ""),
			want:       "must have exactly one version marked as storage version",
			reason:     "as well",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := apiserver.New([]*apiextensionsv1.CustomResourceDefinition{definition(t, test.definition)})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: New returned %v, want %q in it", test.reason, err, test.want)
			}
		})
	}
}

// What is wrong in a definition and only comes out with an object is told about that.
func TestLateMistakes(t *testing.T) {
	const path = "/apis/example.com/v1/namespaces/a/widgets"
	body := func(spec string) string {
		return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":` + spec + `}`
	}
	for name, test := range map[string]struct {
		schema, body string
		status       int
		want         string
	}{
		"a rule that does not compile": {
			schema: `{type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: self.none == 1}], properties: {a: {type: string}}}}}`,
			body:   body(`{}`), status: 422, want: `rule compile error`,
		},
		"a pattern that is none": {
			schema: `{type: object, properties: {spec: {type: object, properties: {a: {type: string, pattern: "("}}}}}`,
			body:   body(`{"a":"b"}`), status: 422, want: `spec.a`,
		},
		"no schema": {schema: `{}`, body: body(`{"a":1}`), status: 201, want: ``},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := apiserver.New([]*apiextensionsv1.CustomResourceDefinition{definition(t, widget("widgets.example.com", version(test.schema)))})
			if err != nil {
				t.Fatal(err)
			}
			status, got := inNew(server).send(t, call{do: "POST " + path, body: test.body})
			if text := at(got, "message"); status != test.status || !strings.Contains(text, test.want) {
				t.Errorf("%d %s, want %d and %q", status, text, test.status, test.want)
			}
		})
	}
}

func TestDefinitionRefuses(t *testing.T) {
	for name, document := range map[string]map[string]any{
		"nothing":         {},
		"another kind":    {"apiVersion": "v1", "kind": "Pod"},
		"another version": {"apiVersion": "apiextensions.k8s.io/v2", "kind": "CustomResourceDefinition"},
		"another type":    {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": "x"},
		"a list":          {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList"},
		"no JSON":         {"apiVersion": func() {}},
	} {
		if got, err := apiserver.Definition(document); err == nil {
			t.Errorf("%s: Definition returned %v, want an error", name, got)
		}
	}
}

func TestResources(t *testing.T) {
	server := gadgets(t)
	custom := schema.GroupVersion{Group: "example.com", Version: "v1"}
	for name, test := range map[string]struct {
		at   schema.GroupVersionResource
		want apiserver.Resource
		is   bool
	}{
		"a custom one":   {custom.WithResource("gadgets"), apiserver.Resource{GVR: custom.WithResource("gadgets"), Kind: custom.WithKind("Gadget"), Namespaced: true, Status: true, Scale: true}, true},
		"cluster-scoped": {custom.WithResource("sites"), apiserver.Resource{GVR: custom.WithResource("sites"), Kind: custom.WithKind("Site")}, true},
		"not served":     {at: schema.GroupVersionResource{Group: "example.com", Version: "v1alpha1", Resource: "gadgets"}},
		"built in": {
			schema.GroupVersionResource{Version: "v1", Resource: "pods"},
			apiserver.Resource{
				GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespaced: true, Status: true,
			},
			true,
		},
		"nothing": {at: custom.WithResource("things")},
	} {
		t.Run(name, func(t *testing.T) {
			if got, is := server.Of(test.at); got != test.want || is != test.is {
				t.Errorf("Of returned %v, %v, want %v, %v", got, is, test.want, test.is)
			}
			if got, is := server.OfKind(test.want.Kind); got != test.want || is != test.is {
				t.Errorf("OfKind returned %v, %v, want %v, %v", got, is, test.want, test.is)
			}
		})
	}
	if got, want := server.Preferred(schema.GroupResource{Group: "example.com", Resource: "gadgets"}), custom.WithResource("gadgets"); got != want {
		t.Errorf("Preferred returned %v, want %v", got, want)
	}
}
