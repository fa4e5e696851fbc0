package priorityqueue

import (
	"cmp"
	"container/list"
	"sync"
)

// Turns is how often something is taken from what can wait, at least: one turn of so
// many.
const Turns = 8

// Queue holds what waits for a worker in two lanes, each in the order in which it was filled. It implements the storage of
// client-go's work queue. It is safe for concurrent use.
type Queue[T comparable] struct {
	mu           sync.Mutex
	fresh, later *list.List  // of T; guarded by mu
	of           map[T]entry // guarded by mu
	hurried      map[T]bool  // that are not in a lane yet; guarded by mu
	taken        int         // from fresh since something was taken from later; guarded by mu
	number       uint64      // of the last item that was added; guarded by mu
}

// entry is an item that waits, or that was taken and is not finished, or both.
type entry struct {
	lane    *list.List // where it waits; nil while it is in hand, or was announced and not added yet
	element *list.Element
	// waits is the number of an item that waits, or will as soon as it is not in hand, and taken that of one in hand; zero is for
	// neither.
	waits, taken uint64
}

// New returns an empty queue.
func New[T comparable]() *Queue[T] {
	return &Queue[T]{fresh: list.New(), later: list.New(), of: map[T]entry{}, hurried: map[T]bool{}}
}

// Hurry has an item that is added next go to the fresh lane, also if it is waiting in the other. An item that is taken in
// between is not late: whoever took it sees what it was to hurry for.
func (q *Queue[T]) Hurry(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hurried[item] = true
}

// Announce numbers an item that is about to be added: while it is in hand, the work queue does not say that it was.
func (q *Queue[T]) Announce(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.announce(item)
}

func (q *Queue[T]) announce(item T) {
	if e := q.of[item]; e.waits == 0 {
		q.number++
		e.waits = q.number
		q.of[item] = e
	}
}

// Push implements [k8s.io/client-go/util/workqueue.Queue].
func (q *Queue[T]) Push(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.announce(item)
	e := q.of[item]
	if e.lane = q.later; q.hurried[item] {
		e.lane = q.fresh
		delete(q.hurried, item)
	}
	e.element = e.lane.PushBack(item)
	q.of[item] = e
}

// Touch implements the same: what hurries now overtakes what can wait, and nothing falls back.
func (q *Queue[T]) Touch(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	hurries := q.hurried[item]
	delete(q.hurried, item)
	if e := q.of[item]; hurries && e.lane == q.later {
		q.later.Remove(e.element)
		e.lane, e.element = q.fresh, q.fresh.PushBack(item)
		q.of[item] = e
	}
}

// Len implements the same.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fresh.Len() + q.later.Len()
}

// Pop implements the same; there must be something. Who takes an item calls Finish once it is done.
func (q *Queue[T]) Pop() T {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.fresh
	if q.taken++; q.later.Len() > 0 && (q.fresh.Len() == 0 || q.taken >= Turns) {
		from, q.taken = q.later, 0
	}
	item, _ := from.Remove(from.Front()).(T)
	q.of[item] = entry{taken: q.of[item].waits}
	delete(q.hurried, item)
	return item
}

// Finish is for an item that was taken, before the work queue is told that it is done.
func (q *Queue[T]) Finish(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.of[item]
	if e.taken = 0; e.waits == 0 {
		delete(q.of, item)
	} else {
		q.of[item] = e
	}
}

// Number is the last that was given: items that are added from now on have greater ones.
func (q *Queue[T]) Number() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.number
}

// Idle reports whether nothing waits, and nothing is in hand.
func (q *Queue[T]) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.of) == 0
}

// Unfinished is what waits, and what was taken and is not finished, each with the number of when it was added first.
func (q *Queue[T]) Unfinished() map[T]uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make(map[T]uint64, len(q.of))
	for item, e := range q.of {
		out[item] = cmp.Or(e.taken, e.waits)
	}
	return out
}
