package schema

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

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

// Closest returns the known resource that was most likely meant by one that is not
// known: what is called so in the same group, else in a group with a similar name,
// else in any, and only then what is called nearly so: of a group that is not one of Kubernetes, in that group or a similar one, as its
// CRD may not be there yet.
func (c *Catalog) Closest(gvr schema.GroupVersionResource) (suggestion schema.GroupVersionResource, found bool) {
	s := search{wanted: gvr, names: c.names()}
	s.similar = document.Suggest(gvr.Group, s.groups())
	for _, try := range []struct{ in, called func(Name) bool }{
		{s.sameGroup, s.sameResource},
		{s.sameGroup, s.alias},
		{s.similarGroup, s.sameResource},
		{s.similarGroup, s.alias},
		{anywhere, s.sameResource},
		{anywhere, s.alias},
		{s.sameGroup, nil},
		{s.similarGroup, nil},
		{func(Name) bool { return ownGroup(gvr.Group) }, nil},
	} {
		if best := s.best(try.in, try.called); best != nil {
			return best.GroupVersionResource, true
		}
	}
	return schema.GroupVersionResource{}, false
}

// search looks for a resource among all names.
type search struct {
	wanted  schema.GroupVersionResource
	names   []Name
	similar string // the group with the most similar name
}

// groups lists the groups that have a name. The one of the core has none, and so is
// never a misspelling of another.
func (s *search) groups() []string {
	var groups []string
	for _, name := range s.names {
		if name.Group != "" && name.Group != s.wanted.Group {
			groups = append(groups, name.Group)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

func anywhere(Name) bool { return true }

func (s *search) sameGroup(name Name) bool    { return name.Group == s.wanted.Group }
func (s *search) similarGroup(name Name) bool { return s.similar != "" && name.Group == s.similar }

func (s *search) sameResource(name Name) bool { return name.Resource == s.wanted.Resource }

// alias reports whether a kind, a singular or a short name was taken for the
// resource, or its case is wrong.
func (s *search) alias(name Name) bool {
	word := s.wanted.Resource
	return strings.EqualFold(word, name.Kind) || strings.EqualFold(word, name.Resource) ||
		slices.ContainsFunc(name.Other, func(other string) bool { return strings.EqualFold(word, other) }) ||
		shortNames[strings.ToLower(word)] == name.GroupResource()
}

// best returns the best of those that are called so, where called is nil of those
// that are called nearly so.
func (s *search) best(in, called func(Name) bool) *Name {
	if called == nil {
		called = s.nearly(in)
	}
	var best *Name
	for i := range s.names {
		name := &s.names[i]
		if in(*name) && called(*name) && (best == nil || s.compare(*name, *best) < 0) {
			best = name
		}
	}
	return best
}

// nearly finds the word that is most like the wanted one among the resources and
// kinds there.
func (s *search) nearly(in func(Name) bool) func(Name) bool {
	var words []string
	for _, name := range s.names {
		if in(name) {
			words = append(words, name.Resource, name.Kind)
		}
	}
	slices.Sort(words)
	word := document.Suggest(s.wanted.Resource, slices.Compact(words))
	return func(name Name) bool { return word != "" && (name.Resource == word || name.Kind == word) }
}

// compare puts the better suggestion first: the wanted version, groups that
// Kubernetes itself serves, the newest stable version.
func (s *search) compare(a, b Name) int {
	return cmp.Or(
		-yes(a.Version == s.wanted.Version && a.Group == s.wanted.Group, b.Version == s.wanted.Version && b.Group == s.wanted.Group),
		-yes(a.Group == "", b.Group == ""),
		-yes(ownGroup(a.Group), ownGroup(b.Group)),
		cmp.Compare(a.Group, b.Group),
		-version.CompareKubeAwareVersionStrings(a.Version, b.Version),
		compare(a.GroupVersionResource, b.GroupVersionResource),
	)
}

// yes is positive where only a holds, negative where only b does.
func yes(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// ownGroup reports whether a group belongs to Kubernetes.
func ownGroup(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// shortNames are those of built-in resources, as kubectl takes them.
var shortNames = map[string]schema.GroupResource{
	"cj":     {Group: "batch", Resource: "cronjobs"},
	"cm":     {Resource: "configmaps"},
	"crd":    {Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
	"crds":   {Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
	"cs":     {Resource: "componentstatuses"},
	"csr":    {Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
	"deploy": {Group: "apps", Resource: "deployments"},
	"ds":     {Group: "apps", Resource: "daemonsets"},
	"ep":     {Resource: "endpoints"},
	"ev":     {Group: "events.k8s.io", Resource: "events"},
	"hpa":    {Group: "autoscaling", Resource: "horizontalpodautoscalers"},
	"ing":    {Group: "networking.k8s.io", Resource: "ingresses"},
	"limits": {Resource: "limitranges"},
	"netpol": {Group: "networking.k8s.io", Resource: "networkpolicies"},
	"no":     {Resource: "nodes"},
	"ns":     {Resource: "namespaces"},
	"pc":     {Group: "scheduling.k8s.io", Resource: "priorityclasses"},
	"pdb":    {Group: "policy", Resource: "poddisruptionbudgets"},
	"po":     {Resource: "pods"},
	"pv":     {Resource: "persistentvolumes"},
	"pvc":    {Resource: "persistentvolumeclaims"},
	"quota":  {Resource: "resourcequotas"},
	"rc":     {Resource: "replicationcontrollers"},
	"rs":     {Group: "apps", Resource: "replicasets"},
	"sa":     {Resource: "serviceaccounts"},
	"sc":     {Group: "storage.k8s.io", Resource: "storageclasses"},
	"sts":    {Group: "apps", Resource: "statefulsets"},
	"svc":    {Resource: "services"},
}
