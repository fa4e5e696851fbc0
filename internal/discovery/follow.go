package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientopenapi "k8s.io/client-go/openapi"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
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

// patience is how long a description may take. One that does not come takes no time from
// the others.
const patience = 5 * time.Second

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
	settled  bool
	patience time.Duration
}

// addresses say where descriptions are. The address of one that changes is another.
type addresses map[apischema.GroupVersion]string

// Follow returns a follower that has asked nothing yet.
func Follow(server Server) *Follower { return &Follower{server: server, patience: patience} }

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
	if f.settled && maps.Equal(f.seen, located(index)) {
		return f.said, false, nil
	}
	said, err = resources(ctx, f.server)
	if err != nil {
		return nil, false, err
	}
	seen := f.keep(said, wanted)
	settled, err := f.describe(ctx, said, seen, index, wanted)
	news = f.said == nil || !maps.Equal(f.seen, seen) || !servesAlike(f.said, said, wanted)
	f.said, f.seen, f.settled = said, seen, settled && !news
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
		if before == nil || !said.away[gv] || said.resources[gvr] != nil {
			continue
		}
		said.resources[gvr] = before
		said.names = append(said.names, name(gvr, before.APIResource))
		if document := f.said.documents[gv]; document != nil {
			said.documents[gv], seen[gv] = document, f.seen[gv]
		}
	}
	slices.SortFunc(said.names, schema.CompareNames)
	return seen
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
// it has, and adds where they are. It returns whether they are all that can be had: the
// index may know a resource before it is served, and what is away may come back.
func (f *Follower) describe(
	ctx context.Context, said *Source, seen addresses, index descriptions, wanted []apischema.GroupVersionResource,
) (settled bool, err error) {
	missing := descriptions{}
	settled = true
	for _, gvr := range wanted {
		gv := gvr.GroupVersion()
		one := index[gv]
		switch {
		case said.away[gv], one != nil && said.resources[gvr] == nil:
			settled = false
		case one != nil:
			missing[gv] = one
		}
	}
	err = f.fetchAll(ctx, said, seen, missing)
	return settled && err == nil, err
}

// fetchAll fetches descriptions at the same time, since one that takes long must not keep
// the others from coming.
func (f *Follower) fetchAll(ctx context.Context, said *Source, seen addresses, missing descriptions) error {
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for gv, one := range missing {
		all.Go(func() {
			document, err := f.fetch(ctx, gv, one)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			said.documents[gv], seen[gv] = document, one.ServerRelativeURL()
		})
	}
	all.Wait()
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }) // The same read alike.
	return errors.Join(errs...)
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

// servesAlike reports whether the same of what is wanted is served, in the same way.
func servesAlike(before, after *Source, wanted []apischema.GroupVersionResource) bool {
	for _, gvr := range wanted {
		if !reflect.DeepEqual(before.resources[gvr], after.resources[gvr]) {
			return false
		}
	}
	return true
}
