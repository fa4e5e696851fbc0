package write

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// newREST returns a client for all resources that decodes as the dynamic one does,
// and that, other than that one, tells what a deletion is answered with.
func newREST(config *rest.Config) (rest.Interface, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion, config.APIPath = nil, ""
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return hideRetryAfter{next} })
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for writes: %w", err)
	}
	return client, nil
}

// prepare makes the HTTP request, which is to be sent once.
func (c *Client) prepare(request Request) (*rest.Request, error) {
	if c.dryRun && request.Type == plan.Delete {
		request.Body = withDryRun(request.Body) // Beside a body, parameters do not count.
	}
	data, err := request.Data()
	if err != nil {
		return nil, err
	}
	var to *rest.Request
	switch request.Type {
	case plan.Create:
		to = at(c.rest.Post(), request.Target).SetHeader("Content-Type", runtime.ContentTypeJSON)
	case plan.Delete:
		to = at(c.rest.Delete(), request.Target).SetHeader("Content-Type", runtime.ContentTypeJSON).Name(request.Target.Name)
	default:
		to = at(c.rest.Patch(patchTypes[request.Type]), request.Target).Name(request.Target.Name)
	}
	if request.Subresource != "" {
		to = to.SubResource(request.Subresource)
	}
	to = c.parameters(to, request).Body(data).MaxRetries(0)
	if err := to.Error(); err != nil {
		return nil, fmt.Errorf("%s: %w", request.doing(), err)
	}
	return to, nil
}

func withDryRun(body any) any {
	options, _ := body.(map[string]any)
	out := maps.Clone(options)
	out["dryRun"] = []any{metav1.DryRunAll}
	return out
}

// parameters are what the API server is to know of a write besides the body.
func (c *Client) parameters(to *rest.Request, request Request) *rest.Request {
	if request.Type == plan.Delete {
		return to
	}
	if request.Type == plan.Apply {
		to = to.Param("force", strconv.FormatBool(request.Force))
	}
	if c.dryRun {
		to = to.Param("dryRun", metav1.DryRunAll)
	}
	// A field unknown to the schema would be pruned and written again for ever;
	// strict validation refuses it by name.
	return to.Param("fieldManager", request.Manager).Param("fieldValidation", metav1.FieldValidationStrict)
}

// get reads the object itself, whatever the subresource.
func (c *Client) get(ctx context.Context, target plan.Object) (map[string]any, error) {
	return answer(at(c.rest.Get(), target).Name(target.Name).MaxRetries(0).Do(ctx))
}

// at addresses the resource of an object, in its namespace.
func at(to *rest.Request, object plan.Object) *rest.Request {
	prefix := []string{"apis", object.GVR.Group, object.GVR.Version}
	if object.GVR.Group == "" {
		prefix = []string{"api", object.GVR.Version}
	}
	return to.Prefix(prefix...).NamespaceIfScoped(object.Namespace, object.Namespace != "").Resource(object.GVR.Resource)
}

// answer is nil where there is one that is not an object.
func answer(result rest.Result) (map[string]any, error) {
	object, err := result.Get()
	if err != nil {
		return nil, err
	}
	if of, isObject := object.(*unstructured.Unstructured); isObject {
		return of.Object, nil
	}
	return nil, nil
}
