package write

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	errChanged    = errors.New("the object has changed")
	errStillOwned = errors.New("the API server did not let go of the fields that the rule gives up, and would remove them")
)

// giveUp carries out an apply that leaves fields behind. The API server would remove
// them, so the manager gives up owning them first, in a patch of managedFields. That
// list is not in the caches as it is on the server, so it is read for the purpose.
//
// A dry run ends with that patch: applied to what it does not store, the body would
// be judged as if the fields went.
func (c *Client) giveUp(ctx context.Context, operation plan.Operation) Result {
	request, err := NewRequest(operation)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	steps, refused := c.stepsToGiveUp(ctx, operation, request)
	if refused != nil {
		return *refused
	}
	if len(steps) == 0 {
		return c.carryOut(ctx, operation)
	}
	released := c.carryOut(ctx, plan.Operation{
		Type: plan.JSON, Target: operation.Target, Manager: plan.FieldManager, Body: steps,
	})
	body, _ := operation.Body.(map[string]any)
	switch {
	case released.Class != Written || released.Echo == nil || released.Echo.Gone:
		return released
	case len(plan.GiveUp(operation.Manager, operation.Subresource, body, released.Object)) > 0:
		released.Class, released.Err = Terminal, &Error{Request: request, cause: errStillOwned}
		return released
	case len(body) == 0:
		return released
	}
	return c.applyAfter(ctx, operation, released)
}

// stepsToGiveUp reads the object live: it must be the one of the snapshot.
func (c *Client) stepsToGiveUp(ctx context.Context, operation plan.Operation, request Request) ([]any, *Result) {
	target := operation.Target
	ctx, retryAfter := withRetryAfter(ctx)
	live, err := c.get(ctx, target)
	if err == nil && identity(target, live) != target {
		err = apierrors.NewConflict(target.GVR.GroupResource(), target.Name, errChanged)
	}
	if err != nil {
		request.Subresource = "" // It is the object that was read.
		refused := c.refused(ctx, request, err, *retryAfter)
		return nil, &refused
	}
	body, _ := operation.Body.(map[string]any)
	return plan.GiveUp(operation.Manager, operation.Subresource, body, live), nil
}

// applyAfter applies on top of what has been written for the same operation.
func (c *Client) applyAfter(ctx context.Context, operation plan.Operation, released Result) Result {
	operation.Target.ResourceVersion = released.Echo.Object.ResourceVersion
	result := c.carryOut(ctx, operation)
	if result.Class == Unchanged {
		result.Class = Written
	}
	if result.Echo == nil {
		result.Echo = released.Echo
	}
	return result
}
