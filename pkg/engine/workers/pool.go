package workers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// ErrCrowded is why something is not asked now.
var ErrCrowded = errors.New("too many earlier requests of the kind are still without an answer, so it waits")

// Moment is how long a worker waits for an answer before it gives its place away.
const Moment = time.Second

// most is how many workers there are at most for each place, with those that wait.
const most = 16

// Pool is a number of workers. It is a [guard.Guard], and its own [guard.Check], as it remembers nothing of an attempt. It is
// safe for concurrent use.
type Pool struct {
	guard.Pass
	size int
	// hire adds a worker, which leaves when there is no more work, or it is one too many. The lock is held; set by Run.
	hire func()

	mu      sync.Mutex
	members int          // guarded by mu
	present int          // those that do not wait; guarded by mu
	away    map[spot]int // how many wait for what; guarded by mu
}

// member is a worker of a pool. While it waits for several answers at the same time, they are for the like.
type member struct {
	pool  *Pool
	calls int    // that wait; guarded by the pool's mu
	spots []spot // where the first of them does; guarded by the pool's mu
}

type memberKey struct{}

// Purpose is what a call to the API server is for.
type Purpose struct {
	GVR   schema.GroupVersionResource
	Rules []plan.Rule // none where it is not known
}

// PurposeOf is what an operation is sent for.
func PurposeOf(o plan.Operation) Purpose { return Purpose{GVR: o.Target.GVR, Rules: o.Rules} }

// spot is where those crowd that wait: a resource, a rule, or a rule at a resource. Rules that send one request together are
// as one.
type spot struct {
	gvr   schema.GroupVersionResource
	rules string
}

// spots are where a call counts. Of rules together it is not known which one is slow.
func (p Purpose) spots() []spot {
	out := []spot{{gvr: p.GVR}}
	if len(p.Rules) > 0 {
		var all strings.Builder
		for _, rule := range p.Rules {
			all.WriteString(rule.ID() + " ")
		}
		out = append(out, spot{rules: all.String()}, spot{p.GVR, all.String()})
	}
	return out
}

// New returns a pool with so many places.
func New(size int) *Pool { return &Pool{size: size, away: map[spot]int{}} }

// Run has all of them work until there is no more, and returns when the last one has come to an end. It is called once. Only
// calls that are made with the context which work is given count as those of the pool.
func (p *Pool) Run(ctx context.Context, work func(ctx context.Context) (more bool)) {
	var all sync.WaitGroup
	p.hire = func() {
		p.members++
		p.present++
		own := context.WithValue(ctx, memberKey{}, &member{pool: p})
		all.Go(func() {
			for stays := true; stays; {
				more := work(own)
				p.mu.Lock()
				if stays = more && p.present <= p.size; !stays {
					p.members--
					p.present--
				}
				p.mu.Unlock()
			}
		})
	}
	p.mu.Lock()
	for range p.size {
		p.hire()
	}
	p.mu.Unlock()
	all.Wait()
}

// Crowded reports whether as many wait as may for calls like this one: for its resource, its rules, and each of them.
//
// A slow rule leaves room for others at its resources, also if it was together with them at first, and a slow resource leaves
// its rules room elsewhere.
func (p *Pool) Crowded(purpose Purpose) bool {
	near := purpose.spots()
	for _, rule := range purpose.Rules {
		near = append(near, Purpose{GVR: purpose.GVR, Rules: []plan.Rule{rule}}.spots()...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range near {
		room := 4 * p.size // Almost as many more may be about to wait.
		if s.rules != "" && s.gvr != (schema.GroupVersionResource{}) {
			room = p.size
		}
		if p.away[s] >= room {
			return true
		}
	}
	return false
}

// In reports whether a context is that of a worker.
func In(ctx context.Context) bool {
	_, is := ctx.Value(memberKey{}).(*member)
	return is
}

// Call does something that may take long. Where the context is that of a worker, and it does take long, another one takes its
// place meanwhile.
func Call(ctx context.Context, purpose Purpose, do func()) {
	m, is := ctx.Value(memberKey{}).(*member)
	if !is {
		do()
		return
	}
	left := make(chan struct{}, 1) // has a value once the place was given away
	timer := clock.RealClock{}.AfterFunc(Moment, func() {
		m.leave(purpose)
		left <- struct{}{}
	})
	defer func() { // Also if it panics.
		if !timer.Stop() {
			<-left
			m.comeBack()
		}
	}()
	do()
}

// leave gives the place away. One that waits for several answers at the same time waits once.
func (m *member) leave(purpose Purpose) {
	p := m.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.calls++; m.calls > 1 {
		return
	}
	m.spots = purpose.spots()
	for _, s := range m.spots {
		p.away[s]++
	}
	if p.present--; p.present < p.size && p.members < most*p.size {
		p.hire()
	}
}

// comeBack is the reverse.
func (m *member) comeBack() {
	p := m.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.calls--; m.calls > 0 {
		return
	}
	for _, s := range m.spots {
		if p.away[s]--; p.away[s] == 0 {
			delete(p.away, s)
		}
	}
	p.present++
}

// Begin implements [guard.Guard]: operations do not wait for answers that do not come, if many do so already for the like. Who
// settles has nothing better to do than to wait.
func (p *Pool) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	if a.Settling {
		return guard.Pass{}, time.Time{}
	}
	return p, time.Time{}
}

// Admit implements [guard.Check].
func (p *Pool) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	if p.Crowded(PurposeOf(o)) {
		return &guard.Delay{Err: ErrCrowded, Retry: true}
	}
	return nil
}
