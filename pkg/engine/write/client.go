package write

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Timeout bounds one write.
const Timeout = 30 * time.Second

// Result is the answer to one operation.
type Result struct {
	Class Class
	Err   error
	// RetryAfter is how long the API server asked to wait, zero where it did
	// not say.
	RetryAfter time.Duration
	// Object is the object as the API server answered, nil where it did not.
	Object map[string]any
	// ResourceVersion is what the caches must reach before the object may be
	// evaluated again: that of the write or, after a stale one, of the object as
	// it is now. It is empty where that is not known.
	ResourceVersion string
}

// Client sends operations to the API server. It is safe for concurrent use.
type Client struct {
	dynamic dynamic.Interface
	dryRun  []string
}

// NewClient returns a client that writes with the rights of config.
func NewClient(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return hideRetryAfter{next} })
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for writes: %w", err)
	}
	return &Client{dynamic: client}, nil
}

// NewServerDryRun returns a client whose writes the API server admits and
// validates but does not store.
func NewServerDryRun(config *rest.Config) (*Client, error) {
	client, err := NewClient(config)
	if err != nil {
		return nil, err
	}
	client.dryRun = []string{metav1.DryRunAll}
	return client, nil
}

// Write sends one operation, once. The context's cancellation does not cut it
// short: a write that has begun is finished, within [Timeout].
func (c *Client) Write(ctx context.Context, operation plan.Operation) Result {
	request, err := NewRequest(operation)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	data, err := request.Data()
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	ctx, retryAfter := withRetryAfter(ctx)
	options := metav1.PatchOptions{
		FieldManager: request.Manager,
		DryRun:       c.dryRun,
		// A field unknown to the schema would be pruned and written again for
		// ever; strict validation refuses it by name.
		FieldValidation: metav1.FieldValidationStrict,
	}
	if operation.Type == plan.Apply {
		options.Force = &request.Force
	}
	target := request.Target
	answer, err := c.dynamic.Resource(target.GVR).Namespace(target.Namespace).
		Patch(ctx, target.Name, request.PatchType, data, options, subresources(request.Subresource)...)
	if err != nil {
		result := refusal(request, err, *retryAfter)
		if result.Class == Stale {
			result.ResourceVersion = c.version(ctx, target)
		}
		return result
	}
	return c.result(target, answer)
}

// version asks what the caches have missed. Where that cannot be told, or the
// object is gone, the caches are not waited for.
func (c *Client) version(ctx context.Context, target plan.Object) string {
	current, err := c.dynamic.Resource(target.GVR).Namespace(target.Namespace).Get(ctx, target.Name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return current.GetResourceVersion()
}

func refusal(request Request, err error, retryAfter time.Duration) Result {
	result := Result{Class: Classify(err), Err: &Error{Request: request, cause: err}, RetryAfter: retryAfter}
	if request.Subresource != "" && apierrors.IsNotFound(err) {
		// A custom resource without the subresource answers as if the object
		// were missing. Where it is, the caches will say so.
		result.Class = Terminal
	}
	return result
}

func (c *Client) result(target plan.Object, answer *unstructured.Unstructured) Result {
	result := Result{Class: Written, Object: answer.Object, ResourceVersion: answer.GetResourceVersion()}
	switch {
	case len(c.dryRun) > 0:
		result.Class, result.ResourceVersion = Simulated, ""
	case result.ResourceVersion == target.ResourceVersion:
		result.Class, result.ResourceVersion = Unchanged, ""
	}
	return result
}

func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// ClientDryRun sends nothing.
type ClientDryRun struct{}

// Write answers what the operation is predicted to do.
func (ClientDryRun) Write(_ context.Context, operation plan.Operation) Result {
	if _, err := NewRequest(operation); err != nil {
		return Result{Class: Terminal, Err: err}
	}
	return Result{Class: Simulated, Object: operation.Predicted}
}
