package openapi

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// components returns a reader of components that are written in YAML.
func components(t *testing.T, text string) *Reader {
	t.Helper()
	all, _ := decode(t, text).(map[string]any)
	return NewReader(func(name string) any { return all[name] })
}

const schemas = `
Tree:
  type: object
  properties:
    value: {type: string}
    children: {type: array, items: {$ref: "#/components/schemas/Tree"}}
    parent: {allOf: [{$ref: "#/components/schemas/Tree"}], nullable: true, description: more is said here}
    whole: {allOf: [{$ref: "#/components/schemas/Tree"}], x-kubernetes-map-type: atomic, default: {}}
Forest: {$ref: "#/components/schemas/Tree"}
Own: {$ref: "#/components/schemas/Own"}
Two: {allOf: [{$ref: "#/components/schemas/Tree"}, {$ref: "#/components/schemas/Own"}]}
Text: {type: string}
NotASchema: 7
Held:
  type: object
  properties:
    amount: {allOf: [{$ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}], default: {}}
    since: {allOf: [{$ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}], default: {}}
    port: {$ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}
    raw: {$ref: "#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension"}
    text: {allOf: [{$ref: "#/components/schemas/Text"}], default: ""}
    list: {type: array, items: {allOf: [{$ref: "#/components/schemas/Text"}], default: ""}}
`

// TestReferencesDeep holds that what is known of a component does not depend on how far
// it is from the one that is read first.
func TestReferencesDeep(t *testing.T) {
	const links = 3 * maxDepth
	link := func(i int) string { return fmt.Sprintf("C%03d", i) }
	all := map[string]any{link(links): map[string]any{"type": "string"}}
	for i := range links {
		next := map[string]any{"$ref": "#/components/schemas/" + link(i+1)}
		all[link(i)] = map[string]any{"type": "object", "properties": map[string]any{
			"next": next, "after": map[string]any{"type": "array", "items": next}, "far": map[string]any{"$ref": "#/components/schemas/" + link(links-1)},
		}}
	}
	for _, first := range []string{link(0), link(links / 2)} {
		r := NewReader(func(name string) any { return all[name] })
		if r.Component(first) == nil {
			t.Fatalf("there is no %s", first)
		}
		of := r.Component(link(0))
		for i := range links {
			next, _ := of.Field("next")
			if after, _ := of.Field("after"); after.Type.Items() != next.Type {
				t.Fatalf("%s is read twice, after %s", link(i+1), first)
			}
			of = next.Type
		}
		if of.Kinds != value.String {
			t.Errorf("in the end there is %+v, after %s", of, first)
		}
	}
}

func TestWellKnown(t *testing.T) {
	want := mapOf(schema.Map{Fields: map[string]schema.Field{
		"amount": {Type: &schema.Type{Kinds: value.Number | value.String, Format: schema.Quantity}},
		"since":  {Type: &schema.Type{Kinds: value.String, Format: schema.Time}},
		"port":   {Type: &schema.Type{Kinds: value.Int | value.String, Format: "int-or-string"}},
		"raw":    {Type: mapOf(schema.Map{Open: true})},
		"text":   {Type: of(value.String), Always: true, Default: ""},
		"list":   {Type: listOf(schema.List{Items: of(value.String)})},
	}})
	if diff := cmp.Diff(want, components(t, schemas).Component("Held"), butNames); diff != "" {
		t.Errorf("the defaults that are none of the type say nothing (-want +got)\n%s", diff)
	}
}

func TestObject(t *testing.T) {
	for text, tc := range map[string]struct {
		reason string
		fields []string
		open   bool
	}{
		`{type: object, properties: {spec: {type: object}}}`: {
			"what every object has is added", []string{"apiVersion", "kind", "metadata", "spec"}, false,
		},
		`{type: object, nullable: true, properties: {kind: {type: integer}}}`: {
			"a definition cannot say otherwise", []string{"apiVersion", "kind", "metadata"}, false,
		},
		`{x-kubernetes-preserve-unknown-fields: true}`: {"it is an object still", []string{"apiVersion", "kind", "metadata"}, true},
		`{type: string}`: {"even so", []string{"apiVersion", "kind", "metadata"}, true},
		`null`:           {"and without any schema", []string{"apiVersion", "kind", "metadata"}, true},
	} {
		got := NewReader(nil).Object(decode(t, text))
		if diff := cmp.Diff(tc.fields, got.Names()); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", tc.reason, text, diff)
		}
		if !got.Object || got.Kinds != value.Map || got.Map.Open != tc.open || got.Map.Fields["metadata"].Type != schema.Metadata() {
			t.Errorf("%s: %s is %+v", tc.reason, text, got)
		}
	}
}
