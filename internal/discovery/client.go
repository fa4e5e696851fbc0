package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/client"
)

const (
	// timeout bounds one request of a configuration that has no bound, and burst is how many may be sent at once where it
	// does not say, both as of the discovery client of client-go.
	timeout = 32 * time.Second
	burst   = 300
	// acceptAggregated asks for all groups and resources in one document, which reads the same in both versions, or else for the groups.
	acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	aggregatedKind = "as=APIGroupDiscoveryList"
)

// Client asks an API server what it serves. It is safe for concurrent use.
type Client struct{ rest rest.Interface }

// NewClient returns a client that asks with the rights of the configuration. It sends no request yet.
func NewClient(config *rest.Config) (*Client, error) {
	own := rest.CopyConfig(config)
	own.Timeout, own.Burst = cmp.Or(own.Timeout, timeout), cmp.Or(own.Burst, burst)
	made, err := client.For(own, metav1.SchemeGroupVersion)
	if err != nil {
		return nil, fmt.Errorf("making a client for discovery: %w", err)
	}
	return &Client{made}, nil
}

// RESTClient returns the client by which the API server is asked.
func (c *Client) RESTClient() rest.Interface { return c.rest }

// get decodes the answer to a request, and tells its content type.
func (c *Client) get(ctx context.Context, path, accept string, into any) (contentType string, err error) {
	answer := c.rest.Get().AbsPath(path).SetHeader("Accept", accept).Do(ctx).ContentType(&contentType)
	if err := answer.Error(); err != nil {
		return "", err //nolint:wrapcheck // The callers say what was asked for.
	}
	data, _ := answer.Raw()
	if err := json.Unmarshal(data, into); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return contentType, nil
}

// groupsOf are the groups below /api or /apis. Where the server aggregates discovery, lists has what is in them, and failed
// the group-versions whose own server is away.
func (c *Client) groupsOf(ctx context.Context, path string) (groups []metav1.APIGroup, lists map[string]*metav1.APIResourceList,
	failed map[apischema.GroupVersion]error, err error,
) {
	var answer struct {
		Versions []string                           `json:"versions"` // of /api
		Groups   []metav1.APIGroup                  `json:"groups"`   // of /apis
		Items    []apidiscoveryv2.APIGroupDiscovery `json:"items"`
	}
	contentType, err := c.get(ctx, path, acceptAggregated, &answer)
	if err != nil {
		return nil, nil, nil, err
	}
	if !strings.Contains(contentType, aggregatedKind) {
		groups = answer.Groups
		if len(answer.Versions) > 0 {
			groups = append(groups, groupOf("", answer.Versions))
		}
		return groups, nil, nil, nil
	}
	lists, failed = map[string]*metav1.APIResourceList{}, map[apischema.GroupVersion]error{}
	for _, group := range answer.Items {
		var versions []string
		for _, version := range group.Versions {
			gv := apischema.GroupVersion{Group: group.Name, Version: version.Version}
			if version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				failed[gv] = fmt.Errorf("stale GroupVersion discovery: %v", gv)
				continue
			}
			versions = append(versions, version.Version)
			lists[gv.String()] = &metav1.APIResourceList{GroupVersion: gv.String(), APIResources: flat(version.Resources)}
		}
		groups = append(groups, groupOf(group.Name, versions))
	}
	return groups, lists, failed, nil
}

// groupOf is a group that prefers the first of its versions.
func groupOf(name string, versions []string) metav1.APIGroup {
	out := metav1.APIGroup{Name: name}
	for _, version := range versions {
		gv := apischema.GroupVersion{Group: name, Version: version}
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: version})
	}
	if len(out.Versions) > 0 {
		out.PreferredVersion = out.Versions[0]
	}
	return out
}

// flat has subresources beside resources, as lists of single groups have them. What has no kind is not a resource, though it
// may have subresources.
func flat(resources []apidiscoveryv2.APIResourceDiscovery) []metav1.APIResource {
	var out []metav1.APIResource
	add := func(r metav1.APIResource, kind *metav1.GroupVersionKind) {
		if kind != nil && *kind != (metav1.GroupVersionKind{}) {
			r.Group, r.Version, r.Kind = kind.Group, kind.Version, kind.Kind
			out = append(out, r)
		}
	}
	for _, r := range resources {
		namespaced := r.Scope == apidiscoveryv2.ScopeNamespace
		add(metav1.APIResource{
			Name: r.Resource, SingularName: r.SingularResource, Namespaced: namespaced, Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		}, r.ResponseKind)
		for _, sub := range r.Subresources {
			add(metav1.APIResource{
				Name: r.Resource + "/" + sub.Subresource, SingularName: r.SingularResource, Namespaced: namespaced, Verbs: sub.Verbs,
			}, sub.ResponseKind)
		}
	}
	return out
}

// groupsAndLists asks for all groups, and for what is in each of their versions: in two requests, or in one for each
// version where the server does not aggregate discovery. failed are the group-versions that could not be asked for.
func (c *Client) groupsAndLists(ctx context.Context) (groups []metav1.APIGroup, lists []*metav1.APIResourceList,
	failed map[apischema.GroupVersion]error, err error,
) {
	failed = map[apischema.GroupVersion]error{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, path := range []string{"/api", "/apis"} {
		here, known, away, err := c.groupsOf(ctx, path)
		if err != nil && (path != "/api" || !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err)) {
			all.Wait()
			return nil, nil, nil, err
		}
		groups = append(groups, here...)
		mu.Lock()
		maps.Copy(failed, away)
		mu.Unlock()
		for _, version := range versionsOf(here) {
			list := known[version.String()]
			if known == nil {
				list = &metav1.APIResourceList{}
				all.Go(func() {
					_, err := c.get(ctx, pathOf(version), runtime.ContentTypeJSON, list)
					list.GroupVersion = version.String()
					if err != nil {
						mu.Lock()
						defer mu.Unlock()
						failed[version] = err
					}
				})
			}
			lists = append(lists, list)
		}
	}
	all.Wait()
	return groups, lists, failed, ctx.Err()
}

// versionsOf are the group-versions of groups.
func versionsOf(groups []metav1.APIGroup) []apischema.GroupVersion {
	var out []apischema.GroupVersion
	for _, group := range groups {
		for _, version := range group.Versions {
			out = append(out, apischema.GroupVersion{Group: group.Name, Version: version.Version})
		}
	}
	return out
}

// pathOf is where a group-version is.
func pathOf(gv apischema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}

// descriptions asks where the descriptions of group-versions are, by paths such as apis/apps/v1. The address of one that
// changes is another.
func (c *Client) descriptions(ctx context.Context) (map[string]string, error) {
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if _, err := c.get(ctx, "/openapi/v3", runtime.ContentTypeJSON, &index); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(index.Paths))
	for path, at := range index.Paths {
		out[path] = at.ServerRelativeURL
	}
	return out, nil
}

// description asks for the OpenAPI document at an address of the index.
func (c *Client) description(ctx context.Context, address string) ([]byte, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("reading the address of a description: %w", err)
	}
	request := c.rest.Get().AbsPath(at.Path).SetHeader("Accept", runtime.ContentTypeJSON)
	for name, values := range at.Query() {
		for _, value := range values {
			request.Param(name, value)
		}
	}
	return request.Do(ctx).Raw() //nolint:wrapcheck // The caller says what was asked for.
}
