package write

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Timeout bounds one write, with what is read for it.
const Timeout = 30 * time.Second

// Result is the answer to one operation.
type Result struct {
	Class Class
	Err   error
	// RetryAfter is how long the API server asked to wait, zero where it did
	// not say.
	RetryAfter time.Duration
	// Object is the object as the API server answered, nil where it did not. Of
	// [Taken] it is what has the name, nil where that cannot be told.
	Object map[string]any
	// Echo is what the caches must show before the object that this was decided for
	// is evaluated again, nil where there is nothing to wait for or that is not
	// known. A failure may have one: of what the caches have missed, or of what was
	// written before the operation failed.
	Echo *Echo
}

// Client sends operations to the API server. It is safe for concurrent use.
type Client struct {
	rest   rest.Interface
	dryRun bool
}

// NewClient returns a client that writes with the rights of config.
func NewClient(config *rest.Config) (*Client, error) {
	client, err := newREST(config)
	if err != nil {
		return nil, err
	}
	return &Client{rest: client}, nil
}

// NewServerDryRun returns a client whose writes the API server admits and
// validates but does not store.
func NewServerDryRun(config *rest.Config) (*Client, error) {
	client, err := NewClient(config)
	if err != nil {
		return nil, err
	}
	client.dryRun = true
	return client, nil
}

// Write carries out one operation. Nothing of it is sent twice. The context's
// cancellation does not cut it short: a write that has begun is finished, within
// [Timeout].
func (c *Client) Write(ctx context.Context, operation plan.Operation) Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	if operation.GivesUp {
		return c.giveUp(ctx, operation)
	}
	return c.carryOut(ctx, operation)
}

// carryOut sends one request and judges the answer.
func (c *Client) carryOut(ctx context.Context, operation plan.Operation) Result {
	request, err := NewRequest(operation)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	prepared, err := c.prepare(request)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	noting, retryAfter := withRetryAfter(ctx)
	came, err := answer(prepared.Do(noting))
	if err != nil {
		return c.refused(ctx, request, err, *retryAfter)
	}
	return c.accepted(request, came)
}

func (c *Client) accepted(request Request, answer map[string]any) Result {
	target := request.Target
	result := Result{Class: Written, Object: answer}
	switch {
	case c.dryRun:
		result.Class = Simulated
	case request.Type == plan.Delete:
		result.Echo = going(target, answer)
	case ended(target, answer):
		result.Echo = gone(target)
	case target.ResourceVersion != "" && target.ResourceVersion == version(answer):
		result.Class = Unchanged
	default:
		result.Echo = echo(target, answer)
	}
	return result
}

func (c *Client) refused(ctx context.Context, request Request, err error, retryAfter time.Duration) Result {
	result := Result{Class: request.classify(err), Err: &Error{Request: request, cause: err}, RetryAfter: retryAfter}
	switch target := request.Target; result.Class {
	case Terminal:
		if target.UID == "" {
			break
		}
		// The API server has judged the object as it is now. Where that is not the one of the
		// snapshot any more, another request may be right.
		if echo, _ := c.missed(ctx, target); echo != nil && echo.Object != target {
			result.Class, result.Echo = Stale, echo
		}
	case Stale:
		result.Echo, _ = c.missed(ctx, target)
	case Taken:
		result.Echo, result.Object = c.missed(ctx, target)
	case Unchanged:
		result.Echo, result.Err = gone(target), nil
	default:
	}
	return result
}

// missed asks what the caches have missed of an object. Where that cannot be told,
// or nothing has been missed, the caches are not waited for.
func (c *Client) missed(ctx context.Context, target plan.Object) (*Echo, map[string]any) {
	live, err := c.get(ctx, target)
	absent := err != nil && Classify(err) == Stale
	switch {
	case absent && target.UID != "":
		return gone(target), nil
	case err != nil:
		return nil, nil
	case target.UID != "" && identity(target, live).UID != target.UID:
		return gone(target), live
	default:
		return echo(target, live), live
	}
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

// Record records nothing.
func (ClientDryRun) Record(context.Context, plan.Event, bool) error { return nil }
