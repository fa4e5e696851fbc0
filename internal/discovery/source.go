package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	clientopenapi "k8s.io/client-go/openapi"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

// Server is what an API server is asked. The discovery client of client-go is one.
type Server interface {
	ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	OpenAPIV3WithContext(ctx context.Context) clientopenapi.ClientWithContext
}

// Source is what an API server said. It implements [schema.Source], is immutable
// and safe for concurrent use.
type Source struct {
	resources map[apischema.GroupVersionResource]*served
	names     []schema.Name
	documents map[apischema.GroupVersion]*openapi.Document
	away      map[apischema.GroupVersion]bool // of which the server could not say what it serves
	made      sync.Map                        // of *schema.Resource by GroupVersionResource
}

// served is a resource, and which subresources it has.
type served struct {
	metav1.APIResource
	subresources []string
}

// resources asks for all resources that the server serves.
func resources(ctx context.Context, server Server) (*Source, error) {
	s := &Source{
		resources: map[apischema.GroupVersionResource]*served{},
		documents: map[apischema.GroupVersion]*openapi.Document{},
		away:      map[apischema.GroupVersion]bool{},
	}
	_, lists, err := server.ServerGroupsAndResourcesWithContext(ctx)
	failed, some := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !some {
		return nil, fmt.Errorf("asking for the resources of the API server: %w", err)
	}
	for gv := range failed {
		s.away[gv] = true
	}
	for _, list := range lists {
		if err := s.add(list); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.names, schema.CompareNames)
	return s, nil
}

// add takes in the resources of a group-version: pods, and pods/log of them.
func (s *Source) add(list *metav1.APIResourceList) error {
	gv, err := apischema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return fmt.Errorf("reading the resources of the API server: %w", err)
	}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") {
			s.resources[gv.WithResource(r.Name)] = &served{APIResource: r}
			s.names = append(s.names, name(gv.WithResource(r.Name), r))
		}
	}
	for _, r := range list.APIResources {
		parent, sub, found := strings.Cut(r.Name, "/")
		if of := s.resources[gv.WithResource(parent)]; found && of != nil {
			of.subresources = append(of.subresources, sub)
		}
	}
	return nil
}

func name(gvr apischema.GroupVersionResource, r metav1.APIResource) schema.Name {
	out := schema.Name{GroupVersionResource: gvr, Kind: r.Kind, Other: slices.Clone(r.ShortNames)}
	if r.SingularName != "" {
		out.Other = append(out.Other, r.SingularName)
	}
	return out
}

// Resource implements [schema.Source]. The types of what was not wanted are open. It
// is made once, as workers ask for it with every object that they write.
func (s *Source) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	found := s.resources[gvr]
	if found == nil {
		return nil
	}
	made, done := s.made.Load(gvr)
	if !done {
		made, _ = s.made.LoadOrStore(gvr, s.resource(gvr, found))
	}
	return made.(*schema.Resource) //nolint:forcetypeassert // Only these are stored.
}

func (s *Source) resource(gvr apischema.GroupVersionResource, found *served) *schema.Resource {
	out := &schema.Resource{GroupVersionResource: gvr, Type: schema.Open()}
	if in := s.documents[gvr.GroupVersion()]; in != nil {
		if described := in.Resource(gvr); described != nil {
			*out = *described
		}
	}
	// What discovery says is what clients go by.
	out.Kind, out.Namespaced, out.Verbs = found.Kind, found.Namespaced, found.Verbs
	out.Type = out.Type.Scoped(found.Namespaced)
	types := out.Subresources
	out.Subresources, out.SubresourcesKnown = map[string]*schema.Type{}, true
	for _, sub := range found.subresources {
		if out.Subresources[sub] = types[sub]; types[sub] == nil {
			out.Subresources[sub] = schema.Open()
		}
	}
	return out
}

// Resources implements [schema.Source].
func (s *Source) Resources() []schema.Name { return slices.Clone(s.names) }

// Whole implements [schema.Source]: the server knows all that it serves, unless a
// part of it is away.
func (s *Source) Whole(group string) bool {
	for gv := range s.away {
		if gv.Group == group {
			return false
		}
	}
	return true
}
