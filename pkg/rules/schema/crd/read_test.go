package crd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

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
	if bin := s.Resource(gvr("v1", "bins")); bin.Namespaced || len(bin.Subresources) != 0 || !bin.Type.Map.Open {
		t.Errorf("the bins are %+v, want them without a namespace, and with fields that no schema has", bin)
	}
	for resource, namespaced := range map[string]bool{"bins": false, "widgets": true} {
		if _, has := s.Resource(gvr("v1", resource)).Type.Map.Fields["metadata"].Type.Field("namespace"); has != namespaced {
			t.Errorf("%s have a namespace: %t", resource, has)
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
