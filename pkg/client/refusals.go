package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// startTime is how long a 401 or 403 is doubted after a request that nobody answered. kube-apiserver answers before it has read the
// RBAC objects, which takes seconds.
const startTime = 30 * time.Second

// WithoutEarlyRefusals is the configuration of clients that do not take a 401 or 403 for a verdict while the API server may not know yet
// who may do what: for thirty seconds after a request of any of them got no answer. They get a 503 instead, which repeats the answer.
func WithoutEarlyRefusals(config *rest.Config, clock clock.PassiveClock) *rest.Config {
	config = rest.CopyConfig(config)
	unanswered := &atomic.Pointer[time.Time]{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return doubting{next, clock, unanswered} })
	return config
}

// doubting is a transport. The last request that was unanswered is that of all clients with the configuration.
type doubting struct {
	http.RoundTripper
	clock      clock.PassiveClock
	unanswered *atomic.Pointer[time.Time]
}

// RoundTrip implements [http.RoundTripper].
func (d doubting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := d.RoundTripper.RoundTrip(request)
	if err != nil {
		if request.Context().Err() == nil { // Otherwise the caller did not wait for the answer.
			d.unanswered.Store(new(d.clock.Now()))
		}
		return nil, err //nolint:wrapcheck // The caller is net/http.
	}
	last := d.unanswered.Load()
	refused := response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden
	if !refused || last == nil || d.clock.Since(*last) >= startTime {
		return response, nil
	}
	return doubted(response)
}

// doubted returns the answer that is given in place of a refusal.
func doubted(refusal *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(refusal.Body, maxObject))
	_ = refusal.Body.Close() // What was read counts.
	if err != nil {
		return nil, err //nolint:wrapcheck // As if the request had failed.
	}
	var said metav1.Status
	_ = json.Unmarshal(body, &said) // What is no Status is told by its code.
	status := apierrors.NewServiceUnavailable("the API server did not answer a moment ago, so it may not know yet who may do what; now it answers: " +
		cmp.Or(said.Message, refusal.Status)).Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	if body, err = json.Marshal(status); err != nil {
		return nil, err //nolint:wrapcheck // It cannot happen.
	}
	response := *refusal
	response.StatusCode, response.Status = http.StatusServiceUnavailable, "503 "+http.StatusText(http.StatusServiceUnavailable)
	response.Header = http.Header{"Content-Type": {"application/json"}}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &response, nil
}

// WrappedRoundTripper lets client-go find the transport below, for example to close its idle connections.
func (d doubting) WrappedRoundTripper() http.RoundTripper { return d.RoundTripper }
