package worlds

import (
	"fmt"
	"net/http"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// World is a cluster with users and replicas of the program. It is for one goroutine of a bubble.
type World struct {
	server  *apiserver.Server
	stored  *storage.World
	user    dynamic.Interface // of users, whom nothing disturbs
	history *history
	replica *replica // the one that runs, nil for none
	started int      // how many replicas there have been
	faults  []Faults // of the replicas, in the order in which they start
}

// newWorld returns a world without objects.
func newWorld(server *apiserver.Server, faults []Faults) (*World, error) {
	w := &World{server: server, stored: storage.NewWorld(clock.RealClock{}), history: &history{}, faults: faults}
	w.stored.Remember()
	user, err := dynamic.NewForConfig(w.config(recorded{server.Transport(w.stored), w.history, "user"}))
	if err != nil {
		return nil, fmt.Errorf("making a client of users: %w", err)
	}
	w.user = user
	return w, nil
}

func (w *World) config(through http.RoundTripper) *rest.Config {
	return &rest.Config{Host: "http://world", Transport: through, QPS: -1}
}

// pass lets time go by.
func (w *World) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// request is one as its client has seen it.
type request struct {
	number int // of all
	at     time.Time
	as     string // user, or the replica
	method string
	path   string
	code   int    // 0 for no answer
	fault  string // why there is none
}

// String is the request as a transcript has it.
func (r request) String() string {
	text := fmt.Sprintf("%4d %s %-8s %-6s %s %d", r.number, r.at.Format("15:04:05.000"), r.as, r.method, r.path, r.code)
	if r.fault != "" {
		text += " " + r.fault
	}
	return text
}

// changes reports whether the request wants to change something.
func (r request) changes() bool { return r.method != http.MethodGet }

// history is all requests, in the order in which they ended. It is safe for concurrent use.
type history struct {
	mu  sync.Mutex
	all []request
}

func (h *history) add(r request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.number = len(h.all) + 1
	h.all = append(h.all, r)
}

// since are the requests after a number.
func (h *history) since(number int) []request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[number:]
}

// recorded is a transport whose requests are in the history.
type recorded struct {
	next http.RoundTripper
	to   *history
	as   string
}

// RoundTrip implements [http.RoundTripper].
func (t recorded) RoundTrip(r *http.Request) (*http.Response, error) {
	one := request{at: time.Now(), as: t.as, method: r.Method, path: r.URL.RequestURI()}
	out, err := t.next.RoundTrip(r)
	if err == nil {
		one.code = out.StatusCode
	} else {
		one.fault = err.Error()
	}
	t.to.add(one)
	return out, err
}
