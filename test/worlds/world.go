package worlds

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// World is a cluster with users and replicas of the program. It is for the first goroutine of a bubble.
type World struct {
	*network
	workload     *workload
	user         dynamic.Interface // of users, whom nothing disturbs
	disturbances []disturbance
	inCluster    bool              // see plan
	accounts     map[string]string // that set objects are to act as, by their names, the first one where there is none
	published    int               // the number of the rules in effect
	unfolded     map[string]int    // how far users are in the cases of examples, by their names
	places       []*place
	rested       int            // how many requests there were when there was nothing to do any more
	state        map[string]any // in the end, see look

	mu       sync.Mutex
	set      *rules.Set // that replicas have in a file; guarded by mu
	replicas []*replica // all that there have been; guarded by mu
}

// newWorld returns a world without objects, and without replicas.
func newWorld(server *apiserver.Server, of *workload, choose func(n int) int, disturbances []disturbance) (*World, error) {
	w := &World{
		network: &network{
			server: server, stored: storage.NewWorld(clock.RealClock{}), history: &history{}, choose: choose, asked: make(chan struct{}, 1),
		},
		workload: of, set: of.sets[0], accounts: map[string]string{}, disturbances: disturbances, unfolded: map[string]int{},
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

// pass lets time go by, and a little more: which of two timers of one moment is first, the Go runtime draws by lot.
func (w *World) pass(d time.Duration) { w.serve(time.After(d+13*time.Microsecond), math.MaxInt) }

// passRequests lets some requests be carried, or a second go by if there are fewer: what comes next comes between two that belong together.
func (w *World) passRequests(n int) { w.serve(time.After(time.Second), n) }

// How long a world is left alone in the end: for what was disturbed to be put right, and for nothing to be done any more. A watch that has
// stalled is given up after two minutes, and the next one may stall, too; what failed is tried again within five.
const (
	settling = 15 * time.Minute
	quiet    = 5 * time.Minute
	calming  = 7 * time.Minute // of a world in which nothing was disturbed

	longestBackOff = 5 * time.Minute
)

// settle lets some time go by, in which users do each minute what has to be done. It goes on for longer than a back-off since a request went wrong.
func (w *World) settle(ctx context.Context, left time.Duration) error {
	for ; left > 0; left -= time.Minute {
		since := len(w.history.all)
		if w.pass(time.Minute); w.workload.tend != nil {
			if err := w.workload.tend(ctx, w); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(w.history.all[since:], func(r *request) bool { return r.fault != "" && !strings.Contains(r.query, "watch=true") }) {
			left = max(left, longestBackOff+2*time.Minute)
		}
	}
	return nil
}

// place is where a replica runs. What ends is started again, as a kubelet does.
type place struct {
	stop  context.CancelFunc
	ended chan struct{}

	mu      sync.Mutex
	replica *replica      // guarded by mu
	down    time.Duration // until the next replica starts, a second if it is 0; guarded by mu
}

// beat changes something that no rule is about, as nodes renew their leases all the time: the version of the cluster goes on, and watches get
// bookmarks.
func (w *World) beat(ctx context.Context) {
	at := storage.Change{Resource: schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, Namespace: "kube-node-lease", Name: "node"}
	lease := []byte(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"node","namespace":"kube-node-lease"}}`)
	for ctx.Err() == nil {
		w.stored.Put(at, lease)
		select {
		case <-time.After(20*time.Second + 17*time.Microsecond):
		case <-ctx.Done():
		}
	}
}

// run starts replicas, which elect a leader where there are several.
func (w *World) run(ctx context.Context, replicas int) error {
	go w.beat(ctx)
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
				<-time.After(p.takeDown() + 29*time.Microsecond)
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

// takeDown is until the next replica starts.
func (p *place) takeDown() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	down := max(p.down, time.Second)
	p.down = 0
	return down
}

// current is the replica that runs in the place, or ran last.
func (p *place) current() *replica {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.replica
}

// crash ends the process of a place, and keeps the next one from starting for a while.
func (p *place) crash(down time.Duration) {
	p.mu.Lock()
	p.down = down
	p.mu.Unlock()
	p.current().line.crash()
}

// at is a place, by lot: that of the leader, which is who has written last, or another one.
func (w *World) at(number int) *place {
	if number%2 == 0 {
		for _, r := range slices.Backward(w.history.all) {
			if r.as == user || !r.changes() {
				continue
			}
			if at := slices.IndexFunc(w.places, func(p *place) bool { return p.current().line.as == r.as }); at >= 0 {
				return w.places[at]
			}
			break
		}
	}
	return w.places[number%len(w.places)]
}

// seize has the lease say that another process holds it, as after an edit by hand. That process never renews it.
func (w *World) seize(ctx context.Context) error {
	leases := w.user.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace("system")
	patch := fmt.Appendf(nil, `{"spec":{"holderIdentity":"by-hand","leaseDurationSeconds":%d,"renewTime":%q}}`,
		int(leaseDuration.Seconds()), time.Now().UTC().Format(metav1.RFC3339Micro))
	_, err := leases.Patch(ctx, "dyncontroller", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "user"})
	if apierrors.IsNotFound(err) { // There is none yet.
		return nil
	}
	return err //nolint:wrapcheck // See merge.
}

// replace has the replicas, and those after them, take up other rules of the workload, by lot. What arrives although its client was told that
// it is lost, no program can know of: the rules stay until then.
func (w *World) replace(ctx context.Context, number int) error {
	for w.isBelated() {
		w.pass(time.Second)
	}
	number %= len(w.workload.sets)
	w.history.note(user, reload, strconv.Itoa(number))
	w.published = number
	if w.inCluster {
		return w.publish(ctx, number)
	}
	set := w.workload.sets[number]
	w.mu.Lock()
	w.set = set
	w.mu.Unlock()
	for _, p := range w.places {
		if err := p.current().operator.SetFiles(set); err != nil {
			return fmt.Errorf("giving a replica other rules: %w", err)
		}
	}
	return nil
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
	w.pass(time.Minute) // What is late comes, and finds nobody.
}
