package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// nap is how often the timers look at the clock: one that is set is noticed within it. Moments are those of the wall clock,
// and only a timer knows how much time really passes.
const nap = time.Minute

// timers are the moments at which time alone changes what rules want, one of each object. They are safe for concurrent use.
type timers struct {
	mu sync.Mutex
	of map[Key]time.Time // guarded by mu
}

// Due is when time alone changes what the rules want of an object, or when it is tried again.
type Due struct {
	Key Key
	At  time.Time
}

// set replaces the moment of an object; the zero time removes it. One that is rounded is of the wall clock alone.
func (t *timers) set(key Key, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.IsZero() {
		delete(t.of, key)
	} else {
		t.of[key] = at
	}
}

// all lists them, the earliest first.
func (t *timers) all() []Due {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Due, 0, len(t.of))
	for key, at := range t.of {
		out = append(out, Due{key, at})
	}
	slices.SortFunc(out, func(a, b Due) int { return cmp.Or(a.At.Compare(b.At), a.Key.Compare(b.Key)) })
	return out
}

// take removes what is due by a moment, and returns it.
func (t *timers) take(by time.Time) (due []Due) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, at := range t.of {
		if !at.After(by) {
			due = append(due, Due{key, at})
			delete(t.of, key)
		}
	}
	return due
}
