package apiserver

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver/builtin"
)

// Resource is what a server knows of a resource in one of its versions.
type Resource struct {
	GVR        schema.GroupVersionResource
	Kind       schema.GroupVersionKind
	Namespaced bool
	Status     bool // it has the subresource
}

// builtinResources lists what every server has.
func builtinResources(kinds *builtin.Kinds) []Resource {
	var out []Resource
	for _, known := range kinds.Resources() {
		out = append(out, Resource{
			GVR:        known.GroupVersionResource,
			Kind:       known.GroupVersion().WithKind(known.Kind),
			Namespaced: known.Namespaced,
			Status:     slices.Contains(known.Subresources, "status"),
		})
	}
	return out
}

// customResources lists what definitions serve.
func customResources(definitions []*apiextensionsv1.CustomResourceDefinition) []Resource {
	var out []Resource
	for _, d := range definitions {
		for _, version := range d.Spec.Versions {
			if !version.Served {
				continue
			}
			at := schema.GroupVersion{Group: d.Spec.Group, Version: version.Name}
			out = append(out, Resource{
				GVR:        at.WithResource(d.Spec.Names.Plural),
				Kind:       at.WithKind(d.Spec.Names.Kind),
				Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
				Status:     version.Subresources != nil && version.Subresources.Status != nil,
			})
		}
	}
	return out
}

// OfKind finds the resource of a kind.
func (s *Server) OfKind(kind schema.GroupVersionKind) (Resource, bool) {
	found, known := s.byKind[kind]
	return found, known
}

// Of finds a resource by its name.
func (s *Server) Of(resource schema.GroupVersionResource) (Resource, bool) {
	found, known := s.byName[resource]
	return found, known
}

// Preferred is a version of a resource in which all its objects can be read.
func (s *Server) Preferred(resource schema.GroupResource) schema.GroupVersionResource {
	return s.preferred[resource]
}
