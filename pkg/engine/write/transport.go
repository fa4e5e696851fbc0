package write

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// retryAfterHeader makes client-go repeat a request, up to ten times, inside
// the worker and with a plan that is out of date by then. The dynamic client
// has no switch for that.
const retryAfterHeader = "Retry-After"

// retryAfterKey is where a request's context keeps what the header said.
type retryAfterKey struct{}

// withRetryAfter returns a context in which the transport notes how long the
// API server asked to wait.
func withRetryAfter(ctx context.Context) (context.Context, *time.Duration) {
	wait := new(time.Duration)
	return context.WithValue(ctx, retryAfterKey{}, wait), wait
}

// whileKey is where a request's context keeps until when it may be sent.
type whileKey struct{}

// While returns a context in which a write is sent only as long as still says so, which is asked right before. A write
// that is not sent is [Unreachable].
func While(ctx context.Context, still func() bool) context.Context {
	return context.WithValue(ctx, whileKey{}, still)
}

// errLate is why a write is not sent.
var errLate = errors.New("it took too long until it could be sent, so it is decided anew")

// hideRetryAfter takes the header from the answers that pass, so that the
// engine's queue does the waiting.
type hideRetryAfter struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t hideRetryAfter) RoundTrip(request *http.Request) (*http.Response, error) {
	// What is read after a write tells what became of it, however late.
	if still, ok := request.Context().Value(whileKey{}).(func() bool); ok && request.Method != http.MethodGet && !still() {
		return nil, errLate
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text := response.Header.Get(retryAfterHeader)
	response.Header.Del(retryAfterHeader)
	if wait, ok := request.Context().Value(retryAfterKey{}).(*time.Duration); ok {
		*wait = seconds(text)
	}
	return response, nil
}

// WrappedRoundTripper lets client-go find the transport that can be closed.
func (t hideRetryAfter) WrappedRoundTripper() http.RoundTripper { return t.next }

// seconds reads the form that the API server sends; dates are not used there.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
