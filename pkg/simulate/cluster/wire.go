package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Request is a request that would change something, as it was sent.
type Request struct {
	Method string
	Path   string // without the query
	Query  url.Values
	Type   string // of the content
	Body   []byte
	Status int // of the answer
	// Refusal is what the API server said if it did not do what was asked, "" if it did.
	Refusal string
}

// wire notes what passes.
type wire struct {
	next http.RoundTripper
	sent []Request
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return w.next.RoundTrip(r)
	}
	request := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Type: r.Header.Get("Content-Type")}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, fmt.Errorf("reading the body of a request: %w", err)
		}
		request.Body = body
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	request.Status = answer.StatusCode
	if request.Refusal, err = refusal(answer); err != nil {
		return nil, err
	}
	w.sent = append(w.sent, request)
	return answer, nil
}

// refusal reads the message of an answer that is one, and leaves the answer as it was.
func refusal(answer *http.Response) (string, error) {
	if answer.StatusCode < http.StatusBadRequest {
		return "", nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", fmt.Errorf("reading the answer to a request: %w", err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	var said metav1.Status
	_ = json.Unmarshal(body, &said) // What is no Status has no message.
	if said.Message == "" {
		return http.StatusText(answer.StatusCode), nil
	}
	return said.Message, nil
}

func (w *wire) take() []Request {
	out := w.sent
	w.sent = nil
	return out
}
