package cleanup

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// group is the leftovers that one list shows.
type group struct {
	gvr       schema.GroupVersionResource // as it is served now
	namespace string
	leftovers []plan.Leftover
}

// groups are in the order of the leftovers.
func groups(leftovers []plan.Leftover) []*group {
	var out []*group
	for _, l := range leftovers {
		at := slices.IndexFunc(out, func(g *group) bool { return g.gvr == l.GVR && g.namespace == l.Namespace })
		if at < 0 {
			out = append(out, &group{gvr: l.GVR, namespace: l.Namespace})
			at = len(out) - 1
		}
		out[at].leftovers = append(out[at].leftovers, l)
	}
	return out
}

// String says which objects are looked at.
func (g *group) String() string {
	if g.namespace == "" {
		return plan.ResourceName(g.gvr) + " in all namespaces"
	}
	return plan.ResourceName(g.gvr) + " in namespace " + g.namespace
}

// selection finds children by the label that all children have, also those that another
// set has taken over. Finalizers and fields may be on any object, whatever the
// selectors of the rule were.
func (g *group) selection() plan.Selection {
	selection := plan.Selection{GVR: g.gvr, Namespace: g.namespace}
	if !slices.ContainsFunc(g.leftovers, func(l plan.Leftover) bool { return l.Kind != plan.LeftChildren }) {
		selection.LabelSelector = plan.LabelSet
	}
	return selection
}

// served is a leftover on the resource as it is served now.
func (g *group) served(l plan.Leftover) plan.Leftover {
	l.GVR = g.gvr
	return l
}

// follow finds out what it means that there is no such resource: either it is served
// in another version, with the same objects, or none of them can be left.
func (g *group) follow(ctx context.Context, reader Reader, notFound error) (gone bool, err error) {
	found, served, err := reader.Served(ctx, g.gvr.GroupResource())
	switch {
	case err != nil:
		return false, fmt.Errorf("asking how %s is served: %w", g.gvr.GroupResource(), err)
	case !served, g.namespace != "" && !found.Namespaced:
		return true, nil // Rules of a namespace never wrote to what has none.
	case found.GVR == g.gvr:
		return false, fmt.Errorf("cleaning up %s: it is served, but: %w", g, notFound)
	}
	g.gvr = found.GVR
	return false, nil
}

// done are all leftovers, or none.
func (g *group) done(all bool) []plan.Leftover {
	if !all {
		return nil
	}
	return g.leftovers
}
