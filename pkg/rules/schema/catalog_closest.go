package schema

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Closest returns the known resource that was most likely meant by one that is not
// known: what is called so in the same group, else in a group with a similar name,
// else in any, and only then what is called nearly so.
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
		{anywhere, nil},
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
