package worlds

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// errand is a request of a replica that is on its way.
type errand struct {
	line      *line
	request   *http.Request
	sent      time.Time
	answer    chan answer
	abandoned atomic.Bool // nobody waits for the answer
}

type answer struct {
	response *http.Response
	err      error
}

// deliver gives the client the answer.
func (e *errand) deliver(response *http.Response, err error) {
	if response != nil {
		response.Body = freezing{response.Body, e.line}
	}
	if e.abandoned.Load() && response != nil {
		_ = response.Body.Close() // Nobody reads it.
	}
	e.answer <- answer{response, err}
}

// line is the connection of a replica to the API server.
type line struct {
	world  *World
	as     string
	faults Faults
	crash  func()        // ends the process from one moment to the next: nothing that it sends arrives any more, and no answer
	gone   chan struct{} // closed by crash
	sent   map[way]int   // by the first goroutine of the bubble alone
	frozen atomic.Int64  // until when nothing gets through, in nanoseconds
}

// RoundTrip implements [http.RoundTripper]: the request waits until the world carries it out.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	e := &errand{line: l, request: r, sent: time.Now(), answer: make(chan answer, 1)}
	w := l.world
	w.mu.Lock()
	w.waiting = append(w.waiting, e)
	w.mu.Unlock()
	w.wake()
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

// freeze has nothing get through for a while: neither requests nor, of watches, events.
func (l *line) freeze(d time.Duration) {
	l.frozen.Store(max(l.frozen.Load(), time.Now().Add(d).UnixNano()))
	time.AfterFunc(d, l.world.wake)
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
	if d := f.line.thaws(); d > 0 {
		<-time.After(d)
	}
	return n, err //nolint:wrapcheck // It is that of the server.
}

// wake has the world look for requests to carry out.
func (w *World) wake() {
	select {
	case w.asked <- struct{}{}:
	default:
	}
}

// next takes one of the requests that are on their way, nil if there is none.
func (w *World) next() *errand {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(e *errand) bool { return e.abandoned.Load() })
	var movable []*errand
	for _, e := range w.waiting {
		if e.line.thaws() <= 0 {
			movable = append(movable, e)
		}
	}
	if len(movable) == 0 {
		return nil
	}
	// What was asked at one moment has no order of its own.
	slices.SortStableFunc(movable, func(a, b *errand) int {
		return cmp.Or(cmp.Compare(a.line.as, b.line.as), cmp.Compare(a.request.Method, b.request.Method), cmp.Compare(a.request.URL.String(), b.request.URL.String()))
	})
	out := w.follow(movable)
	if out == nil {
		return nil
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(e *errand) bool { return e == out })
	return out
}

// follow is the one of several requests that is next: by the record of an earlier life of the world as far as there is one, or by lot. What
// the record has next may not be on its way yet. If it has not come by the moment at which it was carried out, the world goes its own way
// from then on.
func (w *World) follow(several []*errand) *errand {
	for len(w.record) > 0 && w.record[0].as == user {
		w.record = w.record[1:]
	}
	if len(w.record) == 0 {
		return several[w.choose(len(several))]
	}
	next := w.record[0]
	at := slices.IndexFunc(several, func(e *errand) bool {
		return e.line.as == next.as && e.request.Method == next.method && e.request.URL.Path == next.path
	})
	switch until := time.Until(next.at); {
	case at >= 0:
		w.record = w.record[1:]
		return several[at]
	case until > 0:
		time.AfterFunc(until, w.wake)
		return nil
	default:
		w.record, w.strayed = nil, true
		return w.follow(several)
	}
}

// carry sends a request, and has happen to it what is to.
func (w *World) carry(e *errand) {
	l := e.line
	of := wayOf(e.request)
	if l.sent[of]++; of == watches { // client-go would draw it by lot.
		query := e.request.URL.Query()
		query.Set("timeoutSeconds", strconv.Itoa(300+l.sent[of]*37%300))
		e.request = e.request.Clone(e.request.Context())
		e.request.URL.RawQuery = query.Encode()
	}
	l.sent[all]++
	one := w.history.begin(l.as, e.request)
	one.sent = e.sent
	fault := cmp.Or(l.faults[of][l.sent[of]], l.faults[all][l.sent[all]])
	one.fault = fault
	fault.carry(e, func() (*http.Response, error) { return w.arrive(one, e.request) })
}
