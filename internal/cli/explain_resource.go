package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// serving is what an API server serves, each group in the order of its versions.
type serving struct {
	all []servedResource
	// partly are the groups of which it could not say all.
	partly map[string]error
}

// servedResource is a resource in one version.
type servedResource struct {
	schema.GroupVersionResource
	api metav1.APIResource
	// preferred says that it is the version of its group that clients take.
	preferred bool
}

// serves asks the API server what it serves.
func (c *cluster) serves(ctx context.Context) (*serving, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	groups, lists, err := clientdiscovery.ToDiscoveryInterfaceWithContext(c.discovery).ServerGroupsAndResourcesWithContext(ctx)
	failed, some := clientdiscovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !some {
		return nil, fmt.Errorf("asking the API server at %s what it serves: %w", c, err)
	}
	out := &serving{partly: map[string]error{}}
	for gv, cause := range failed {
		out.partly[gv.Group] = cause
	}
	preferred := map[string]bool{}
	for _, group := range groups {
		preferred[group.PreferredVersion.GroupVersion] = true
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue // Nothing in it can be named.
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				out.all = append(out.all, servedResource{gv.WithResource(r.Name), r, preferred[list.GroupVersion]})
			}
		}
	}
	return out, nil
}

// calls reports whether the resource is what kubectl takes a word for: its plural, its
// singular, its kind or a short name, with a group or without.
func (s servedResource) calls(word string) bool {
	name, group, _ := strings.Cut(word, ".")
	if group != "" && group != s.Group && group != strings.TrimSuffix(s.Version+"."+s.Group, ".") {
		return false
	}
	return name == s.Resource || name == s.api.SingularName || name == strings.ToLower(s.api.Kind) || slices.Contains(s.api.ShortNames, name)
}

// find has the subject be about an object of a resource. What is not served may be what the
// rule waits for.
func (s *serving) find(of *subject, word, name, namespace string) error {
	of.unserved = map[schema.GroupVersionResource]bool{}
	watched := of.rule.Watched()
	s.missing(of)
	of.object = plan.Object{Name: name}
	if found := s.resolve(word, watched); found != nil {
		of.object.GVR, of.object.Kind = found.GroupVersionResource, found.api.Kind
		if found.api.Namespaced {
			of.object.Namespace = namespace
		}
		return nil
	}
	plural, group, _ := strings.Cut(word, ".")
	for _, gvr := range watched {
		fits := group == "" || group == gvr.Group || group == gvr.Version+"."+gvr.Group
		if fits && slices.Contains([]string{gvr.Resource, strings.TrimSuffix(gvr.Resource, "s"), strings.TrimSuffix(gvr.Resource, "es")}, plural) {
			of.object.GVR, of.object.Namespace = gvr, namespace
			return nil
		}
	}
	var names []string
	for _, each := range s.all {
		names = append(names, each.Resource)
	}
	if near := document.Suggest(plural, names); near != "" {
		return fmt.Errorf("the API server has no resource %q; did you mean %s?", word, near)
	}
	return fmt.Errorf("the API server has no resource %q", word)
}

// resolve is the resource that a word means: in the version that is watched if that is
// served, otherwise in the preferred one.
func (s *serving) resolve(word string, watched []schema.GroupVersionResource) *servedResource {
	var out *servedResource
	rank := -1
	for i := range s.all {
		each := &s.all[i]
		if !each.calls(word) {
			continue
		}
		own := 0
		switch {
		case slices.Contains(watched, each.GroupVersionResource):
			own = 3
		case slices.ContainsFunc(watched, func(w schema.GroupVersionResource) bool { return w.GroupResource() == each.GroupResource() }):
			own = 2
		case each.preferred:
			own = 1
		}
		if own > rank {
			out, rank = each, own
		}
	}
	return out
}

// missing tells which resources of the rule are not served.
func (s *serving) missing(of *subject) {
	look := func(gvr schema.GroupVersionResource, what string) {
		has := func(each servedResource) bool { return each.GroupVersionResource == gvr }
		if of.unserved[gvr] || slices.ContainsFunc(s.all, has) {
			return
		}
		of.unserved[gvr] = true
		text := fmt.Sprintf("the API server does not serve %s, which the rule %s: its CRD is not installed, or does not have this version; the rule waits for it",
			plan.ResourceName(gvr), what)
		if cause := s.partly[gvr.Group]; cause != nil {
			text = fmt.Sprintf("the API server cannot say whether it serves %s, which the rule %s: %v", plan.ResourceName(gvr), what, cause)
		}
		of.obstacles = append(of.obstacles, trace.Obstacle{Kind: trace.NoResource, Text: text})
	}
	for _, gvr := range of.rule.Watched() {
		look(gvr, "watches")
	}
	for _, selection := range of.rule.Related() {
		look(selection.GVR, "reads")
	}
}
