package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
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

// version is a group-version of a server.
type version struct {
	apischema.GroupVersion
	preferred bool // by its group
	// listed says that what follows is known: what is in it, or why the server does not say.
	listed    bool
	resources []metav1.APIResource
	err       error
}

// versions are those below /api or /apis. Only a server that aggregates discovery lists what is in them.
func (c *Client) versions(ctx context.Context, path string) ([]*version, error) {
	var answer struct {
		Versions []string                           `json:"versions"` // of /api
		Groups   []metav1.APIGroup                  `json:"groups"`   // of /apis
		Items    []apidiscoveryv2.APIGroupDiscovery `json:"items"`
	}
	contentType, err := c.get(ctx, path, acceptAggregated, &answer)
	if err != nil {
		return nil, err
	}
	var out []*version
	if !strings.Contains(contentType, aggregatedKind) {
		for i, name := range answer.Versions {
			out = append(out, &version{GroupVersion: apischema.GroupVersion{Version: name}, preferred: i == 0})
		}
		for _, group := range answer.Groups {
			for _, v := range group.Versions {
				gv := apischema.GroupVersion{Group: group.Name, Version: v.Version}
				out = append(out, &version{GroupVersion: gv, preferred: v.Version == group.PreferredVersion.Version})
			}
		}
		return out, nil
	}
	for _, group := range answer.Items {
		preferred := true // The first whose own server is not away.
		for _, v := range group.Versions {
			one := &version{GroupVersion: apischema.GroupVersion{Group: group.Name, Version: v.Version}, listed: true}
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				one.err = fmt.Errorf("stale GroupVersion discovery: %v", one.GroupVersion)
			} else {
				one.resources, one.preferred, preferred = flat(v.Resources), preferred, false
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// flat has subresources beside resources, as lists of single groups have them. What has no kind is not a resource, though it
// may have subresources.
func flat(resources []apidiscoveryv2.APIResourceDiscovery) []metav1.APIResource {
	var out []metav1.APIResource
	add := func(r metav1.APIResource, kind *metav1.GroupVersionKind) {
		if kind != nil && *kind != (metav1.GroupVersionKind{}) {
			r.Kind = kind.Kind
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

// pathOf is where a group-version is.
func pathOf(gv apischema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}

// description asks for the OpenAPI document at an address of the index. An aggregated API names addresses of its own there.
func (c *Client) description(ctx context.Context, address string) ([]byte, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("reading the address of a description: %w", err)
	}
	if path.Clean(at.Path) != at.Path || !strings.HasPrefix(at.Path, "/openapi/v3/") {
		return nil, fmt.Errorf("the address %q of a description is not below /openapi/v3", at.Path)
	}
	request := c.rest.Get().AbsPath(at.Path).SetHeader("Accept", runtime.ContentTypeJSON)
	for name, values := range at.Query() {
		for _, value := range values {
			request.Param(name, value)
		}
	}
	return request.Do(ctx).Raw() //nolint:wrapcheck // The caller says what was asked for.
}
