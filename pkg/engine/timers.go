package engine

import (
	"container/heap"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// longestNap bounds how long the timers go without looking at the clock: one that
// is set is noticed within it. Moments are those of the wall clock, and only a timer
// knows how much time really passes.
const longestNap = time.Minute

// overdue is how late a moment may be noticed before the clock must have been set.
// What is due by that is spread over as much, rather than done all at once.
const overdue = 30 * time.Second

// timers are the moments at which time alone changes what rules want, one of each
// object. The zero value has none. It is safe for concurrent use.
type timers struct {
	mu    sync.Mutex
	of    map[Key]*moment // guarded by mu
	queue moments         // guarded by mu
	news  chan struct{}   // guarded by mu; closed when the earliest moment is another
}

// moment is when to look at an object.
type moment struct {
	key Key
	at  time.Time
	pos int // in the queue
}

// set replaces the moment of an object; the zero time removes it.
func (t *timers) set(key Key, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at = at.Round(0) // Of the wall clock alone.
	known := t.of[key]
	switch {
	case known == nil && at.IsZero():
		return
	case known == nil:
		if t.of == nil {
			t.of = map[Key]*moment{}
		}
		t.of[key] = &moment{key: key, at: at}
		heap.Push(&t.queue, t.of[key])
	case at.IsZero():
		heap.Remove(&t.queue, known.pos)
		delete(t.of, key)
	default:
		known.at = at
		heap.Fix(&t.queue, known.pos)
	}
	if t.news != nil && len(t.queue) > 0 && t.queue[0].key == key {
		close(t.news)
		t.news = nil
	}
}

// run tells of each moment when it has come, until the context is done. A moment that
// the clock has jumped over is told with a wait.
func (t *timers) run(ctx context.Context, clock clock.Clock, due func(key Key, wait time.Duration)) {
	seed := maphash.MakeSeed()
	for {
		keys, late, nap, news := t.next(clock.Now())
		for i, key := range keys {
			wait := time.Duration(0)
			if late[i] > overdue {
				wait = time.Duration(maphash.Comparable(seed, key) % uint64(overdue))
			}
			due(key, wait)
		}
		timer := clock.NewTimer(nap)
		select {
		case <-timer.C():
		case <-news:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// next takes what is due, with how late it is, and says how long nothing else is
// unless there is news.
func (t *timers) next(now time.Time) (keys []Key, late []time.Duration, nap time.Duration, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now = now.Round(0)
	nap = longestNap
	for len(t.queue) > 0 {
		first := t.queue[0]
		if first.at.After(now) {
			nap = min(nap, first.at.Sub(now))
			break
		}
		heap.Pop(&t.queue)
		delete(t.of, first.key)
		keys, late = append(keys, first.key), append(late, now.Sub(first.at))
	}
	t.news = make(chan struct{})
	return keys, late, nap, t.news
}

// earliest is when the next is due, zero for never.
func (t *timers) earliest() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return time.Time{}
	}
	return t.queue[0].at
}

// moments implement [heap.Interface], the earliest first.
type moments []*moment

// Len implements [heap.Interface].
func (m *moments) Len() int { return len(*m) }

// Less implements [heap.Interface].
func (m *moments) Less(i, j int) bool { return (*m)[i].at.Before((*m)[j].at) }

// Swap implements [heap.Interface].
func (m *moments) Swap(i, j int) {
	all := *m
	all[i], all[j] = all[j], all[i]
	all[i].pos, all[j].pos = i, j
}

// Push implements [heap.Interface].
func (m *moments) Push(x any) {
	next, _ := x.(*moment)
	next.pos = len(*m)
	*m = append(*m, next)
}

// Pop implements [heap.Interface].
func (m *moments) Pop() any {
	last := len(*m) - 1
	out := (*m)[last]
	(*m)[last] = nil
	*m = (*m)[:last]
	return out
}

// Due is when time alone changes what the rules want of an object, or when it is tried
// again.
type Due struct {
	Key Key
	At  time.Time
}

func (t *timers) all() []Due {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Due, 0, len(t.of))
	for key, moment := range t.of {
		out = append(out, Due{key, moment.at})
	}
	slices.SortFunc(out, func(a, b Due) int {
		if order := a.At.Compare(b.At); order != 0 {
			return order
		}
		return a.Key.Compare(b.Key)
	})
	return out
}
