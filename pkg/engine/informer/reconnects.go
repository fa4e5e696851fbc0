package informer

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

const (
	// firstWait is how long an informer waits after the first request that nobody answers. It is doubled with each attempt.
	firstWait = 800 * time.Millisecond
	// longestWait bounds it, as that of a reflector.
	longestWait = 30 * time.Second
	// spread is the time within which all send a request when one has been answered.
	spread = time.Second
)

// LongestWait bounds the back-off of each of so many clients whose requests get no answer: five seconds, or more if together they
// would send more than ten requests in a second.
func LongestWait(waiting int) time.Duration {
	return max(5*time.Second, time.Duration(waiting)*time.Second/10)
}

// reconnects has the informers that nobody answers try again together: when one of them is answered, the API server is back for
// all. The zero value is ready. It is safe for concurrent use.
type reconnects struct {
	mu      sync.Mutex
	next    chan struct{} // closed when an informer is answered that was not before; nil where nobody asks; guarded by mu
	waiting int           // informers; guarded by mu
}

// answered returns a channel that is closed when an informer is answered that was not before.
func (c *reconnects) answered() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// announce is called when an informer is answered that was not before.
func (c *reconnects) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// wait waits after a request that nobody answered, the first one of which is attempt 0. It ends soon after the channel is closed, which
// is of the time before the request. It reports whether to send the request again: the context may be done.
func (c *reconnects) wait(ctx context.Context, attempt int, answered <-chan struct{}) bool {
	c.mu.Lock()
	c.waiting++
	longest := min(LongestWait(c.waiting), longestWait)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.waiting--
		c.mu.Unlock()
	}()
	var timer clock.RealClock
	select {
	case <-timer.After(wait.Jitter(min(firstWait<<min(attempt, 6), longest), 1)):
	case <-answered:
		select {
		case <-timer.After(rand.N(spread)): //nolint:gosec // It spreads requests.
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
