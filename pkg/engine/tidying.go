package engine

import (
	"context"
	"sync/atomic"
)

// tidying starts and interrupts the work of the housekeeper. It is safe for concurrent use.
type tidying struct {
	wanted   chan struct{}      // has a value when there may be something to do
	anew     atomic.Bool        // objects that have left a selection unseen are to be searched for again
	changing chan struct{}      // has a value while the rules change
	stop     context.CancelFunc // ends what is under way; guarded by changing
}

// begin waits until the rules do not change any more. The context ends when they are about to change again, since a rule may
// come back. Who begins looks up the rules after that.
func (t *tidying) begin(ctx context.Context) (interruptible context.Context, stop context.CancelFunc) {
	t.changing <- struct{}{}
	interruptible, t.stop = context.WithCancel(ctx)
	stop = t.stop
	<-t.changing
	return interruptible, stop
}

// halt is called before the rules change, others wait for their caches, or the inventory is to be read anew, and resume after that.
func (t *tidying) halt() {
	t.changing <- struct{}{}
	t.stop()
}

func (t *tidying) resume() {
	<-t.changing
	t.wake()
}

// wake has the housekeeper look whether it can do more now.
func (t *tidying) wake() {
	select {
	case t.wanted <- struct{}{}:
	default:
	}
}
