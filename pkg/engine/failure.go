package engine

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
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
	switch {
	case class == write.Stale, class == write.Overloaded, class == write.Unreachable, errors.Is(err, workers.ErrCrowded):
		return guard.Passing
	case class == write.Terminal, class == write.OwnedByAnother:
		return guard.Hopeless
	case isUnanswered(err):
		return guard.Passing
	default:
		return guard.Retryable
	}
}

// isUnanswered reports whether the API server did not answer, or whoever passes requests on to it or from it got no answer. Errors come
// here from all of an attempt, so one that is neither an answer nor of net/http says nothing about the API server. To the informer, whose
// errors are all of requests, it does.
func isUnanswered(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return slices.Contains([]int32{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status.Status().Code)
	}
	_, unanswered := errors.AsType[*url.Error](err)
	return unanswered
}

// passes reports whether an attempt failed for what is not of its object: the API server did not answer, or something else comes first.
// A conflict is of the object, and so is that the API server is too busy for it.
func passes(outcome guard.Outcome) (passes bool) {
	for _, f := range outcome.Failures {
		var answer apierrors.APIStatus
		answered := errors.As(f.Err, &answer) && !isUnanswered(f.Err)
		switch {
		case f.Cause == guard.Retryable, f.Cause == guard.Hopeless, f.Cause == guard.Passing && answered:
			return false
		case f.Cause == guard.Passing:
			passes = true
		}
	}
	return passes
}

// noAnswer reports whether a request for an object got no answer.
func noAnswer(outcome guard.Outcome) bool {
	return slices.ContainsFunc(outcome.Failures, func(f guard.Failure) bool { return isUnanswered(f.Err) })
}

// unanswered has the objects that the API server did not answer for. Each waits longer with each failure, but all are looked at again
// as soon as it answers for one of them. The zero value is ready. It is safe for concurrent use.
type unanswered struct {
	mu   sync.Mutex
	keys map[Key]bool // guarded by mu
}

// wait notes that there was no answer for an object, and returns how long it waits, where it would wait so long alone.
func (u *unanswered) wait(key Key, alone time.Duration) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys == nil {
		u.keys = map[Key]bool{}
	}
	u.keys[key] = true
	return min(alone, wait.Jitter(informer.LongestWait(len(u.keys)), 0.5))
}

// answered notes that there was an answer for an object, and returns those that are to be looked at if there was none for it before.
func (u *unanswered) answered(key Key) []Key {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.keys[key] {
		return nil
	}
	delete(u.keys, key)
	all := u.keys
	u.keys = nil
	return slices.Collect(maps.Keys(all))
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
