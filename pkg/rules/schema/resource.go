package schema

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a kind of objects as the API server serves it. It is read only.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
	// Verbs are what can be done with it, nil where that is not known.
	Verbs []string
	// Subresources are the types of their bodies by name, such as status and scale.
	Subresources map[string]*Type
	// SubresourcesKnown says that it has no others.
	SubresourcesKnown bool
	Type              *Type
}

// Custom reports whether a group is surely none of Kubernetes itself.
func Custom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// Name is what a resource is called.
type Name struct {
	schema.GroupVersionResource
	Kind string
	// Other are more names that kubectl takes, in the singular and short ones.
	Other []string
}

// Source knows resources, and of each that it knows all versions. Implementations
// are safe for concurrent use.
type Source interface {
	// Resource returns nil where it does not know the resource.
	Resource(gvr schema.GroupVersionResource) *Resource
	// Resources lists what it knows in order, without making types.
	Resources() []Name
	// Whole reports whether it knows all resources of a group there can be: then one
	// that it lacks does not exist.
	Whole(group string) bool
}

// CompareNames orders names by group, version and resource.
func CompareNames(a, b Name) int { return compare(a.GroupVersionResource, b.GroupVersionResource) }
