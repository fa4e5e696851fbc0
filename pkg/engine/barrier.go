package engine

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
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
	late   map[Key][]plan.Rule           // see passOver; guarded by mu
	sought map[Key]bool                  // of those late, that somebody waits for; guarded by mu
}

func newBarrier() *barrier {
	return &barrier{
		turn: make(chan struct{}, 1), inHand: map[chan struct{}]bool{},
		passed: map[types.UID]chan<- struct{}{}, late: map[Key][]plan.Rule{},
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
func isBarrier(key Key) bool { return key.GVR.Resource == "" }

// pass tells who waits for the key.
func (b *barrier) pass(key Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := b.passed[key.UID]; passed != nil {
		close(passed)
	}
	delete(b.passed, key.UID)
}

// passOver notes an object that the rules in effect have still to look at, or have not
// done with: these, or any of them where none is named. It reports whether somebody
// who waits may find out more now.
func (b *barrier) passOver(key Key, rules []plan.Rule) (freed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, known := b.late[key]
	b.late[key] = rules
	return (!known || !slices.Equal(before, rules)) && b.free(key)
}

// looked notes that they have done with it, or that it is gone, and reports the same.
func (b *barrier) looked(key Key) (freed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.late, key)
	return b.free(key)
}

// free is for an object of which there is news; the lock is held.
func (b *barrier) free(key Key) bool {
	if !b.sought[key] {
		return false
	}
	delete(b.sought, key)
	return len(b.sought) == 0
}

// seek asks of all objects that are late whether they are in the way. Who asks hears of
// it when there is news of each that is.
func (b *barrier) seek(inTheWay func(key Key, rules []plan.Rule) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sought = map[Key]bool{}
	for key, rules := range b.late {
		if inTheWay(key, rules) {
			b.sought[key] = true
		}
	}
}

func (b *barrier) working() []chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.inHand))
}

// swapped returns once all objects are queued that rules which are about to take effect
// are to look at.
func (e *Engine) swapped() {
	e.swap.Lock()
	defer e.swap.Unlock()
}

// lookedAtAll returns once each object that was queued when the rules took effect, or
// since, has been in the hands of a worker with these rules, and no worker has older
// ones in hand. What a worker has in hand is queued again when it is done, so that is
// waited for first.
func (e *Engine) lookedAtAll(ctx context.Context) error {
	e.swapped()
	if err := waitAll(ctx, e.barrier.working()); err != nil {
		return err
	}
	// What waits may overtake the first key, and is then before the second.
	for _, hurry := range []func(Key){func(Key) {}, e.hurry} {
		key, passed := e.barrier.arm()
		hurry(key)
		e.queue.Add(key)
		if err := wait(ctx, passed); err != nil {
			return err
		}
	}
	return waitAll(ctx, e.barrier.working())
}

func waitAll(ctx context.Context, all []chan struct{}) error {
	for _, over := range all {
		if err := wait(ctx, over); err != nil {
			return err
		}
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
