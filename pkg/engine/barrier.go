package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Why it cannot be said yet that all objects have been looked at.
var (
	errIncomplete = errors.New("a cache of what rules watch or read is not complete")
	errLate       = errors.New("an object waits for its last write to be seen before its rules look at it")
)

// barrier is how it is known that what was queued has been done. It is safe for
// concurrent use.
type barrier struct {
	// turn is held while a key is taken from the queue, so that keys are in hand in the
	// order in which they were queued.
	turn chan struct{}

	mu     sync.Mutex
	inHand map[chan struct{}]bool        // closed when a worker is done with its key; guarded by mu
	armed  int                           // how often; guarded by mu
	passed map[types.UID]chan<- struct{} // by the key that comes out of the queue; guarded by mu
	late   map[Key]bool                  // that the rules in effect have not looked at; guarded by mu
}

func newBarrier() *barrier {
	return &barrier{
		turn: make(chan struct{}, 1), inHand: map[chan struct{}]bool{},
		passed: map[types.UID]chan<- struct{}{}, late: map[Key]bool{},
	}
}

// take returns the next key, and a function to be called when that is done.
func (b *barrier) take(get func() (key Key, shutdown bool)) (key Key, done func(), shutdown bool) {
	b.turn <- struct{}{}
	defer func() { <-b.turn }()
	if key, shutdown = get(); shutdown {
		return key, nil, true
	}
	over := make(chan struct{})
	b.mu.Lock()
	b.inHand[over] = true
	b.mu.Unlock()
	return key, func() {
		b.mu.Lock()
		delete(b.inHand, over)
		b.mu.Unlock()
		close(over)
	}, false
}

// arm returns a key to be queued, and a channel that is closed when it comes out of
// the queue. It is another each time: one that is still in the queue is ahead of what
// was queued since.
func (b *barrier) arm() (Key, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed++
	key, passed := Key{UID: types.UID(strconv.Itoa(b.armed))}, make(chan struct{})
	b.passed[key.UID] = passed
	return key, passed
}

// isBarrier reports whether the key is of no object.
func (k Key) isBarrier() bool { return k.GVR.Resource == "" }

// pass tells who waits for the key.
func (b *barrier) pass(key Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := b.passed[key.UID]; passed != nil {
		close(passed)
	}
	delete(b.passed, key.UID)
}

// passOver notes an object that the rules in effect have still to look at.
func (b *barrier) passOver(key Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late[key] = true
}

// looked notes that they have, or that it is gone.
func (b *barrier) looked(key Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.late, key)
}

func (b *barrier) working() []chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.inHand))
}

func (b *barrier) isLate() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.late) > 0
}

// swapped returns once all objects are queued that rules which are about to take effect
// are to look at.
func (e *Engine) swapped() {
	e.swap.Lock()
	defer e.swap.Unlock()
}

// lookedAtAll returns once each object that the rules watch has been looked at by
// them, and no worker has older rules in hand.
func (e *Engine) lookedAtAll(ctx context.Context) error {
	if slices.ContainsFunc(e.active.Load().caches(), e.incomplete) {
		return errIncomplete
	}
	e.swapped()
	key, passed := e.barrier.arm()
	e.queue.Add(key)
	if err := wait(ctx, passed); err != nil {
		return err
	}
	for _, over := range e.barrier.working() {
		if err := wait(ctx, over); err != nil {
			return err
		}
	}
	if e.barrier.isLate() {
		return errLate
	}
	return nil
}

func wait(ctx context.Context, over <-chan struct{}) error {
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
