package openapi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	d, err := Parse(data, apischema.GroupVersion{Group: "apps", Version: "v1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// listed is a resource as discovery lists it.
func listed(name, kind string, namespaced bool) metav1.APIResource {
	return metav1.APIResource{Group: "apps", Version: "v1", Name: name, Kind: kind, Namespaced: namespaced, Verbs: []string{"get", "list"}}
}

func TestResource(t *testing.T) {
	d := apps(t)
	deployments := []metav1.APIResource{listed("deployments/scale", "Scale", true), listed("deployments/status", "Deployment", true), listed("deployments/exec", "ExecOptions", true)}
	got := d.Resource(listed("deployments", "Deployment", true), deployments)
	want := &schema.Resource{
		GroupVersionResource: apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		Kind:                 "Deployment",
		Namespaced:           true,
		Verbs:                []string{"get", "list"},
		Subresources:         map[string]*schema.Type{"scale": d.reader.Component("Scale"), "status": got.Type, "exec": schema.Open()},
		SubresourcesKnown:    true,
		Type:                 d.reader.Component("Deployment"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Subresources["status"] != got.Type {
		t.Error("the status is written with another type than the object")
	}
	if machine := d.Resource(listed("machines", "Machine", false), nil); machine.Namespaced || machine.Type.Map.Fields["online"].Type.Kinds != value.Bool {
		t.Errorf("the machine is %+v of type %+v", machine, machine.Type)
	}
	for name, d := range map[string]*Document{"several kinds": d, "no document": nil} {
		if got := d.Resource(listed("options", "DeleteOptions", true), deployments); got.Type != schema.Open() || got.Kind != "DeleteOptions" {
			t.Errorf("%s: options are %+v", name, got)
		}
	}
}

// TestScopes holds that only what is in a namespace has one in its metadata.
func TestScopes(t *testing.T) {
	d, err := Parse([]byte(`{"components": {"schemas": {"K": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "K"}],
		"properties": {"metadata": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}}}}}`), apischema.GroupVersion{Version: "v1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for namespaced, want := range map[bool]*schema.Type{true: schema.Metadata(), false: schema.ClusterMetadata()} {
		if got := d.Resource(listed("ks", "K", namespaced), nil).Type.Map.Fields["metadata"].Type; got != want {
			t.Errorf("in a namespace %t: the metadata are %+v", namespaced, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, data := range map[string]string{"nothing": "", "YAML": "components: {}", "another shape": `{"components": []}`} {
		if _, err := Parse([]byte(data), apischema.GroupVersion{}, nil); err == nil || !strings.HasPrefix(err.Error(), "reading an OpenAPI document: ") {
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
			d.Resource(listed("deployments", "Deployment", true), []metav1.APIResource{listed("deployments/scale", "Scale", true)})
		})
	}
	wait.Wait()
}

// TestParseKnown holds that a document adds the fields and values that a newer server has to what is known, and says nothing else.
func TestParseKnown(t *testing.T) {
	of := apischema.GroupVersion{Version: "v1"}
	parsed := func(schemas string, known *Document) *Document {
		d, err := Parse([]byte(`{"components": {"schemas": {`+schemas+`}}}`), of, known)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const kind = `"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "K"}], "type": "object", `
	known := parsed(`"K": {`+kind+`"x-dyncontroller-always": ["a"], "properties": {
		"a": {"type": "integer", "default": 1}, "old": {"type": "boolean"}, "mode": {"type": "string", "enum": ["Fast", "Slow"]},
		"list": {"type": "array", "items": {"$ref": "#/components/schemas/E"}},
		"map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}}}}}},
		"E": {"type": "object", "properties": {"x": {"type": "string"}, "self": {"$ref": "#/components/schemas/E"}}}`, nil)
	served := parsed(`"K": {`+kind+`"required": ["a"], "properties": {
		"a": {"type": "integer", "default": {}}, "new": {"$ref": "#/components/schemas/N"}, "mode": {"type": "string", "enum": ["Slow", "Auto"]},
		"list": {"type": "array", "items": {"$ref": "#/components/schemas/E"}},
		"map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"y": {"type": "string"}}}}}},
		"E": {"type": "object", "properties": {"y": {"type": "string"}, "self": {"$ref": "#/components/schemas/E"}}},
		"N": {"type": "object", "properties": {"deep": {"type": "string"}}}`, known)
	got := served.Resource(listed("ks", "K", true), nil).Type
	if f, _ := got.Field("a"); !f.Always || f.Default != int64(1) || f.Required {
		t.Errorf("a is %+v", f)
	}
	for path, want := range map[string]string{"old": "", "new": "deep", "list": "self x y", "map": "x y"} {
		f, possible := got.Field(path)
		below := f.Type
		switch path {
		case "list":
			below = below.Items()
		case "map":
			f, _ = below.Field("any")
			below = f.Type
		}
		if have := strings.Join(below.Names(), " "); !possible || have != want {
			t.Errorf("below %s there are %q, want %q", path, have, want)
		}
	}
	if mode, _ := got.Field("mode"); !slices.Equal(mode.Type.Limit.Enum, []any{"Fast", "Slow", "Auto"}) {
		t.Errorf("modes are %v", mode.Type.Limit.Enum)
	}
	if alone := parsed(``, known).Resource(listed("ks", "K", true), nil).Type; len(alone.Names()) == 0 {
		t.Error("what is not served is not known")
	}
	if before := known.Resource(listed("ks", "K", true), nil).Type; slices.Contains(before.Names(), "new") {
		t.Error("what was known has changed")
	}
}
