package engine

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// failed is the outcome of an attempt that failed, with the rules concerned if they are known.
func failed(cause guard.Cause, rules []plan.Rule, err error) (out guard.Outcome) {
	out.Fail(guard.Failure{Rules: rules, Err: err, Cause: cause, After: suggestedDelay(err)})
	return out
}

// unread is the same for a live read. One that is not allowed may be, later.
func unread(rules []plan.Rule, err error) guard.Outcome {
	cause := causeOf(write.Classify(err), err)
	if cause == guard.Hopeless {
		cause = guard.Retryable
	}
	return failed(cause, rules, err)
}

// causeOf says what helps against a failure. It passes where it is for the API server, or what is before it, that something
// failed. A 500 is not: a webhook that fails for one object is answered so.
func causeOf(class write.Class, err error) guard.Cause {
	var status apierrors.APIStatus
	answered := errors.As(err, &status)
	_, unanswered := errors.AsType[*url.Error](err)
	switch {
	case class == write.Stale, class == write.Overloaded, class == write.Unreachable, errors.Is(err, workers.ErrCrowded):
		return guard.Passing
	case answered && slices.Contains([]int32{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status.Status().Code):
		return guard.Passing
	case class == write.Terminal, class == write.OwnedByAnother:
		return guard.Hopeless
	case !answered && unanswered:
		return guard.Passing
	default:
		return guard.Retryable
	}
}

// mostUnknown is of how many elements of a rule an attempt may not know whether they will ever be written: a webhook may fail for
// one object alone, and may hang for each.
const mostUnknown = 3

// goesOn reports whether the other elements of an action are sent, after the last failure of its rule. What passes by itself would
// keep them, too.
func goesOn(failures []guard.Failure, rule plan.Rule, class write.Class) bool {
	if class == write.Taken {
		return true
	}
	unknown := 0
	for _, f := range failures {
		if !slices.Contains(f.Rules, rule) {
			continue
		}
		switch f.Cause {
		case guard.Passing:
			return false
		case guard.Retryable:
			unknown++
		case guard.Hopeless, guard.Unevaluated, guard.Decided, guard.Delayed:
		}
	}
	return unknown < mostUnknown
}

// unconfirmed is the answer to a write that is not sent, as what it was decided by could not be read.
func unconfirmed(err error) *write.Result {
	result := &write.Result{Class: write.Classify(err), Err: err, RetryAfter: suggestedDelay(err)}
	if errors.Is(err, workers.ErrCrowded) {
		result.Class = write.Overloaded
	}
	return result
}

// suggestedDelay is how long the API server asked to wait, zero where it did not.
func suggestedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(seconds) * time.Second
}
