package client

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
)

// The limits of an answer in bytes, after decompression. An answer is read as a whole before it is decoded, so an answer
// without an end would take all memory of the process: an API server passes on what an aggregated API answers, or a Pod through its proxy.
const (
	// maxObject bounds one object, and each error. etcd stores at most 1.5 MiB unless it is told otherwise, and JSON takes six bytes for
	// some characters. An event of a watch has the same limit, which is that of client-go.
	maxObject = 16 << 20
	// maxOther bounds a list, or a page of one, and what the API server says of itself: the OpenAPI document of a group with hundreds of
	// kinds has tens of MiB. Whoever lists asks for smaller pages then.
	maxOther = 64 << 20
)

// RedirectError says that the API server answered with a redirect. client-go would follow it and send the credentials of the process
// to the other host, and an API server never answers so itself.
type RedirectError struct {
	// Code is that of the answer.
	Code int
	// Host is the other host, "" where the answer does not name one. Its path and parameters may hold secrets.
	Host string
}

// Error names the other host.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the answer is a redirect (%d) to host %q, which is not followed; it is not from the API server itself", e.Code, e.Host)
}

// SizeError says that an answer is larger than any that an API server gives. Whether the request was carried out is not known.
type SizeError struct {
	// Limit is in bytes.
	Limit int64
}

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d MiB, and the rest was not read", e.Limit>>20)
}

// HTTP returns the HTTP client by which a configuration talks to its API server. It follows no redirect, which is a [RedirectError],
// and an answer that is too large is a [SizeError]. Every client of the process is made with it. Watches have no limit, but each of their
// events has one in the clients of this package.
func HTTP(config *rest.Config) (*http.Client, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err //nolint:wrapcheck // The callers say what for.
	}
	made, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err //nolint:wrapcheck // The callers say what for.
	}
	guarded := *made // It may be the default client of all.
	if guarded.Transport == nil {
		guarded.Transport = http.DefaultTransport
	}
	guarded.Transport = guard{guarded.Transport, strings.TrimSuffix(base.Path, "/")}
	return &guarded, nil
}

// guard is a transport to an API server whose paths begin with a prefix.
type guard struct {
	next   http.RoundTripper
	prefix string
}

// RoundTrip implements [http.RoundTripper]. An error here, unlike one of CheckRedirect, does not have the address of the other host.
func (g guard) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := g.next.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // The caller is client-go, which compares errors.
	}
	if code := response.StatusCode; code >= http.StatusMultipleChoices && code < http.StatusBadRequest {
		_ = response.Body.Close() // Nothing of it is needed.
		redirect := &RedirectError{Code: code}
		if to, err := url.Parse(response.Header.Get("Location")); err == nil {
			redirect.Host = to.Hostname()[:min(len(to.Hostname()), maxHost)]
		}
		return nil, redirect
	}
	if limit := g.limit(request, response); limit > 0 {
		response.Body = &bounded{ReadCloser: response.Body, limit: limit, left: limit}
	}
	return response, nil
}

// maxHost is the length of the longest name of a host.
const maxHost = 253

// WrappedRoundTripper lets client-go find the transport that can be closed.
func (g guard) WrappedRoundTripper() http.RoundTripper { return g.next }

// limit is how many bytes an answer may have, 0 for any number.
func (g guard) limit(request *http.Request, response *http.Response) int64 {
	if request.Method != http.MethodGet || response.StatusCode != http.StatusOK {
		return maxObject
	}
	if watch := request.URL.Query().Get("watch"); watch == "true" || watch == "1" {
		return 0
	}
	path := strings.Split(strings.Trim(strings.TrimPrefix(request.URL.Path, g.prefix), "/"), "/")
	switch {
	case path[0] == "api" && len(path) > 2:
		path = path[2:]
	case path[0] == "apis" && len(path) > 3:
		path = path[3:]
	default:
		return maxOther
	}
	if path[0] == "namespaces" && len(path) > 2 {
		path = path[2:]
	}
	if len(path) > 1 { // The resource, and the name of an object.
		return maxObject
	}
	return maxOther
}

// bounded is the body of an answer that ends with an error at its limit.
type bounded struct {
	io.ReadCloser
	limit, left int64
}

// Read implements [io.Reader].
func (b *bounded) Read(into []byte) (int, error) {
	if int64(len(into)) > b.left+1 { // One more tells whether it ends there.
		into = into[:b.left+1]
	}
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return n, &SizeError{Limit: b.limit}
	}
	return n, err //nolint:wrapcheck // It is what the caller expects of a reader.
}
