package engine

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Why rules wait. All of it passes.
var (
	// ErrUnrecorded keeps a rule from leaving what nobody would clean up.
	ErrUnrecorded = guard.ErrUnrecorded
	// ErrRestless is of an object that its rules go on writing for.
	ErrRestless = guard.ErrRestless
	// ErrBusy keeps a rule from passing its limit.
	ErrBusy = limit.ErrBusy
	// ErrUncounted keeps a rule from writing whose limit cannot be told.
	ErrUncounted = limit.ErrUncounted
)

// failed is the outcome of an attempt that failed, with the rules concerned if they are known.
func failed(rules []plan.Rule, err error, hopeless bool) guard.Outcome {
	var out guard.Outcome
	out.Fail(guard.Failure{Rules: rules, Err: err, Hopeless: hopeless})
	return out
}

// unread is the same for a live read. One that is not allowed may be, later.
func unread(rules []plan.Rule, err error) guard.Outcome {
	var out guard.Outcome
	out.Fail(guard.Failure{
		Rules: rules, Err: err, After: suggestedDelay(err),
		Passes: passes(write.Classify(err), err) || errors.Is(err, workers.ErrCrowded),
	})
	return out
}

// troubled are the rules that could not act.
func troubled(decisions []plan.Decision) []guard.Failure {
	var out []guard.Failure
	for _, decision := range decisions {
		if decision.Outcome.Troubled() {
			err := cmp.Or(decision.Err, errors.New(decision.Reason))
			out = append(out, guard.Failure{Rules: []plan.Rule{decision.Rule}, Err: err, Decided: true})
		}
	}
	return out
}

// passes reports whether it is for the API server, or what is before it, that something
// failed. A 500 is not: a webhook that fails for one object is answered so.
func passes(class write.Class, err error) bool {
	if class == write.Overloaded || class == write.Unreachable {
		return true
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return slices.Contains([]int32{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status.Status().Code)
	}
	_, unanswered := errors.AsType[*url.Error](err)
	return unanswered
}

// unconfirmed is the answer to a write that is not sent, as what it was decided by could
// not be read.
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

// failures are what could not be done about an object, for who is told of it.
func failures(key Key, outcome guard.Outcome) []Failure {
	var out []Failure
	for _, f := range outcome.Failures {
		out = append(out, Failure{Key: key, Rules: f.Rules, Err: f.Err})
	}
	return out
}
