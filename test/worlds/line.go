package worlds

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

var (
	errReset = errors.New("connection reset by peer")
	errGone  = errors.New("the process is gone")
)

// line is the connection of a replica to the API server.
type line struct {
	network      *network
	as           string // the name of the replica
	disturbances []disturbance
	crash        func()        // ends the process from one moment to the next: nothing that it sends arrives any more, and no answer
	gone         chan struct{} // closed by crash
	frozen       atomic.Int64  // until when nothing gets through, in nanoseconds

	// How many requests each disturbance was about, and how many watches there were; by the first goroutine of the bubble alone.
	counts  []int
	watches int
}

// RoundTrip implements [http.RoundTripper]: the request waits until the network carries it.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	e := &errand{line: l, request: r, sent: time.Now(), answer: make(chan answer, 2)}
	l.network.take(e)
	select {
	case a := <-e.answer:
		return a.response, a.err
	case <-r.Context().Done():
		e.abandoned.Store(true)
		return nil, r.Context().Err() //nolint:wrapcheck // It is that of the client.
	case <-l.gone:
		e.abandoned.Store(true)
		return nil, errGone
	}
}

// hit is what happens to the next request.
func (l *line) hit(r *http.Request) hit {
	out := hit{taken: true}
	for i := range l.disturbances {
		d := &l.disturbances[i]
		if !d.concerns(r) {
			continue
		}
		if l.counts[i]++; out.fault == "" && d.from <= l.counts[i] && l.counts[i] <= d.to {
			out.fault, out.by = d.fault, d.by
		}
	}
	return out
}

func (l *line) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// disturb has more happen to requests from now on.
func (l *line) disturb(troubles []disturbance) {
	l.disturbances = append(l.disturbances, troubles...)
	l.counts = append(l.counts, make([]int, len(troubles))...)
}

// freeze has nothing get through for a while: neither requests nor, of watches, events.
func (l *line) freeze(d time.Duration) {
	l.frozen.Store(max(l.frozen.Load(), time.Now().Add(d).UnixNano()))
	time.AfterFunc(d, l.network.wake)
}

// thaws is how long nothing gets through.
func (l *line) thaws() time.Duration { return time.Duration(l.frozen.Load() - time.Now().UnixNano()) }

// freezing is the body of an answer, which comes when it gets through.
type freezing struct {
	io.ReadCloser
	line *line
}

// Read implements [io.Reader].
func (f freezing) Read(into []byte) (int, error) {
	n, err := f.ReadCloser.Read(into)
	for d := f.line.thaws(); d > 0; d = f.line.thaws() {
		<-time.After(d)
	}
	return n, err //nolint:wrapcheck // It is that of the server.
}

// orderly is the body of a watch, of which each piece waits until the network carries it.
type orderly struct {
	io.ReadCloser
	watch *errand
	next  atomic.Pointer[errand]
}

// Read implements [io.Reader].
func (o *orderly) Read(into []byte) (int, error) {
	n, err := o.ReadCloser.Read(into)
	next := &errand{line: o.watch.line, request: o.watch.request, sent: o.watch.sent, says: make(chan struct{})}
	o.next.Store(next)
	o.watch.line.network.take(next)
	select {
	case <-next.says:
	case <-o.watch.request.Context().Done():
		next.abandoned.Store(true)
	case <-o.watch.line.gone:
	}
	return n, err //nolint:wrapcheck // It is that of the server.
}

// Close implements [io.Closer].
func (o *orderly) Close() error {
	if next := o.next.Load(); next != nil {
		next.abandoned.Store(true)
	}
	return o.ReadCloser.Close() //nolint:wrapcheck // It is that of the server.
}
