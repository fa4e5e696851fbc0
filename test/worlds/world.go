package worlds

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// World is a cluster with users and replicas of the program. It is for the first goroutine of a bubble, which carries out the requests.
type World struct {
	server  *apiserver.Server
	set     *rules.Set // that replicas have in a file
	stored  *storage.World
	user    dynamic.Interface // of users, whom nothing disturbs
	history *history
	choose  func(n int) int // which of n requests is next
	faults  []Faults        // of the replicas, in the order in which they start
	places  []*place
	rested  int            // how many requests there were when there was nothing to do any more
	state   map[string]any // in the end, see look
	record  []*request     // of another life of this world, which it follows
	strayed bool           // it could not
	moment  time.Time      // of the last request
	atOnce  int            // how many there have been at that moment
	asked   chan struct{}  // has a value when there may be a request to carry out

	mu       sync.Mutex
	replicas []*replica // all that there have been; guarded by mu
	waiting  []*errand  // guarded by mu
}

// newWorld returns a world without objects, and without replicas.
func newWorld(server *apiserver.Server, set *rules.Set, choose func(n int) int, faults []Faults) (*World, error) {
	w := &World{
		server: server, set: set, stored: storage.NewWorld(clock.RealClock{}), history: &history{}, choose: choose, faults: faults,
		asked: make(chan struct{}, 1),
	}
	w.stored.Remember()
	own := http.RoundTripper(roundTripper(func(r *http.Request) (*http.Response, error) {
		return w.arrive(w.history.begin(user, r), r)
	}))
	var err error
	if w.user, err = dynamic.NewForConfig(connected(own)); err != nil {
		return nil, fmt.Errorf("making a client of users: %w", err)
	}
	return w, nil
}

func connected(through http.RoundTripper) *rest.Config {
	return &rest.Config{Host: "http://world", Transport: through, QPS: -1}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// arrive has the API server carry a request out.
func (w *World) arrive(one *request, r *http.Request) (*http.Response, error) {
	out, err := w.server.Transport(w.stored).RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // It is that of the client.
	}
	return out, w.history.arrived(one, out)
}

// pass lets time go by, and a little more: which of two timers of one moment is first, the Go runtime draws by lot.
func (w *World) pass(d time.Duration) { w.serve(time.After(d+13*time.Microsecond), math.MaxInt) }

// passRequests lets some requests be carried out, or a second go by if there are fewer: what comes next comes between two that belong together.
func (w *World) passRequests(n int) { w.serve(time.After(time.Second), n) }

// mostAtOnce is how many requests there may be at one moment. What sends more goes round in a circle.
const mostAtOnce = 20_000

// serve carries requests out, one at a time and each when nothing else moves, until there is a value, or the end, of a channel, or so
// many requests have been carried out.
func (w *World) serve(until <-chan time.Time, most int) {
	over := false
	for served := 0; served < most; {
		synctest.Wait()
		if now := time.Now(); !now.Equal(w.moment) {
			w.moment, w.atOnce = now, 0
		}
		if next := w.next(); next != nil {
			if w.atOnce++; w.atOnce > mostAtOnce {
				panic("requests go on and on, and no time goes by")
			}
			w.carry(next)
			served++
			continue
		}
		if over {
			return
		}
		select {
		case <-until:
			over = true
		case <-w.asked:
		}
	}
}

// place is where a replica runs. What ends is started again, as a kubelet does.
type place struct {
	stop  context.CancelFunc
	ended chan struct{}

	mu      sync.Mutex
	replica *replica // guarded by mu
}

// run starts replicas, which elect a leader where there are several.
func (w *World) run(ctx context.Context, replicas int) error {
	for range replicas {
		first, err := w.newReplica(replicas > 1)
		if err != nil {
			return err
		}
		working, stop := context.WithCancel(ctx)
		p := &place{stop: stop, ended: make(chan struct{}), replica: first}
		w.places = append(w.places, p)
		go func() {
			defer close(p.ended)
			for {
				p.replica.run(working) // Nobody else sets it.
				if working.Err() != nil {
					return
				}
				<-time.After(time.Second + 29*time.Microsecond)
				next, err := w.newReplica(replicas > 1)
				if err != nil {
					panic(err) // The first could be made.
				}
				p.mu.Lock()
				p.replica = next
				p.mu.Unlock()
			}
		}()
	}
	return nil
}

// at is the replica of a place.
func (w *World) at(number int) *replica {
	p := w.places[number%len(w.places)]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.replica
}

// end stops all replicas in order.
func (w *World) end() {
	ended := make(chan time.Time)
	go func() {
		defer close(ended)
		for _, p := range w.places {
			p.stop()
		}
		for _, p := range w.places {
			<-p.ended
		}
	}()
	w.serve(ended, math.MaxInt)
}
