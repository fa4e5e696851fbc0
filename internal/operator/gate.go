package operator

import (
	"net/http"
	"sync/atomic"
)

// gate lets the requests of a tenant pass, or none of them and says why. It is safe for
// concurrent use.
type gate struct{ shut atomic.Pointer[error] }

// newGate returns a gate that is shut because of err, or open with nil.
func newGate(err error) *gate {
	g := &gate{}
	g.set(err)
	return g
}

// set shuts the gate, or opens it with nil.
func (g *gate) set(err error) { g.shut.Store(&err) }

// err is why the gate is shut, nil where it is open.
func (g *gate) err() error { return *g.shut.Load() }

// wrap is for [rest.Config.Wrap].
func (g *gate) wrap(next http.RoundTripper) http.RoundTripper { return gated{g, next} }

// gated is a transport behind a gate.
type gated struct {
	gate *gate
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t gated) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.gate.err(); err != nil {
		if request.Body != nil {
			// The transport owns the body, also of what it does not send.
			_ = request.Body.Close()
		}
		return nil, err
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport that can be closed.
func (t gated) WrappedRoundTripper() http.RoundTripper { return t.next }
