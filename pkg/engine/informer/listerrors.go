package informer

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// maxRefusals is after how many refusals in a row that may pass by themselves a cache is out
// of date.
const maxRefusals = 3

// maxLogged is how many errors are logged before the next success.
const maxLogged = 8

// listErrors are what requests to list or watch came to. It is safe for concurrent use; the zero
// value has none.
type listErrors struct {
	mu         sync.Mutex
	last       error    // of the last request; guarded by mu
	refused    int      // how many requests since one was not; guarded by mu
	unanswered int      // how many nobody answered, since somebody did not refuse; guarded by mu
	denied     int      // how many lists in a row were not allowed; guarded by mu
	logged     []string // the errors since the last success; guarded by mu
}

// takeOver goes on where another informer ended; nil is none.
func (l *listErrors) takeOver(before *listErrors) {
	if before == nil {
		return
	}
	before.mu.Lock()
	defer before.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.logged = before.last, slices.Clone(before.logged)
}

// add takes how a request went, and reports whether that is to be logged. Each reason is
// once before the next success: a list that succeeds says nothing of the watch
// after it, and a watch may end as soon as it began.
func (l *listErrors) add(err error) (isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = err
	if err == nil || len(l.logged) >= maxLogged || slices.Contains(l.logged, reasonOf(err)) {
		return false
	}
	l.logged = append(l.logged, reasonOf(err))
	return true
}

// outdates takes how a list or a watch went, and reports whether what is cached is known
// to be out of date since; unlessDown says that it is not where the API server itself is down. A
// connection that breaks does not say so, nor does a server that has too much to do, nor a
// watch alone that is not to be had: a list follows it. Nor does one list that is not allowed:
// one of several API servers may not know a right yet, or have just started. Who knows that
// the right is gone has the cache denied.
func (l *listErrors) outdates(list bool, err error) (known, unlessDown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil || !refuses(err):
		l.refused, l.unanswered, l.denied = 0, 0, 0
		return false, false
	case isUnavailable(err):
		l.unanswered++
		return l.unanswered >= maxRefusals, true
	case isDenied(err):
		if list {
			l.denied++
		}
		return l.denied > 1, false
	}
	l.refused++
	return l.refused >= maxRefusals || list && lasts(err) || isUncached(err), false
}

// answer has nothing count that nobody has answered so far.
func (l *listErrors) answer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unanswered = 0
}

// succeed is told that a watch delivers, and reports whether errors were logged before.
func (l *listErrors) succeed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := len(l.logged) > 0
	l.logged = nil
	return had
}

func (l *listErrors) latest() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// isUncached reports whether the API server cannot read the objects of a resource, as when
// a conversion webhook is down. It calls that too many requests, and client-go has tried
// for ten seconds when it tells.
func isUncached(err error) bool {
	return apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), "storage is (re)initializing")
}

// isUnavailable reports whether nobody has answered to whom the request was passed on: the API
// server says that of an aggregated API, and a gateway says it of the API server. All other
// refusals come from somebody who has looked at the request.
func isUnavailable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
}

// refuses reports whether the API server has answered, and will not list or watch. That
// it does not remember so old a version is answered by a new list.
func refuses(err error) bool {
	var status apierrors.APIStatus
	switch {
	case !errors.As(err, &status) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
		return false
	case status.Status().Code == http.StatusTooManyRequests:
		return isUncached(err)
	default:
		return true
	}
}

// lasts reports whether an answer is the same until somebody does something.
func lasts(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err)
}

// isDenied reports whether an answer says that the caller is not known or lacks a right.
func isDenied(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// reasonOf is what an error says but for what is another each time: the address of the
// request, which has its parameters, and numbers such as ports.
func reasonOf(err error) string {
	text := err.Error()
	if request, is := errors.AsType[*url.Error](err); is {
		text = request.Err.Error()
	}
	if connection, is := errors.AsType[*net.OpError](err); is {
		text = connection.Op + " " + connection.Err.Error()
	}
	digit := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(digit, text)
}

// explain says of a resource that is not there what that means: the API server says the
// same of one that nobody has, of a version that is not served, and of objects that have
// no namespaces.
func (k Key) explain(err error) error {
	switch {
	case err == nil || !apierrors.IsNotFound(err):
		return err
	case k.Namespace != "":
		return fmt.Errorf("the API server has no resource %s whose objects have namespaces: %w", plan.ResourceName(k.GVR), err)
	default:
		return fmt.Errorf("the API server has no resource %s: %w", plan.ResourceName(k.GVR), err)
	}
}
