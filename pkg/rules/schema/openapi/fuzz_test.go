package openapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// sound reports what no type may be: without kinds, or a map or list of which
// nothing is said.
func sound(t *testing.T, root *schema.Type) {
	t.Helper()
	seen := map[*schema.Type]bool{}
	var visit func(at *schema.Type)
	visit = func(at *schema.Type) {
		if seen[at] {
			return
		}
		seen[at] = true
		if at == nil || at.Kinds == 0 {
			t.Fatalf("a type is %+v", at)
		}
		if at.Kinds.Has(value.Map) != (at.Map != nil) && at.Kinds != value.Any {
			t.Fatalf("of %v the map is %+v", at.Kinds, at.Map)
		}
		if at.Kinds.Has(value.List) != (at.List != nil) && at.Kinds != value.Any {
			t.Fatalf("of %v the list is %+v", at.Kinds, at.List)
		}
		if at.Map != nil {
			for _, field := range at.Map.Fields {
				visit(field.Type)
			}
			if at.Map.Values != nil {
				visit(at.Map.Values)
			}
		}
		if at.List != nil {
			visit(at.List.Items)
		}
	}
	visit(root)
}

func FuzzType(f *testing.F) {
	f.Add(schemas, true)
	f.Add(`{Root: {type: array, items: {type: object, properties: {a: `+quantity+`}}}}`, false)
	f.Add(`{Root: {allOf: [{$ref: "#/components/schemas/Root"}], nullable: true}}`, true)
	f.Add(`{Root: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {properties: {name: {minLength: 1}}}}}}`, false)
	f.Fuzz(func(t *testing.T, text string, components bool) {
		var all map[string]any
		if len(text) > 10_000 || yaml.Unmarshal([]byte(text), &all) != nil {
			return
		}
		r := NewReader(nil)
		if components {
			r = NewReader(func(name string) any { return all[name] })
		}
		for name, one := range all {
			sound(t, r.Type(one))
			sound(t, r.Object(one))
			if got := r.Component(name); got != nil {
				sound(t, got)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "apps.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data, apischema.GroupVersion{Version: "v1"}, nil)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatal("what is no JSON is read")
		}
		for kind := range d.byKind {
			sound(t, d.Resource(listed("ks", kind, true), nil).Type)
		}
	})
}
