package client

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// WithoutRetries is the configuration of a client whose callers know after one answer of the API server that a request has failed.
// Otherwise client-go sends the request again, ten times, if the answer has the header Retry-After. The callers retry themselves.
func WithoutRetries(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return answering{next} })
	return config
}

type answering struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(request)
	if response != nil {
		response.Header.Del("Retry-After")
	}
	return response, err //nolint:wrapcheck // The caller is net/http.
}

// WrappedRoundTripper lets client-go find the transport below, for example to close its idle connections.
func (a answering) WrappedRoundTripper() http.RoundTripper { return a.RoundTripper }
