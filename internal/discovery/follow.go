package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientopenapi "k8s.io/client-go/openapi"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

// Ask asks for all resources, and for the types of those that are wanted. What the
// server does not serve is no error here. A wanted resource is of an open type where
// the server does not describe it. Where it fails to give a description, there is a
// source beside the error.
func Ask(ctx context.Context, server Server, wanted []apischema.GroupVersionResource) (*Source, error) {
	said, _, err := Follow(server).Ask(ctx, wanted)
	return said, err
}

// Follower asks one server again and again. It asks little where nothing has changed:
// the index of descriptions says so, by the addresses in it. It is not for concurrent
// use.
type Follower struct {
	server Server
	// said is what the server said last, nil before it has.
	said *Source
	// seen are the addresses of the descriptions that said is made of.
	seen addresses
	// settled says that the same addresses mean that all is as it was.
	settled bool
}

// addresses say where descriptions are. The address of one that changes is another.
type addresses map[apischema.GroupVersion]string

// Follow returns a follower that has asked nothing yet.
func Follow(server Server) *Follower { return &Follower{server: server} }

// Ask is like [Ask], and reports whether the answer is another one than before, as the
// first one is.
func (f *Follower) Ask(ctx context.Context, wanted []apischema.GroupVersionResource) (said *Source, news bool, err error) {
	index, err := f.index(ctx, wanted)
	if err != nil {
		return nil, false, err
	}
	if f.settled && maps.Equal(f.seen, located(index)) {
		return f.said, false, nil
	}
	said, err = resources(ctx, f.server)
	if err != nil {
		return nil, false, err
	}
	seen, settled, err := f.describe(ctx, said, index, wanted)
	news = f.said == nil || !maps.Equal(f.seen, seen) || !servesAlike(f.said, said, wanted)
	f.said, f.seen, f.settled = said, seen, settled
	return said, news, err
}

// descriptions are what can be fetched, by group and version.
type descriptions map[apischema.GroupVersion]clientopenapi.GroupVersionWithContext

func located(all descriptions) addresses {
	out := addresses{}
	for gv, one := range all {
		out[gv] = one.ServerRelativeURL()
	}
	return out
}

// index asks which descriptions there are of what is wanted. An aggregated API server
// need not describe what it serves.
func (f *Follower) index(ctx context.Context, wanted []apischema.GroupVersionResource) (descriptions, error) {
	out := descriptions{}
	if len(wanted) == 0 {
		return out, nil
	}
	all, err := f.server.OpenAPIV3WithContext(ctx).PathsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the schemas of the API server: %w", err)
	}
	for _, gvr := range wanted {
		if one := all[pathOf(gvr.GroupVersion())]; one != nil {
			out[gvr.GroupVersion()] = one
		}
	}
	return out, nil
}

// pathOf is what the index of descriptions calls a group-version.
func pathOf(gv apischema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

// describe fetches the descriptions of what is wanted and served, but for those that
// it has. It returns where they are, and whether they are all that can be had: the
// index may know a resource before it is served.
func (f *Follower) describe(
	ctx context.Context, said *Source, index descriptions, wanted []apischema.GroupVersionResource,
) (seen addresses, settled bool, err error) {
	seen, settled = addresses{}, true
	var errs []error
	for _, gvr := range wanted {
		gv := gvr.GroupVersion()
		one := index[gv]
		switch {
		case one == nil || said.documents[gv] != nil:
			continue
		case said.resources[gvr] == nil:
			settled = false
			continue
		}
		document, err := f.fetch(ctx, gv, one)
		if err != nil {
			errs, settled = append(errs, err), false
			continue
		}
		said.documents[gv], seen[gv] = document, one.ServerRelativeURL()
	}
	return seen, settled, errors.Join(errs...)
}

func (f *Follower) fetch(ctx context.Context, gv apischema.GroupVersion, from clientopenapi.GroupVersionWithContext) (*openapi.Document, error) {
	if f.said != nil && f.said.documents[gv] != nil && f.seen[gv] == from.ServerRelativeURL() {
		return f.said.documents[gv], nil
	}
	data, err := from.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return nil, fmt.Errorf("asking for the schema of %s: %w", gv, err)
	}
	document, err := openapi.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", gv, err)
	}
	return document, nil
}

// servesAlike reports whether the same of what is wanted is served.
func servesAlike(before, after *Source, wanted []apischema.GroupVersionResource) bool {
	for _, gvr := range wanted {
		if (before.resources[gvr] == nil) != (after.resources[gvr] == nil) {
			return false
		}
	}
	return true
}
