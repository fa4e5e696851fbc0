package schema

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
	meant := search{wanted: gvr, names: c.names()}
	return gvr.Group == notAGroup || slices.ContainsFunc(meant.names, func(name Name) bool {
		return meant.sameGroup(name) && (meant.sameResource(name) || meant.alias(name))
	})
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

func compare(a, b schema.GroupVersionResource) int {
	return cmp.Or(
		cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.Resource, b.Resource),
	)
}
