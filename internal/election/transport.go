package election

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Wrap is for [rest.Config.Wrap]. What may change something, which is all but
// GET, HEAD and OPTIONS, fails with [ErrFenced] while the fence is closed, and
// with [ErrCutOff] if it closes before the whole answer has been read.
func (f *Fence) Wrap(next http.RoundTripper) http.RoundTripper {
	if f == nil {
		return next
	}
	return &transport{fence: f, next: next}
}

type transport struct {
	fence *Fence
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	switch request.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return t.next.RoundTrip(request)
	}
	if t.fence.Left() <= 0 {
		if request.Body != nil {
			_ = request.Body.Close() // Nothing of it was read, and the error is said already.
		}
		return nil, ErrFenced
	}
	ctx, stop := t.fence.bound(request.Context())
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		defer stop()
		return nil, explain(ctx, err)
	}
	response.Body = &body{ReadCloser: response.Body, fenced: func(err error) error { return explain(ctx, err) }, stop: stop}
	return response, nil
}

// WrappedRoundTripper lets client-go find what is below.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// explain says that it was the fence which ended a request.
func explain(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrCutOff) && !errors.Is(err, ErrCutOff) {
		return fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	return err
}

// body is bound by the fence until it is closed.
type body struct {
	io.ReadCloser
	fenced func(error) error
	stop   func()
}

// Read implements [io.Reader].
func (b *body) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.fenced(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	defer b.stop()
	return b.ReadCloser.Close()
}
