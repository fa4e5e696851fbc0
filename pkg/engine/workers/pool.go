package workers

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Moment is how long an answer may take before whoever waits for it gives his place
// away.
const Moment = time.Second

// most is how many there are in a pool at the most, with those who wait, for each place.
const most = 16

// Pool is a number of workers. It is safe for concurrent use.
type Pool struct {
	size  int
	clock clock.Clock
	all   sync.WaitGroup
	work  func(ctx context.Context) (more bool)

	mu      sync.Mutex
	members int          // guarded by mu
	present int          // those who do not wait; guarded by mu
	away    map[spot]int // how many wait for what; guarded by mu
}

// New returns a pool with so many places.
func New(size int, clock clock.Clock) *Pool {
	return &Pool{size: size, clock: clock, away: map[spot]int{}}
}

// Run has all of them work until there is no more, and returns when the last one has
// come to an end. It is called once. Only calls that are made with the context which
// work is given count as those of the pool.
func (c *Pool) Run(ctx context.Context, work func(ctx context.Context) (more bool)) {
	c.mu.Lock()
	c.work = work
	for range c.size {
		c.hire(ctx)
	}
	c.mu.Unlock()
	c.all.Wait()
}

// hire adds one; the lock is held.
func (c *Pool) hire(ctx context.Context) {
	c.members++
	c.present++
	m := &member{pool: c, at: map[spot]int{}, substitute: func() { c.hire(ctx) }}
	own := context.WithValue(ctx, memberKey{}, m)
	c.all.Go(func() {
		for over := false; !over; {
			over = c.ends(!c.work(own))
		}
	})
}

// ends lets one go: who has no more work, or is one too many.
func (c *Pool) ends(idle bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !idle && c.present <= c.size {
		return false
	}
	c.members--
	c.present--
	return true
}

// member is one of the pool.
type member struct {
	pool *Pool
	// substitute adds another one, under the lock of the pool.
	substitute func()

	waits int          // for so many answers that do not come; guarded by the crew's mu
	at    map[spot]int // for what; guarded by the crew's mu
}

type memberKey struct{}

// leave gives the place away; the lock is held.
func (m *member) leave(spots []spot) {
	c := m.pool
	for _, s := range spots {
		if m.at[s]++; m.at[s] == 1 {
			c.away[s]++
		}
	}
	if m.waits++; m.waits > 1 {
		return // Of several calls at the same time, another is slow too.
	}
	c.present--
	if c.present < c.size && c.members < most*c.size {
		m.substitute()
	}
}

// comeBack is the reverse; the lock is held.
func (m *member) comeBack(spots []spot) {
	c := m.pool
	for _, s := range spots {
		if m.at[s]--; m.at[s] > 0 {
			continue
		}
		delete(m.at, s)
		if c.away[s]--; c.away[s] == 0 {
			delete(c.away, s)
		}
	}
	if m.waits--; m.waits == 0 {
		c.present++
	}
}
