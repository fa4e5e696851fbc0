package schema

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Catalog asks several sources, the first first. A nil Catalog knows nothing. It
// is immutable and safe for concurrent use.
type Catalog struct {
	sources []Source
	grows   bool
}

// NewCatalog returns a catalog of these sources.
func NewCatalog(sources ...Source) *Catalog { return &Catalog{sources: sources} }

// Growing returns a catalog of the same sources, in which no resource is missing for
// certain: what a cluster does not serve today it may serve tomorrow.
func (c *Catalog) Growing() *Catalog { return &Catalog{sources: c.sources, grows: true} }

// Resource returns what is known of a resource, nil where nothing is.
func (c *Catalog) Resource(gvr schema.GroupVersionResource) *Resource {
	if c == nil {
		return nil
	}
	for _, source := range c.sources {
		if found := source.Resource(gvr); found != nil {
			return found
		}
	}
	return nil
}

// notAGroup is what many take for the name of the group that has none.
const notAGroup = "core"

// Missing reports whether a resource certainly does not exist: a source knows all
// of its group, or knows the resource in other versions only, or by this name as a
// singular, a short name or a kind.
func (c *Catalog) Missing(gvr schema.GroupVersionResource) bool {
	if c == nil || c.grows || c.Resource(gvr) != nil {
		return false
	}
	for _, source := range c.sources {
		if source.Whole(gvr.Group) {
			return true
		}
	}
	return gvr.Group == notAGroup || slices.ContainsFunc(c.names(), func(name Name) bool {
		return name.Group == gvr.Group && (name.Resource == gvr.Resource || name.alias(gvr.Resource))
	})
}

// Unserved reports whether a source that knows all of the group does not have a resource, also in a catalog that grows.
func (c *Catalog) Unserved(gvr schema.GroupVersionResource) bool {
	return c != nil && c.Resource(gvr) == nil && slices.ContainsFunc(c.sources, func(s Source) bool { return s.Whole(gvr.Group) })
}

// HasVersion reports whether a resource is known in any version.
func (c *Catalog) HasVersion(of schema.GroupResource) bool {
	return slices.ContainsFunc(c.names(), func(name Name) bool { return name.GroupResource() == of })
}

// names lists what the sources know, one that several of them know several times.
func (c *Catalog) names() []Name {
	if c == nil {
		return nil
	}
	var names []Name
	for _, source := range c.sources {
		names = append(names, source.Resources()...)
	}
	return names
}

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
	// Selectable are the fields of a custom resource by which a field selector can select beside its name and namespace, nil where that
	// is not known.
	Selectable []string
	Type       *Type
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
func CompareNames(a, b Name) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
}

// Index is a [Source] that makes each resource once, when it is asked for. It is complete before anybody asks.
type Index struct {
	makers map[schema.GroupVersionResource]func() *Resource
	names  []Name
}

// Add adds a resource. Of two of one name the first counts.
func (x *Index) Add(name Name, maker func() *Resource) {
	if x.makers == nil {
		x.makers = map[schema.GroupVersionResource]func() *Resource{}
	}
	if x.makers[name.GroupVersionResource] == nil {
		x.makers[name.GroupVersionResource] = sync.OnceValue(maker)
		x.names = append(x.names, name)
	}
}

// Resource implements [Source].
func (x *Index) Resource(gvr schema.GroupVersionResource) *Resource {
	if maker := x.makers[gvr]; maker != nil {
		return maker()
	}
	return nil
}

// Resources implements [Source].
func (x *Index) Resources() []Name { return slices.SortedFunc(slices.Values(x.names), CompareNames) }

// Whole implements [Source]: a group may have more resources than are known.
func (x *Index) Whole(string) bool { return false }

// alias reports whether a word is a kind, a singular or a short name of the resource, or its name in another case.
func (n Name) alias(word string) bool {
	return slices.ContainsFunc(append([]string{n.Kind, n.Resource}, n.Other...), func(other string) bool { return strings.EqualFold(word, other) })
}

// Closest returns the known resource that was most likely meant by one that is not known: what is called so in the same group,
// else in a group with a similar name, else in any, and only then what is called nearly so. For a group that is not one of
// Kubernetes the latter is in that group or a similar one, as its CRD may not be there yet.
func (c *Catalog) Closest(gvr schema.GroupVersionResource) (suggestion schema.GroupVersionResource, found bool) {
	var groups []string // That of the core has no name, and so is never a misspelling of another.
	for _, name := range c.names() {
		if name.Group != "" && name.Group != gvr.Group {
			groups = append(groups, name.Group)
		}
	}
	slices.Sort(groups)
	similar := document.Suggest(gvr.Group, slices.Compact(groups))
	in := []func(Name) bool{
		func(n Name) bool { return n.Group == gvr.Group },
		func(n Name) bool { return similar != "" && n.Group == similar },
		func(Name) bool { return true },
	}
	for _, nearly := range []bool{false, true} {
		for i, within := range in {
			if nearly && i == len(in)-1 && plan.Custom(gvr.Group) {
				break
			}
			names := slices.DeleteFunc(c.names(), func(n Name) bool { return !within(n) })
			word := gvr.Resource
			if nearly {
				var words []string
				for _, name := range names {
					words = append(words, name.Resource, name.Kind)
				}
				slices.Sort(words)
				word = document.Suggest(word, slices.Compact(words))
			}
			names = slices.DeleteFunc(names, func(n Name) bool { return word == "" || !n.alias(word) })
			if len(names) > 0 {
				return slices.MinFunc(names, better(gvr)).GroupVersionResource, true
			}
		}
	}
	return schema.GroupVersionResource{}, false
}

// better puts the better suggestion first: the wanted version, groups that
// Kubernetes itself serves, the newest stable version.
func better(wanted schema.GroupVersionResource) func(a, b Name) int {
	last := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	return func(a, b Name) int {
		return cmp.Or(
			cmp.Compare(last(a.GroupVersion() == wanted.GroupVersion()), last(b.GroupVersion() == wanted.GroupVersion())),
			cmp.Compare(last(a.Group == ""), last(b.Group == "")),
			cmp.Compare(last(!plan.Custom(a.Group)), last(!plan.Custom(b.Group))),
			cmp.Compare(a.Group, b.Group),
			-version.CompareKubeAwareVersionStrings(a.Version, b.Version),
			CompareNames(a, b),
		)
	}
}
