package crd

import (
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

const definitionKind = "CustomResourceDefinition"

// Definition is a CustomResourceDefinition. It is read only.
type Definition struct {
	Group, Plural, Kind string
	Other               []string // in the singular and short names
	Namespaced          bool
	// Document is the whole of it as it was read. It is read only.
	Document map[string]any
	versions []version
}

// version is one that the API server serves.
type version struct {
	name          string
	schema        any // nil where nothing is known of the objects
	status, scale bool
	selectable    []string // not nil
}

// define returns nil for what is called like a definition and belongs to another
// group.
func define(object *document.Node) (*Definition, *document.Error) {
	number, ours := strings.CutPrefix(object.Get("apiVersion").Text(), "apiextensions.k8s.io/")
	if !ours {
		return nil, nil
	}
	if number != "v1" {
		return nil, object.Get("apiVersion").Errorf("write v1, and what it wants", "API servers do not serve %q", number)
	}
	spec := object.Get("spec")
	names, scope := spec.Get("names"), spec.Get("scope").Text()
	d := &Definition{
		Group:      spec.Get("group").Text(),
		Plural:     names.Get("plural").Text(),
		Kind:       names.Get("kind").Text(),
		Namespaced: scope == "Namespaced",
	}
	switch {
	case d.Group == "":
		return nil, object.Errorf("", "spec.group is missing")
	case d.Plural == "":
		return nil, object.Errorf("", "spec.names.plural is missing")
	case d.Kind == "":
		return nil, object.Errorf("", "spec.names.kind is missing")
	case !d.Namespaced && scope != "Cluster":
		return nil, object.Errorf("", "spec.scope is %q, want Namespaced or Cluster", scope)
	}
	for _, name := range append([]*document.Node{names.Get("singular")}, names.Get("shortNames").Elements()...) {
		if name.Text() != "" {
			d.Other = append(d.Other, name.Text())
		}
	}
	d.Document, _ = prune(object.Any()).(map[string]any)
	for _, v := range spec.Get("versions").Elements() {
		if served, _ := v.Get("served").Value().(bool); !served || v.Get("name").Text() == "" {
			continue
		}
		has := func(name string) bool { return v.Get("subresources").Get(name).Kind() == document.KindMap }
		out := version{name: v.Get("name").Text(), status: has("status"), scale: has("scale"), selectable: []string{}}
		for _, field := range v.Get("selectableFields").Elements() {
			out.selectable = append(out.selectable, strings.TrimPrefix(field.Get("jsonPath").Text(), "."))
		}
		if keeps, _ := spec.Get("preserveUnknownFields").Value().(bool); !keeps { // Objects of old definitions may have fields that no schema has.
			out.schema = prune(v.Get("schema").Get("openAPIV3Schema").Any())
		}
		d.versions = append(d.versions, out)
	}
	return d, nil
}

// prune takes out descriptions, which are most of many definitions and say nothing to us. A map of
// that name describes a field, and in a default it is part of the value.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, isText := v["description"].(string); isText {
			delete(v, "description")
		}
		for key, value := range v {
			if key != "default" {
				prune(value)
			}
		}
	case []any:
		for _, element := range v {
			prune(element)
		}
	}
	return v
}

// NewSource returns a source of these definitions. Of two of one resource the first
// counts.
func NewSource(definitions []*Definition) *schema.Index {
	s := &schema.Index{}
	defined := map[apischema.GroupResource]bool{}
	for _, d := range definitions {
		resource := apischema.GroupResource{Group: d.Group, Resource: d.Plural}
		if defined[resource] {
			continue
		}
		defined[resource] = true
		for _, v := range d.versions {
			gvr := resource.WithVersion(v.name)
			s.Add(schema.Name{GroupVersionResource: gvr, Kind: d.Kind, Other: d.Other}, func() *schema.Resource { return d.resource(gvr, v) })
		}
	}
	return s
}

func (d *Definition) resource(gvr apischema.GroupVersionResource, v version) *schema.Resource {
	t := openapi.NewReader(nil).Object(v.schema).Scoped(d.Namespaced)
	subresources := map[string]*schema.Type{}
	if v.status {
		subresources["status"] = t
	}
	if v.scale {
		subresources["scale"] = scale.Scoped(d.Namespaced)
	}
	return &schema.Resource{
		GroupVersionResource: gvr,
		Kind:                 d.Kind,
		Namespaced:           d.Namespaced,
		Verbs:                []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		Subresources:         subresources,
		SubresourcesKnown:    true,
		Selectable:           v.selectable,
		Type:                 t,
	}
}

// scale is the type of autoscaling/v1 Scale, as the API server makes it of an
// object: what is zero is left out, but for the replicas that there are.
var scale = &schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Fields: map[string]schema.Field{
	"apiVersion": {Type: &schema.Type{Kinds: value.String}, Always: true},
	"kind":       {Type: &schema.Type{Kinds: value.String}, Always: true},
	"metadata":   {Type: schema.Metadata(), Always: true},
	"spec": {Always: true, Type: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
		"replicas": {Type: &schema.Type{Kinds: value.Int, Format: "int32"}, ZeroIsAbsent: true},
	}}}},
	"status": {Always: true, Type: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
		"replicas": {Type: &schema.Type{Kinds: value.Int, Format: "int32"}, Required: true, Always: true, Default: int64(0)},
		"selector": {Type: &schema.Type{Kinds: value.String}, ZeroIsAbsent: true},
	}}}},
}}}
