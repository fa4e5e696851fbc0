package crd

import (
	"fmt"
	"slices"
	"strings"
	"sync"

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
	// Document is the whole of it as it was read, of any version of its API. It is read only.
	Document map[string]any
	versions []version
}

// version is one that the API server serves.
type version struct {
	name          string
	schema        any // nil where the definition has none
	keepsUnknown  bool
	status, scale bool
}

// define returns nil for what is called like a definition and belongs to another
// group.
func define(o object) (*Definition, *document.Error) {
	api := text(o.value, "apiVersion")
	number, ours := strings.CutPrefix(api, "apiextensions.k8s.io/")
	if !ours {
		return nil, nil
	}
	if number != "v1" && number != "v1beta1" {
		return nil, o.mistake("apiVersion %q is not known; v1 and v1beta1 are", api)
	}
	spec := below(o.value, "spec")
	for _, path := range [][]string{{"group"}, {"names", "plural"}, {"names", "kind"}} {
		last := len(path) - 1
		if text(below(spec, path[:last]...), path[last]) == "" {
			return nil, o.mistake("spec.%s is missing", strings.Join(path, "."))
		}
	}
	scope := text(spec, "scope")
	if scope != "Namespaced" && scope != "Cluster" && (scope != "" || number == "v1") {
		return nil, o.mistake("spec.scope is %q, want Namespaced or Cluster", scope)
	}
	names := below(spec, "names")
	return &Definition{
		Group:      text(spec, "group"),
		Plural:     text(names, "plural"),
		Kind:       text(names, "kind"),
		Other:      otherNames(names),
		Namespaced: scope != "Cluster", // v1beta1 need not say.
		Document:   o.value,
		versions:   versionsOf(spec, number == "v1beta1"),
	}, nil
}

func (o object) mistake(format string, args ...any) *document.Error {
	message := fmt.Sprintf(format, args...)
	if name := text(below(o.value, "metadata"), "name"); name != "" {
		message = name + ": " + message
	}
	return &document.Error{Line: o.line, Column: 1, Length: 1, Message: message}
}

func otherNames(names map[string]any) []string {
	var other []string
	if singular := text(names, "singular"); singular != "" {
		other = append(other, singular)
	}
	short, _ := names["shortNames"].([]any)
	for _, one := range short {
		if name, ok := one.(string); ok {
			other = append(other, name)
		}
	}
	return other
}

// versionsOf returns the versions that are served.
func versionsOf(spec map[string]any, before bool) []version {
	shared := version{}
	if before {
		shared = sharedBefore(spec)
	}
	if keeps, said := spec["preserveUnknownFields"].(bool); said {
		shared.keepsUnknown = keeps
	}
	list, _ := spec["versions"].([]any)
	var versions []version
	for _, element := range list {
		v, _ := element.(map[string]any)
		if served, _ := v["served"].(bool); served {
			versions = append(versions, shared.with(v))
		}
	}
	if before && len(list) == 0 {
		versions = append(versions, shared)
	}
	return slices.DeleteFunc(versions, func(v version) bool { return v.name == "" })
}

// sharedBefore returns what all versions of a v1beta1 definition have in common, or
// its only one. Unknown fields were kept there unless it says that they are not.
func sharedBefore(spec map[string]any) version {
	shared := version{name: text(spec, "version"), keepsUnknown: true}
	return shared.with(map[string]any{
		"name":         shared.name,
		"schema":       spec["validation"],
		"subresources": spec["subresources"],
	})
}

// with adds what one version says of itself.
func (v version) with(own map[string]any) version {
	v.name = text(own, "name")
	if schema := below(own, "schema"); schema != nil {
		v.schema = schema["openAPIV3Schema"]
	}
	if subresources := below(own, "subresources"); subresources != nil {
		v.status, v.scale = subresources["status"] != nil, subresources["scale"] != nil
	}
	return v
}

// below returns the map below some keys, nil where there is none.
func below(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

func text(m map[string]any, key string) string {
	text, _ := m[key].(string)
	return text
}

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
