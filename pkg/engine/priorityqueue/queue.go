package priorityqueue

import (
	"container/list"
	"sync"
)

// Turns is how often something is taken from what can wait, at least: one turn of so
// many.
const Turns = 8

// Queue holds what waits for a worker in two lanes, each in the order in which it was
// filled. It implements the storage of client-go's work queue, which calls its methods
// under a lock; Hurry may be called at any time.
type Queue[T comparable] struct {
	fresh, later *list.List // of T
	at           map[T]place
	taken        int // from fresh since something was taken from later

	mu      sync.Mutex
	hurried map[T]bool // that are not in a lane yet; guarded by mu
}

// place is where an element is.
type place struct {
	lane    *list.List
	element *list.Element
}

// New returns an empty queue.
func New[T comparable]() *Queue[T] {
	return &Queue[T]{fresh: list.New(), later: list.New(), at: map[T]place{}, hurried: map[T]bool{}}
}

// Hurry has an item that is added next go to the fresh lane, also if it is waiting in
// the other. An item that is taken in between is not late: whoever took it sees what it
// was to hurry for.
func (q *Queue[T]) Hurry(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hurried[item] = true
}

func (q *Queue[T]) hurries(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	hurries := q.hurried[item]
	delete(q.hurried, item)
	return hurries
}

// Push implements [k8s.io/client-go/util/workqueue.Queue].
func (q *Queue[T]) Push(item T) {
	lane := q.later
	if q.hurries(item) {
		lane = q.fresh
	}
	q.at[item] = place{lane, lane.PushBack(item)}
}

// Touch implements the same: what hurries now overtakes what can wait, and nothing
// falls back.
func (q *Queue[T]) Touch(item T) {
	known, waits := q.at[item]
	if !q.hurries(item) || !waits || known.lane == q.fresh {
		return
	}
	q.later.Remove(known.element)
	q.at[item] = place{q.fresh, q.fresh.PushBack(item)}
}

// Len implements the same.
func (q *Queue[T]) Len() int { return len(q.at) }

// Pop implements the same; there must be something.
func (q *Queue[T]) Pop() T {
	lane := q.next()
	first := lane.Front()
	lane.Remove(first)
	item, _ := first.Value.(T)
	delete(q.at, item)
	q.mu.Lock()
	delete(q.hurried, item)
	q.mu.Unlock()
	return item
}

// next is the lane whose turn it is.
func (q *Queue[T]) next() *list.List {
	if q.later.Len() > 0 && (q.fresh.Len() == 0 || q.taken >= Turns-1) {
		q.taken = 0
		return q.later
	}
	q.taken++
	return q.fresh
}
