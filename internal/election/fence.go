package election

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// ErrFenced is why a request was not sent: the lease had not been renewed in
// time. Nothing of the request has left the process.
var ErrFenced = errors.New("not sent: the lease was not renewed in time")

// ErrCutOff is why a request was given up: the lease was not renewed in time
// while the request was under way. Whether it was carried out is not known.
var ErrCutOff = errors.New("given up while under way: the lease was not renewed in time")

// Fence knows until when writes may be sent: from the moment just before the
// last successful renewal was sent, for the renew deadline. It is closed at
// first. Its methods may be called concurrently, and those of a nil Fence let
// everything pass.
type Fence struct {
	deadline time.Duration
	clock    clock.Clock

	mu    sync.Mutex
	since time.Time     // of the last renewal; meaningless while closed; guarded by mu
	shut  chan struct{} // closed by close; nil while the fence is closed; guarded by mu
}

// NewFence returns a closed fence, which a [Candidate] opens. The deadline is
// the renew deadline of the election.
func NewFence(deadline time.Duration) *Fence {
	return &Fence{deadline: deadline, clock: clock.RealClock{}}
}

// Left is for how long writes may still be sent if the lease is not renewed
// again; 0 if none may.
func (f *Fence) Left() time.Duration {
	left, _ := f.look()
	return left
}

// look also returns what is closed if the fence is closed before that.
func (f *Fence) look() (left time.Duration, shut <-chan struct{}) {
	if f == nil {
		return math.MaxInt64, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut == nil {
		return 0, nil
	}
	return max(0, f.deadline-elapsed(f.since, f.clock.Now())), f.shut
}

// elapsed is the longer of what the two clocks say. The monotonic one goes on
// while a process is stopped, but not while a machine sleeps or is moved; the
// wall clock may be set. One that is set forward refuses writes until the next
// renewal, which is better than one too many.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// renewed opens the fence, or leaves it open for longer.
func (f *Fence) renewed(sent time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = sent
	if f.shut == nil {
		f.shut = make(chan struct{})
	}
}

// close refuses everything until the next renewal.
func (f *Fence) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut != nil {
		close(f.shut)
		f.shut = nil
	}
}

// bound returns a context that is canceled with [ErrCutOff] once the fence is
// closed. Renewals prolong it. The function must be called in the end.
func (f *Fence) bound(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		for left, shut := f.look(); left > 0; left, shut = f.look() {
			select {
			case <-f.clock.After(left):
			case <-shut:
			case <-ctx.Done():
				return
			}
		}
		cancel(ErrCutOff)
	}()
	return ctx, func() { cancel(nil) }
}

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
	response.Body = &body{ReadCloser: response.Body, explain: func(err error) error { return explain(ctx, err) }, stop: stop}
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
	explain func(error) error
	stop    func()
}

// Read implements [io.Reader].
func (b *body) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.explain(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	defer b.stop()
	return b.ReadCloser.Close()
}

// Guard returns a copy of config for a client that writes. Its requests pass
// [Fence.Wrap], and its connections, which it shares with no other config, check
// the fence again right before each system call that sends something. TLS and
// HTTP/2 lie above that, so a refusal there breaks the connection with all that is
// under way on it, reads and pings included. Reads that must go on after the lease
// is lost, such as watches, need a config of their own; nor can a guarded client
// connect while the fence is closed.
//
// A Transport in config has its own connections, which are not checked. For a
// nil Fence the copy is as config is.
func (f *Fence) Guard(config *rest.Config) *rest.Config {
	out := rest.CopyConfig(config)
	if f == nil {
		return out
	}
	out.Wrap(f.Wrap)
	dial := dialerOf(config)
	out.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if f.Left() <= 0 {
			return nil, ErrCutOff
		}
		connection, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: connection, fence: f}, nil
	}
	return out
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dialerOf is a function of its own for each config, by which client-go tells
// transports apart that could share connections.
func dialerOf(config *rest.Config) dialer {
	if config.Dial != nil {
		return config.Dial
	}
	// As client-go has it.
	return (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
}

// conn sends only while the fence is open.
type conn struct {
	net.Conn
	fence *Fence
}

// Write implements [net.Conn]. What does not fit into the buffers of the system
// does not wait for longer than the fence is open.
func (c *conn) Write(data []byte) (int, error) {
	left := c.fence.Left()
	if left <= 0 {
		_ = c.Close() // It is of no use any more, and why is said already.
		return 0, ErrCutOff
	}
	if err := c.SetWriteDeadline(c.fence.clock.Now().Add(left)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}
