package worlds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault is what happens to a request, "" for nothing.
type Fault string

// The faults of requests that are no watches.
const (
	LostRequest Fault = "lost request" // the API server never gets it
	LostAnswer  Fault = "lost answer"  // it has carried it out
	Late        Fault = "late"         // the answer comes some seconds later
	TooMany     Fault = "429"
	Broken      Fault = "500"
	Unavailable Fault = "503"
	CrashBefore Fault = "crash before" // the process ends, and the API server never gets the request
	CrashAfter  Fault = "crash after"  // the process ends, and the API server has carried it out
)

// The faults of watches.
const (
	Lagging  Fault = "lagging"   // each event comes a second later
	FarBack  Fault = "far back"  // each event comes five seconds later
	Stalled  Fault = "stalled"   // no event comes, and the connection stays
	CutShort Fault = "cut short" // it breaks after some events
)

// way is what a replica sends requests for.
type way string

// The ways.
const (
	reads   way = "reads" // and questions what it may do
	writes  way = "writes"
	watches way = "watches"
	leases  way = "leases" // to whom the lease belongs, read or written
	all     way = "all"    // each counts once more
)

// possible are the faults that there are of requests of each way.
var possible = map[way][]Fault{
	reads:   {LostRequest, LostAnswer, Late, TooMany, Broken, Unavailable, CrashBefore},
	writes:  {LostRequest, LostAnswer, Late, TooMany, Broken, Unavailable, CrashBefore, CrashAfter},
	watches: {LostRequest, Unavailable, Lagging, FarBack, Stalled, CutShort},
	leases:  {LostRequest, LostAnswer, Late, Unavailable},
}

// wayOf is what a request is sent for.
func wayOf(r *http.Request) way {
	switch {
	case strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/"):
		return leases
	case r.URL.Query().Has("watch"):
		return watches
	case r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/"):
		return reads
	default:
		return writes
	}
}

// Faults are those of a replica, by what it sends requests for, and by their numbers among those, from 1.
type Faults map[way]map[int]Fault

var (
	errReset = errors.New("connection reset by peer")
	errGone  = errors.New("the process is gone")
)

// carry has an errand done, and happen to it what is to.
func (f Fault) carry(e *errand, arrive func() (*http.Response, error)) {
	if code, err := strconv.Atoi(string(f)); err == nil {
		e.deliver(refusal(e.request, code), nil) //nolint:bodyclose // The client closes it.
		return
	}
	switch f {
	case LostRequest:
		e.deliver(nil, errReset)
		return
	case CrashBefore:
		e.line.crash()
		return
	default: // It arrives.
	}
	out, err := arrive()
	if err != nil {
		e.deliver(nil, err)
		return
	}
	switch f {
	case LostAnswer:
		_ = out.Body.Close() // It is in memory.
		e.deliver(nil, errReset)
		return
	case CrashAfter:
		_ = out.Body.Close() // It is in memory.
		e.line.crash()
		return
	case Late:
		time.AfterFunc(5*time.Second, func() { e.deliver(out, nil) })
		return
	case Lagging:
		out.Body = later(out.Body, time.Second)
	case FarBack:
		out.Body = later(out.Body, 5*time.Second)
	case Stalled:
		out.Body = stalled{out.Body}
	case CutShort:
		out.Body = &short{ReadCloser: out.Body, left: 10}
	default: // It comes as it is.
	}
	e.deliver(out, nil)
}

// refusal is the answer of an API server that does not carry a request out.
func refusal(r *http.Request, code int) *http.Response {
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":` + strconv.Itoa(code) + `,"message":"` + http.StatusText(code) + `"}`
	out := &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r,
	}
	if code == http.StatusTooManyRequests {
		out.Header.Set("Retry-After", "2")
	}
	return out
}

// later is a body of which each piece comes some time after it was written.
func later(body io.ReadCloser, by time.Duration) io.ReadCloser {
	type piece struct {
		data []byte
		due  time.Time
	}
	reader, writer := io.Pipe()
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 32<<10)
			n, err := body.Read(data)
			pieces <- piece{data[:n], time.Now().Add(by)}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		for p := range pieces {
			<-time.After(time.Until(p.due))
			_, _ = writer.Write(p.data) // The client may have gone.
		}
		_ = writer.Close() // It has no error.
	}()
	return delayed{reader, body}
}

type delayed struct {
	*io.PipeReader
	body io.Closer
}

// Close implements [io.Closer].
func (d delayed) Close() error {
	return errors.Join(d.body.Close(), d.PipeReader.Close())
}

// stalled is a body that has nothing until it ends.
type stalled struct{ io.ReadCloser }

// Read implements [io.Reader].
func (s stalled) Read(into []byte) (int, error) {
	for {
		if _, err := s.ReadCloser.Read(into); err != nil {
			return 0, err //nolint:wrapcheck // It is that of the server.
		}
	}
}

// short is a body that breaks after some pieces.
type short struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (s *short) Read(into []byte) (int, error) {
	if s.left--; s.left < 0 {
		return 0, fmt.Errorf("%w after some events", errReset)
	}
	return s.ReadCloser.Read(into) //nolint:wrapcheck // It is that of the server.
}
