package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

// Source is what an API server said. It implements [schema.Source], is immutable
// and safe for concurrent use.
type Source struct {
	resources map[apischema.GroupVersionResource]*served
	documents map[apischema.GroupVersion]*openapi.Document
	away      map[apischema.GroupVersion]error // of which the server could not say what it serves
	made      sync.Map                         // of *schema.Resource by GroupVersionResource
}

// served is a resource, and which subresources it has.
type served struct {
	metav1.APIResource
	subresources []metav1.APIResource
}

// Resources lists what a server serves, pods/log of pods too, with group and version; what is in the version that its group
// prefers comes first. failed are the group-versions of which the server could not say what they have.
//
// It takes two requests, and one more for each group-version where the server does not aggregate discovery.
func Resources(ctx context.Context, server *Client) (all []metav1.APIResource, failed map[apischema.GroupVersion]error, err error) {
	var versions []*version
	for _, path := range []string{"/api", "/apis"} {
		here, err := server.versions(ctx, path)
		if err != nil && (path != "/api" || !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err)) {
			return nil, nil, err
		}
		versions = append(versions, here...)
	}
	var asked sync.WaitGroup
	for _, v := range versions {
		if !v.listed {
			asked.Go(func() {
				var list metav1.APIResourceList
				_, v.err = server.get(ctx, pathOf(v.GroupVersion), runtime.ContentTypeJSON, &list)
				v.resources = list.APIResources
			})
		}
	}
	asked.Wait()
	failed = map[apischema.GroupVersion]error{}
	var others []metav1.APIResource
	for _, v := range versions {
		into := &others
		if v.preferred {
			into = &all
		}
		for _, r := range v.resources {
			r.Group, r.Version = v.Group, v.Version
			*into = append(*into, r)
		}
		if v.err != nil {
			failed[v.GroupVersion] = v.err
		}
	}
	return append(all, others...), failed, ctx.Err()
}

// Served says in which version a resource is served, the preferred one of its group
// if that has it, and whether its objects have namespaces. It is nil where the
// resource is not served; where the server cannot say so for certain, that is an error.
func Served(ctx context.Context, server *Client, of apischema.GroupResource) (*metav1.APIResource, error) {
	all, failed, err := Resources(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("asking which resources are served: %w", err)
	}
	for i := range all {
		if all[i].Group == of.Group && all[i].Name == of.Resource {
			return &all[i], nil
		}
	}
	for gv, cause := range failed {
		if gv.Group == of.Group {
			return nil, fmt.Errorf("asking which resources of %s are served: %w", gv, cause)
		}
	}
	return nil, nil
}

// Defined reports whether there is a CRD of a resource. Its objects are stored even where
// none of its versions is served, or none yet.
func Defined(ctx context.Context, client rest.Interface, of apischema.GroupResource) (bool, error) {
	if of.Group == "" {
		return false, nil
	}
	err := client.Get().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", of.String()).
		SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Do(ctx).Error()
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("asking whether there is a CRD of %s: %w", of, err)
	default:
		return true, nil
	}
}

// resources asks for all resources that the server serves.
func resources(ctx context.Context, server *Client) (*Source, error) {
	s := &Source{resources: map[apischema.GroupVersionResource]*served{}, documents: map[apischema.GroupVersion]*openapi.Document{}}
	all, failed, err := Resources(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("asking for the resources of the API server: %w", err)
	}
	s.away = failed
	gvrOf := func(r metav1.APIResource, resource string) apischema.GroupVersionResource {
		return apischema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: resource}
	}
	for _, r := range all {
		if gvr := gvrOf(r, r.Name); !strings.Contains(r.Name, "/") {
			s.resources[gvr] = &served{APIResource: r}
		}
	}
	for _, r := range all {
		parent, _, found := strings.Cut(r.Name, "/")
		if of := s.resources[gvrOf(r, parent)]; found && of != nil {
			of.subresources = append(of.subresources, r)
		}
	}
	return s, nil
}

// Resource implements [schema.Source]. The types of what was not wanted are open where
// they are not Kubernetes' own. It is made once, as workers ask for it with every object
// that they write.
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
	document := cmp.Or(s.documents[gvr.GroupVersion()], builtin.Document(gvr.GroupVersion()))
	return document.Resource(found.APIResource, found.subresources)
}

// Resources implements [schema.Source].
func (s *Source) Resources() []schema.Name {
	var out []schema.Name
	for gvr, r := range s.resources {
		name := schema.Name{GroupVersionResource: gvr, Kind: r.Kind, Other: slices.Clone(r.ShortNames)}
		if r.SingularName != "" {
			name.Other = append(name.Other, r.SingularName)
		}
		out = append(out, name)
	}
	slices.SortFunc(out, schema.CompareNames)
	return out
}

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

// Ask asks for all resources, and for the types of those that are wanted. What the
// server does not serve is no error here. A wanted resource is of an open type where
// the server does not describe it. Where it fails to give a description, there is a
// source beside the error.
func Ask(ctx context.Context, server *Client, wanted []apischema.GroupVersionResource) (*Source, error) {
	said, _, err := Follow(server).Ask(ctx, wanted)
	return said, err
}

// patience is how long a description may take. One that does not come takes no time from
// the others.
const patience = 5 * time.Second

// Follower asks one server again and again. It asks little where nothing has changed:
// the index of descriptions says so, by the addresses in it. It is not for concurrent
// use.
type Follower struct {
	server *Client
	// said is what the server said last, nil before it has.
	said *Source
	// seen are the addresses of the descriptions that said is made of.
	seen addresses
	// settled says that the same addresses mean that all is as it was.
	settled  bool
	patience time.Duration
}

// addresses say where descriptions are. The address of one that changes is another.
type addresses map[apischema.GroupVersion]string

// Follow returns a follower that has asked nothing yet.
func Follow(server *Client) *Follower { return &Follower{server: server, patience: patience} }

// Ask is like [Ask], and reports whether the answer is another one than before, as the
// first one is. What an API server that is away served before it still serves, as far as
// is known.
//
// Which resources there are and what they look like the server finds out one after the
// other, so after news it is asked for both once more.
func (f *Follower) Ask(ctx context.Context, wanted []apischema.GroupVersionResource) (said *Source, news bool, err error) {
	index, err := f.index(ctx, wanted)
	if err != nil {
		return nil, false, err
	}
	if f.settled && maps.Equal(f.seen, index) {
		return f.said, false, nil
	}
	said, err = resources(ctx, f.server)
	if err != nil {
		return nil, false, err
	}
	seen := f.keep(said, wanted)
	// The index may know a resource before it is served, and what is away may come back.
	settled, missing := true, addresses{}
	for _, gvr := range wanted {
		gv := gvr.GroupVersion()
		switch one := index[gv]; {
		case said.away[gv] != nil, one != "" && said.resources[gvr] == nil:
			settled = false
		case one != "":
			missing[gv] = one
		}
	}
	err = f.fetchAll(ctx, said, seen, missing)
	news = f.said == nil || !maps.Equal(f.seen, seen) || slices.ContainsFunc(wanted, func(gvr apischema.GroupVersionResource) bool {
		return !reflect.DeepEqual(f.said.resources[gvr], said.resources[gvr])
	})
	f.said, f.seen, f.settled = said, seen, settled && err == nil && !news
	return said, news, err
}

// keep has what is away be as it was, and returns where the descriptions of that were.
func (f *Follower) keep(said *Source, wanted []apischema.GroupVersionResource) addresses {
	seen := addresses{}
	if f.said == nil {
		return seen
	}
	for _, gvr := range wanted {
		gv, before := gvr.GroupVersion(), f.said.resources[gvr]
		if before == nil || said.away[gv] == nil || said.resources[gvr] != nil {
			continue
		}
		said.resources[gvr] = before
		if document := f.said.documents[gv]; document != nil {
			said.documents[gv], seen[gv] = document, f.seen[gv]
		}
	}
	return seen
}

// index asks which descriptions there are of what is wanted. An aggregated API server
// need not describe what it serves.
func (f *Follower) index(ctx context.Context, wanted []apischema.GroupVersionResource) (addresses, error) {
	out := addresses{}
	if len(wanted) == 0 {
		return out, nil
	}
	var all struct {
		Paths map[string]struct { // such as apis/apps/v1
			Address string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if _, err := f.server.get(ctx, "/openapi/v3", runtime.ContentTypeJSON, &all); err != nil {
		return nil, fmt.Errorf("asking for the schemas of the API server: %w", err)
	}
	for _, gvr := range wanted {
		if one := all.Paths[strings.TrimPrefix(pathOf(gvr.GroupVersion()), "/")].Address; one != "" {
			out[gvr.GroupVersion()] = one
		}
	}
	return out, nil
}

// fetchAll fetches descriptions and adds where they are. It fetches all at the same time,
// since one that takes long must not keep the others from coming.
func (f *Follower) fetchAll(ctx context.Context, said *Source, seen, missing addresses) error {
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for gv, one := range missing {
		all.Go(func() {
			document, err := f.fetch(ctx, gv, one)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			said.documents[gv], seen[gv] = document, one
		})
	}
	all.Wait()
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }) // The same read alike.
	return errors.Join(errs...)
}

func (f *Follower) fetch(ctx context.Context, gv apischema.GroupVersion, from string) (*openapi.Document, error) {
	if f.said != nil && f.said.documents[gv] != nil && f.seen[gv] == from {
		return f.said.documents[gv], nil
	}
	data, err := f.server.description(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("asking for the schema of %s: %w", gv, err)
	}
	document, err := openapi.Parse(data, gv, builtin.Document(gv))
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", gv, err)
	}
	return document, nil
}
