package discovery

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Served says in which version a resource is served, the preferred one of its group
// if that has it, and whether its objects have namespaces. It is nil where the
// resource is not served; where the server cannot say so for certain, that is an error.
func Served(ctx context.Context, server Server, of apischema.GroupResource) (*metav1.APIResource, error) {
	groups, lists, err := server.ServerGroupsAndResourcesWithContext(ctx)
	failed, some := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !some {
		return nil, fmt.Errorf("asking which resources are served: %w", err)
	}
	var found *metav1.APIResource
	for _, list := range lists {
		gv, err := apischema.ParseGroupVersion(list.GroupVersion)
		at := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == of.Resource })
		if err != nil || gv.Group != of.Group || at < 0 {
			continue
		}
		if found == nil || prefers(groups, gv) {
			each := list.APIResources[at]
			each.Group, each.Version = gv.Group, gv.Version
			found = &each
		}
	}
	if found != nil {
		return found, nil
	}
	for gv, cause := range failed {
		if gv.Group == of.Group {
			return nil, fmt.Errorf("asking which resources of %s are served: %w", gv, cause)
		}
	}
	return nil, nil
}

func prefers(groups []*metav1.APIGroup, gv apischema.GroupVersion) bool {
	return slices.ContainsFunc(groups, func(g *metav1.APIGroup) bool {
		return g.Name == gv.Group && g.PreferredVersion.Version == gv.Version
	})
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
