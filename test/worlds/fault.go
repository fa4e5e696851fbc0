package worlds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is what happens to a request, "" for nothing.
type Fault string

// The faults of any request.
const (
	LostRequest Fault = "lost request" // the API server never gets it
	LostAnswer  Fault = "lost answer"  // it has carried it out
	Late        Fault = "late"         // the answer comes some time later
	Slow        Fault = "slow"         // the API server gets it some time later, if the client still waits for the answer
	Belated     Fault = "belated"      // the connection breaks, and the API server gets it some time later, if the process still runs
	Forbidden   Fault = "403"
	Conflict    Fault = "409"
	TooMany     Fault = "429"
	Broken      Fault = "500"
	Unavailable Fault = "503"
	TimedOut    Fault = "504"
	CrashBefore Fault = "crash before" // the process ends, and the API server never gets the request
	CrashAfter  Fault = "crash after"  // the process ends, and the API server has carried it out
)

// The faults of watches.
const (
	Lagging  Fault = "lagging"   // each event comes some time later
	Stalled  Fault = "stalled"   // no event comes, and the connection stays
	CutShort Fault = "cut short" // it breaks after some events
)

// way is what a replica sends requests for.
type way string

// The ways.
const (
	reads   way = "reads" // and questions what it may do
	creates way = "creates"
	patches way = "patches" // and updates
	deletes way = "deletes"
	watches way = "watches"
	leases  way = "leases" // to whom the lease belongs, read or written
	all     way = "requests"
)

// ways are those of single requests, in order.
var ways = []way{reads, creates, patches, deletes, watches, leases}

// possible are the faults that there are of requests of each way.
var possible = map[way][]Fault{
	reads:   {LostRequest, LostAnswer, Late, Slow, TooMany, Broken, Unavailable, TimedOut, CrashBefore},
	creates: {LostRequest, LostAnswer, Late, Slow, Belated, Forbidden, TooMany, Broken, Unavailable, TimedOut, CrashBefore, CrashAfter},
	patches: {LostRequest, LostAnswer, Late, Slow, Belated, Conflict, Forbidden, TooMany, Broken, Unavailable, TimedOut, CrashBefore, CrashAfter},
	deletes: {LostRequest, LostAnswer, Late, Slow, Belated, Conflict, Forbidden, TooMany, Broken, Unavailable, TimedOut, CrashBefore, CrashAfter},
	watches: {LostRequest, Unavailable, Lagging, Stalled, CutShort},
	leases:  {LostRequest, LostAnswer, Late, Slow, Unavailable},
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
	case r.Method == http.MethodPost:
		return creates
	case r.Method == http.MethodDelete:
		return deletes
	default:
		return patches
	}
}

// resourceOf is the resource in a path, "" for none.
func resourceOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if parts = parts[min(len(parts), map[string]int{"api": 2, "apis": 3}[parts[0]]):]; len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) == 0 {
		return ""
	}
	return parts[0]
}

// disturbance is what happens to some requests of a replica: of those of a way and a resource, to the first one and all up to the last one.
type disturbance struct {
	replica  int // its number, in the order in which they start, from 0; that of a trouble is the one that has it
	of       way
	resource string // "" for each
	from, to int    // numbers, from 1
	fault    Fault
	by       time.Duration // how late, of faults that are about that
}

func (d *disturbance) concerns(r *http.Request) bool {
	return (d.of == all || d.of == wayOf(r)) && (d.resource == "" || d.resource == resourceOf(r.URL.Path))
}

// String is the disturbance as a transcript has it.
func (d *disturbance) String() string {
	text := string(d.of)
	if d.resource != "" {
		text += " of " + d.resource
	}
	switch d.to {
	case d.from:
		text += fmt.Sprintf(", %d", d.from)
	case forever:
		text += fmt.Sprintf(", from %d", d.from)
	default:
		text += fmt.Sprintf(", %d to %d", d.from, d.to)
	}
	text += ": " + string(d.fault)
	if d.by > 0 {
		text += " by " + d.by.String()
	}
	return text
}

// forever is the last number of what does not end.
const forever = math.MaxInt

// hit is what happens to one request.
type hit struct {
	taken bool // it is known
	fault Fault
	by    time.Duration
}

// carry has an errand done, and happen to it what is to.
func (h hit) carry(e *errand, arrive func() (*http.Response, error)) {
	if code, err := strconv.Atoi(string(h.fault)); err == nil {
		e.deliver(refusal(e.request, code), nil) //nolint:bodyclose // The client closes it.
		return
	}
	switch h.fault {
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
	switch h.fault {
	case LostAnswer, Belated:
		_ = out.Body.Close() // It is in memory.
		e.deliver(nil, errReset)
		return
	case CrashAfter:
		_ = out.Body.Close() // It is in memory.
		e.line.crash()
		return
	case Late:
		time.AfterFunc(h.by, func() { e.deliver(out, nil) })
		return
	case Lagging:
		out.Body = later(out.Body, h.by)
	case Stalled:
		out.Body = stalled{out.Body}
	case CutShort:
		out.Body = &short{ReadCloser: out.Body, left: 10}
	default: // It comes as it is.
	}
	e.deliver(out, nil)
}

// reasons are those that the API server gives for some codes.
var reasons = map[int]metav1.StatusReason{
	http.StatusForbidden: metav1.StatusReasonForbidden,
	http.StatusConflict:  metav1.StatusReasonConflict, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
}

// refusal is the answer of an API server that does not carry a request out.
func refusal(r *http.Request, code int) *http.Response {
	out := reply(r, code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%q}`, reasons[code], code, http.StatusText(code)))
	if code == http.StatusTooManyRequests {
		out.Header.Set("Retry-After", "2")
	}
	return out
}

// reply is an answer in JSON.
func reply(r *http.Request, code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r,
	}
}

// later is a body of which each piece comes some time after it was written.
func later(body io.ReadCloser, by time.Duration) io.ReadCloser {
	type piece struct {
		data []byte
		due  time.Time
	}
	reader, writer := io.Pipe()
	pieces := make(chan piece, 100)
	go func() {
		defer close(pieces)
		data := make([]byte, 32<<10)
		for {
			n, err := body.Read(data)
			pieces <- piece{bytes.Clone(data[:n]), time.Now().Add(by)}
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
