package editor_test

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// widget is a resource with a field of every kind.
func widget() *resources.Resource {
	size := func() *resources.Type {
		return fields(map[string]*resources.Type{"cpu": {Kinds: value.String | value.Number, Format: resources.Quantity}, "replicas": number()})
	}
	tree := fields(map[string]*resources.Type{"name": text()})
	tree.Map.Fields["children"] = resources.Field{Type: list(tree)}
	spec := fields(map[string]*resources.Type{
		"text":     text(),
		"number":   number(),
		"share":    {Kinds: value.Float, Limit: &resources.Limits{Minimum: new(0.0), Maximum: new(1.0), ExclusiveMaximum: true}},
		"flag":     {Kinds: value.Bool},
		"either":   {Kinds: value.Int | value.String},
		"choice":   {Kinds: value.String, Limit: &resources.Limits{Enum: []any{"A", "B"}}},
		"code":     {Kinds: value.String, Limit: &resources.Limits{Pattern: "^[a-z]+$"}},
		"list":     list(text()),
		"map":      {Kinds: value.Map, Map: &resources.Map{Values: number()}},
		"open":     {Kinds: value.Map, Map: &resources.Map{Open: true}},
		"anything": resources.Open(),
		"first":    size(),
		"second":   size(),
		"parts":    list(size()),
		"tree":     tree,
	})
	spec.Map.Fields["text"] = resources.Field{Type: text(), Required: true}
	object := fields(map[string]*resources.Type{
		"apiVersion": text(), "kind": text(), "metadata": resources.Open(), "spec": spec, "status": fields(map[string]*resources.Type{"phase": text()}),
	})
	object.Object = true
	scale := fields(map[string]*resources.Type{
		"apiVersion": text(), "kind": text(), "metadata": resources.Open(), "spec": fields(map[string]*resources.Type{"replicas": number()}),
	})
	return &resources.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind:                 "Widget", Namespaced: true, Type: object,
		Subresources: map[string]*resources.Type{"status": object, "scale": scale}, SubresourcesKnown: true,
	}
}

func text() *resources.Type   { return &resources.Type{Kinds: value.String} }
func number() *resources.Type { return &resources.Type{Kinds: value.Int} }

func list(items *resources.Type) *resources.Type {
	return &resources.Type{Kinds: value.List, List: &resources.List{Items: items}}
}

func fields(types map[string]*resources.Type) *resources.Type {
	out := map[string]resources.Field{}
	for name, t := range types {
		out[name] = resources.Field{Type: t}
	}
	return &resources.Type{Kinds: value.Map, Map: &resources.Map{Fields: out}}
}

// widgets binds a name to widgets.
func widgets(name string, related ...string) editor.Binding {
	return editor.Binding{Name: name, Resource: widget(), Related: append(related, name)}
}
