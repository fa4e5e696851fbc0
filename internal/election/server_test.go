package election

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// The times of the elections of the tests.
const (
	lease    = 15 * time.Second
	deadline = 10 * time.Second
	retry    = 2 * time.Second
)

// server is an API server with one Lease, as far as an election can tell.
type server struct {
	mu       sync.Mutex
	lease    *coordinationv1.Lease // nil for none
	holders  []string              // each that the lease has had, in order
	version  int
	watchers map[*io.PipeWriter]bool
	requests map[string]int // by method; a watch is WATCH
}

func newServer() *server {
	return &server{watchers: map[*io.PipeWriter]bool{}, requests: map[string]int{}}
}

// link is how one candidate reaches the server. Its faults are nil for none; they
// see every request before the server does, and every answer after it.
type link struct {
	server *server
	mu     sync.Mutex
	before func(verb string) *http.Response
	after  func(verb string) error
}

var errBroken = errors.New("the connection is broken")

func (l *link) set(before func(string) *http.Response, after func(string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

// cut lets nothing through any more, and nobody know of it but by the timeout.
func (l *link) cut() {
	l.set(func(string) *http.Response { return hang }, nil)
}

// hang stands for no answer at all.
var hang = &http.Response{}

func (l *link) RoundTrip(request *http.Request) (*http.Response, error) {
	verb := request.Method
	if request.URL.Query().Get("watch") != "" {
		verb = "WATCH"
	}
	l.mu.Lock()
	before, after := l.before, l.after
	l.mu.Unlock()
	if before != nil {
		switch response := before(verb); response {
		case nil:
		case hang:
			<-request.Context().Done()
			return nil, request.Context().Err()
		default:
			return response, nil
		}
	}
	response := l.server.answer(verb, request)
	if after != nil {
		if err := after(verb); err != nil {
			return nil, err
		}
	}
	return response, request.Context().Err() // Nobody waits for the answer then.
}

func (s *server) answer(verb string, request *http.Request) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[verb]++
	var sent coordinationv1.Lease
	if request.Body != nil {
		if err := json.NewDecoder(request.Body).Decode(&sent); err != nil {
			return status(http.StatusBadRequest, metav1.StatusReasonBadRequest)
		}
	}
	switch {
	case verb == "WATCH":
		return s.watch(request)
	case verb == http.MethodPost && s.lease != nil:
		return status(http.StatusConflict, metav1.StatusReasonAlreadyExists)
	case verb == http.MethodPost:
		return answer(http.StatusCreated, s.store(&sent, "ADDED"))
	case s.lease == nil:
		return status(http.StatusNotFound, metav1.StatusReasonNotFound)
	case verb == http.MethodPut && sent.ResourceVersion != s.lease.ResourceVersion:
		return status(http.StatusConflict, metav1.StatusReasonConflict)
	case verb == http.MethodPut:
		return answer(http.StatusOK, s.store(&sent, "MODIFIED"))
	}
	return answer(http.StatusOK, s.lease)
}

func (s *server) store(object *coordinationv1.Lease, event string) *coordinationv1.Lease {
	s.version++
	object = object.DeepCopy()
	object.ResourceVersion = strconv.Itoa(s.version)
	s.lease = object
	s.holders = slices.Compact(append(s.holders, ptr.Deref(object.Spec.HolderIdentity, "")))
	s.tell(event, object)
	return object
}

// tell waits for nobody, and forgets who does not listen any more.
func (s *server) tell(event string, object any) {
	line := fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", event, text(object))
	for w := range s.watchers {
		go func() { _, _ = io.WriteString(w, line) }()
	}
}

func (s *server) watch(request *http.Request) *http.Response {
	from, to := io.Pipe()
	s.watchers[to] = true
	go func() {
		<-request.Context().Done()
		_ = to.CloseWithError(request.Context().Err())
	}()
	if s.lease != nil && request.URL.Query().Get("resourceVersion") != s.lease.ResourceVersion {
		line := fmt.Sprintf(`{"type":"ADDED","object":%s}`+"\n", text(s.lease))
		go func() { _, _ = io.WriteString(to, line) }()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: from}
}

// endWatches ends them all, as a server does that goes down.
func (s *server) endWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		_ = w.Close()
	}
	clear(s.watchers)
}

// change lets somebody else write; nil deletes the lease.
func (s *server) change(with func(*coordinationv1.Lease) *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := with(s.lease.DeepCopy())
	if changed == nil {
		s.tell("DELETED", s.lease)
		s.lease = nil
		return
	}
	s.store(changed, "MODIFIED")
}

func (s *server) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[verb]
}

func (s *server) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		return "no lease"
	}
	return *s.lease.Spec.HolderIdentity
}

func text(object any) string {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // No object of the tests is like that.
	}
	return string(data)
}

func answer(code int, object any) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text(object)))}
}

func status(code int, reason metav1.StatusReason) *http.Response {
	return answer(code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason),
	})
}

// process is a candidate, and what became of it.
type process struct {
	*Candidate
	link    *link
	fence   *Fence
	leads   chan time.Time // when it began to lead
	windsUp chan struct{}  // lead returns once it may, after its context has ended
	stop    func()
	done    chan struct{}
	err     error // of Run, once done is closed
	cause   error // of the end of lead's context, once done is closed
}

// newProcess returns one that does not run. Its lead returns at once when it is
// to end.
func (s *server) newProcess(t *testing.T) *process {
	t.Helper()
	p := &process{
		link: &link{server: s}, fence: NewFence(deadline),
		leads: make(chan time.Time, 1), windsUp: make(chan struct{}), done: make(chan struct{}),
	}
	close(p.windsUp)
	candidate, err := New(&rest.Config{Host: "http://api", Transport: p.link, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, Options{
		Namespace: "system", Name: "test", Lease: lease, Retry: retry, Fence: p.fence, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Candidate = candidate
	return p
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// times are those of the lease.
func (s *server) times() (acquired, renewed time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.Spec.AcquireTime.Time, s.lease.Spec.RenewTime.Time
}
