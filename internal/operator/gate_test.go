package operator

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// body tells whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// TestGate holds that nothing passes a gate that is shut, and that what has passed goes
// on.
func TestGate(t *testing.T) {
	shut := errors.New("shut")
	sent := 0
	g := newGate(shut)
	inner := transport(func(*http.Request) (*http.Response, error) {
		sent++
		g.set(shut) // While it is under way.
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	outer := g.wrap(inner)
	send := func() (*body, error) {
		b := &body{Reader: strings.NewReader("x")}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://world", b)
		if err != nil {
			t.Fatal(err)
		}
		response, err := outer.RoundTrip(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return b, err
	}
	if b, err := send(); !errors.Is(err, shut) || sent != 0 || !b.closed {
		t.Errorf("shut at first: %v, sent %d, the body is closed: %v", err, sent, b.closed)
	}
	g.set(nil)
	if b, err := send(); err != nil || sent != 1 || b.closed {
		t.Errorf("open: %v, sent %d, the body is closed: %v", err, sent, b.closed)
	}
	if _, err := send(); !errors.Is(err, shut) || sent != 1 || !errors.Is(g.err(), shut) {
		t.Errorf("shut again: %v, sent %d", err, sent)
	}
	without, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://world", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := outer.RoundTrip(without)
	if !errors.Is(err, shut) {
		_ = response.Body.Close()
		t.Errorf("without a body: %v", err)
	}
	wrapper, is := outer.(interface{ WrappedRoundTripper() http.RoundTripper })
	if !is || wrapper.WrappedRoundTripper() == nil {
		t.Error("what is behind the gate is not found, so its connections stay open")
	}
	if newGate(nil).err() != nil {
		t.Error("a gate without a reason is open")
	}
}
