package crd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// butNames passes over the sorted names of fields, which are those of the fields.
var butNames = cmpopts.IgnoreFields(schema.Map{}, "Sorted")

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(t testing.TB, name string) *schema.Index {
	t.Helper()
	definitions, err := Read(name, file(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return NewSource(definitions)
}

func gvr(version, resource string) apischema.GroupVersionResource {
	return apischema.GroupVersionResource{Group: "example.com", Version: version, Resource: resource}
}

func TestResources(t *testing.T) {
	for name, want := range map[string][]schema.Name{
		"widgets.yaml": {
			{GroupVersionResource: gvr("v1", "bins"), Kind: "Bin"},
			{GroupVersionResource: gvr("v1", "widgets"), Kind: "Widget", Other: []string{"widget", "wd"}},
			{GroupVersionResource: gvr("v1beta1", "widgets"), Kind: "Widget", Other: []string{"widget", "wd"}},
		},
		"old.yaml": {
			{GroupVersionResource: gvr("v1", "severals"), Kind: "Several"},
			{GroupVersionResource: gvr("v1alpha1", "olds"), Kind: "Old"},
			{GroupVersionResource: gvr("v2", "severals"), Kind: "Several"},
		},
	} {
		if diff := cmp.Diff(want, read(t, name).Resources()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestResource(t *testing.T) {
	s := read(t, "widgets.yaml")
	got := s.Resource(gvr("v1", "widgets"))
	if got.Kind != "Widget" || !got.Namespaced || !got.SubresourcesKnown || len(got.Verbs) != 8 {
		t.Errorf("the widgets are %+v", got)
	}
	if got.Subresources["status"] != got.Type || got.Subresources["scale"] != scale || len(got.Subresources) != 2 {
		t.Errorf("the subresources are %v", got.Subresources)
	}
	if s.Resource(gvr("v1", "widgets")) != got {
		t.Error("it is made twice")
	}
	if s.Resource(gvr("v1alpha1", "widgets")) != nil || s.Resource(gvr("v1", "widget")) != nil {
		t.Error("what is not served is known")
	}
	if s.Whole("example.com") {
		t.Error("nobody said that these are all of the group")
	}
	if bin := s.Resource(gvr("v1", "bins")); bin.Namespaced || len(bin.Subresources) != 0 || !bin.Type.Map.Fields["spec"].Type.Map.Open {
		t.Errorf("the bins are %+v, want them without a namespace and open", bin)
	}
	for resource, namespaced := range map[string]bool{"bins": false, "widgets": true} {
		if _, has := s.Resource(gvr("v1", resource)).Type.Map.Fields["metadata"].Type.Field("namespace"); has != namespaced {
			t.Errorf("%s have a namespace: %t", resource, has)
		}
	}
}

func TestType(t *testing.T) {
	got := read(t, "widgets.yaml").Resource(gvr("v1", "widgets")).Type
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "spec", "status"}, got.Names()); diff != "" || !got.Object {
		t.Errorf("a widget has (-want +got)\n%s", diff)
	}
	if name := got.Map.Fields["metadata"].Type.Map.Fields["name"].Type; *name.Limit.MaxLength != 40 {
		t.Errorf("the name is limited by %+v", name.Limit)
	}
	spec := got.Map.Fields["spec"]
	extra := schema.Open()
	want := map[string]schema.Field{
		"size": {Required: true, Type: &schema.Type{Kinds: value.Int, Limit: &schema.Limits{Minimum: new(1.0)}}},
		"color": {Always: true, Default: "red", Type: &schema.Type{
			Kinds: value.String, Limit: &schema.Limits{Enum: []any{"red", "012", "yes"}},
		}},
		"description": {Type: &schema.Type{Kinds: value.String}},
		"about": {Always: true, Default: map[string]any{"description": "none"}, Type: &schema.Type{
			Kinds: value.Map, Map: &schema.Map{Values: &schema.Type{Kinds: value.String}},
		}},
		"until": {Always: true, Default: "2030-01-01T00:00:00Z", Type: &schema.Type{Kinds: value.String, Format: schema.DateTime}},
		"ratio": {Always: true, Default: int64(1000), Type: &schema.Type{Kinds: value.Number}},
		"parts": {Type: &schema.Type{Kinds: value.List, List: &schema.List{
			Kind: schema.Keyed, Keys: []string{"name"}, Unique: true,
			Items: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
				"name": {Required: true, Type: &schema.Type{Kinds: value.String}}, "extra": {Type: extra},
			}}},
		}}},
	}
	if diff := cmp.Diff(want, spec.Type.Map.Fields, butNames); diff != "" || !spec.Required {
		t.Errorf("the spec: (-want +got)\n%s", diff)
	}
	alias := read(t, "widgets.yaml").Resource(gvr("v1beta1", "widgets")).Type.Map.Fields["spec"].Type
	if diff := cmp.Diff(want, alias.Map.Fields, butNames); diff != "" {
		t.Errorf("by an alias: (-want +got)\n%s", diff)
	}
}

func TestOldDefinitions(t *testing.T) {
	s := read(t, "old.yaml")
	old := s.Resource(gvr("v1alpha1", "olds"))
	if !old.Namespaced || old.Subresources["status"] == nil || !old.Type.Map.Open {
		t.Errorf("the olds are %+v, want them in namespaces, with a status, and with unknown fields", old)
	}
	if one := s.Resource(gvr("v1", "severals")); one.Namespaced || one.Type.Map.Open || one.Type.Map.Fields["a"].Type == nil {
		t.Errorf("version v1 is %+v of %v, want what all versions have in common", one, one.Type.Names())
	}
	if two := s.Resource(gvr("v2", "severals")); two.Type.Map.Fields["b"].Type == nil || two.Subresources["scale"] == nil {
		t.Errorf("version v2 is %+v of %v, want its own schema", two, two.Type.Names())
	}
}

// TestJSON holds that the same definitions in JSON define the same.
func TestJSON(t *testing.T) {
	var objects []string
	for part := range strings.SplitSeq(string(file(t, "widgets.yaml")), "\n---\n") {
		object, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, string(object))
	}
	all := strings.Join(objects, ",\n")
	want := read(t, "widgets.yaml")
	for name, text := range map[string]string{
		"a list":          `{"kind": "List", "apiVersion": "v1", "items": [` + all + `]}`,
		"a list of these": `{"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1", "items": [` + all + `]}`,
		"a list in YAML":  "apiVersion: v1\nkind: List\nitems: [" + all + "]",
	} {
		definitions, err := Read("x.json", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := NewSource(definitions)
		if diff := cmp.Diff(want.Resources(), got.Resources()); diff != "" {
			t.Errorf("%s: (-YAML +JSON)\n%s", name, diff)
		}
		for _, resource := range want.Resources() {
			if diff := cmp.Diff(want.Resource(resource.GroupVersionResource), got.Resource(resource.GroupVersionResource)); diff != "" {
				t.Errorf("%s: %v (-YAML +JSON)\n%s", name, resource, diff)
			}
		}
	}
}

func TestFirstDefinitionCounts(t *testing.T) {
	text := string(file(t, "widgets.yaml"))
	definitions, err := Read("f.yaml", []byte(text+"---\n"+strings.ReplaceAll(text, "size", "length")))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(definitions); got != 4 {
		t.Errorf("%d definitions are read, want 4", got)
	}
	s := NewSource(definitions)
	if got := len(s.Resources()); got != 3 {
		t.Errorf("%d resources are known, want 3", got)
	}
	if spec := s.Resource(gvr("v1", "widgets")).Type.Map.Fields["spec"].Type; spec.Map.Fields["size"].Type == nil {
		t.Errorf("the second definition counts: %v", spec.Names())
	}
}
