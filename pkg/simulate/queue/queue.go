// Package queue has a work queue for one goroutine, which says what comes next by what
// was added alone: not by a clock, and not by how goroutines take turns.
package queue

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
)

// Order is the order in which what is ready comes out.
type Order uint8

// The orders. What settles to the same in both is unlikely to depend on the order.
const (
	FIFO Order = iota
	// Reversed is the last first, of what is there together: what is added meanwhile waits
	// until all of that has come out. As a stack it would give one that each of the others
	// adds a turn after each of them, and those at the bottom none before that ends.
	Reversed
)

// Queue implements [workqueue.TypedDelayingInterface] without a clock. An item is
// in it once, and while it is processed an Add queues it again for when it is done, as
// client-go has it. What is added with a delay is behind everything that is ready: it
// becomes ready when nothing else is, the shortest delay first, however long that is. To
// delay what is ready changes nothing, and what is added without a delay is delayed no
// more.
//
// Nothing blocks, and no goroutine is started. A Queue is for one goroutine.
type Queue[T comparable] struct {
	order Order

	ready   []T          // in the order of adding
	batch   int          // how many of ready come before the rest, if reversed
	delayed []delayed[T] // in the order of coming out
	dirty   sets.Set[T]  // those ready, and those to be so once they are done
	taken   sets.Set[T]  // those that are processed
	down    bool
	chose   bool
}

type delayed[T comparable] struct {
	item T
	wait time.Duration
}

// New returns an empty queue.
func New[T comparable](order Order) *Queue[T] {
	return &Queue[T]{order: order, dirty: sets.Set[T]{}, taken: sets.Set[T]{}}
}

var _ workqueue.TypedDelayingInterface[int] = (*Queue[int])(nil)

// Add makes the item ready, or queues it again for when it is done.
func (q *Queue[T]) Add(item T) {
	if q.down {
		return
	}
	q.hurry(item)
	if q.dirty.Has(item) {
		return
	}
	q.dirty.Insert(item)
	if !q.taken.Has(item) {
		q.ready = append(q.ready, item)
	}
}

// AddAfter puts the item behind everything that is ready. Of two delays the shorter
// counts; one that is not positive is none.
func (q *Queue[T]) AddAfter(item T, wait time.Duration) {
	switch {
	case wait <= 0:
		q.Add(item)
		return
	case q.down || q.dirty.Has(item):
		return
	}
	if slices.ContainsFunc(q.delayed, func(d delayed[T]) bool { return d.item == item && d.wait <= wait }) {
		return
	}
	q.hurry(item)
	at, _ := slices.BinarySearchFunc(q.delayed, wait, func(d delayed[T], wait time.Duration) int {
		q.chose = q.chose || d.wait == wait
		if d.wait < wait || d.wait == wait && q.order == FIFO {
			return -1
		}
		return 1
	})
	q.delayed = slices.Insert(q.delayed, at, delayed[T]{item, wait})
}

// hurry takes the item from those that are delayed.
func (q *Queue[T]) hurry(item T) {
	q.delayed = slices.DeleteFunc(q.delayed, func(d delayed[T]) bool { return d.item == item })
}

// Get returns what comes next, for which Done has to be called, or says that there is
// nothing, as a queue does that is shut down. More may be added after that.
func (q *Queue[T]) Get() (item T, nothing bool) {
	for len(q.ready) == 0 && len(q.delayed) > 0 {
		q.Add(q.delayed[0].item)
	}
	if len(q.ready) == 0 {
		return item, true
	}
	q.chose = q.chose || len(q.ready) > 1 // A batch of which one has come out has chosen before.
	at := 0
	if q.order == Reversed {
		if q.batch == 0 {
			q.batch = len(q.ready)
		}
		q.batch--
		at = q.batch
	}
	item = q.ready[at]
	q.ready = slices.Delete(q.ready, at, at+1)
	q.dirty.Delete(item)
	q.taken.Insert(item)
	return item, false
}

// Done ends the processing of the item, which is ready if it was added meanwhile.
func (q *Queue[T]) Done(item T) {
	if !q.taken.Has(item) {
		return
	}
	q.taken.Delete(item)
	if q.dirty.Has(item) {
		q.ready = append(q.ready, item)
	}
}

// Len counts what is ready, without what is delayed.
func (q *Queue[T]) Len() int {
	return len(q.ready)
}

// Chose reports whether the order has made a difference to anything that came out: if
// not, the other order gives the same.
func (q *Queue[T]) Chose() bool {
	return q.chose
}

// ShutDown has the queue ignore what is added from now on, and forget what is delayed.
// What is ready still comes out.
func (q *Queue[T]) ShutDown() {
	q.down = true
	q.delayed = nil
}

// ShutDownWithDrain is ShutDown: it does not wait either, since who would have to
// process the rest is who calls it.
func (q *Queue[T]) ShutDownWithDrain() { q.ShutDown() }

// ShuttingDown reports whether it was shut down.
func (q *Queue[T]) ShuttingDown() bool {
	return q.down
}
