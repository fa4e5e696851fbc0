package crd

import (
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

// Source knows the resources of definitions. It makes types when they are asked for,
// and is safe for concurrent use.
type Source struct {
	resources map[apischema.GroupVersionResource]func() *schema.Resource
	names     []schema.Name
}

// NewSource returns a source of these definitions. Of two of one resource the first
// counts.
func NewSource(definitions []*Definition) *Source {
	s := &Source{resources: map[apischema.GroupVersionResource]func() *schema.Resource{}}
	defined := map[apischema.GroupResource]bool{}
	for _, d := range definitions {
		resource := apischema.GroupResource{Group: d.Group, Resource: d.Plural}
		if defined[resource] {
			continue
		}
		defined[resource] = true
		for _, v := range d.versions {
			gvr := resource.WithVersion(v.name)
			if s.resources[gvr] != nil {
				continue
			}
			s.resources[gvr] = sync.OnceValue(func() *schema.Resource { return d.resource(gvr, v) })
			s.names = append(s.names, schema.Name{GroupVersionResource: gvr, Kind: d.Kind, Other: d.Other})
		}
	}
	slices.SortFunc(s.names, schema.CompareNames)
	return s
}

// Resource returns nil for what no definition defines.
func (s *Source) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	if resource := s.resources[gvr]; resource != nil {
		return resource()
	}
	return nil
}

// Resources lists the resources in order.
func (s *Source) Resources() []schema.Name { return slices.Clone(s.names) }

// Whole returns false: who gives some definitions of a group need not give all.
func (s *Source) Whole(string) bool { return false }

func (d *Definition) resource(gvr apischema.GroupVersionResource, v version) *schema.Resource {
	dialect := openapi.Structural
	if v.keepsUnknown {
		dialect = openapi.Keeping
	}
	t := openapi.NewReader(dialect, nil).Object(v.schema).Scoped(d.Namespaced)
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
