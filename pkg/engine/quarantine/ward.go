package quarantine

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Ward is what is known of the rules of one engine that fail for an object. K names the
// objects, and R what is in effect of the rules. It is safe for concurrent use.
type Ward[K, R comparable] struct {
	clock  clock.PassiveClock
	seed   maphash.Seed
	spread Spread[K]

	mu     sync.Mutex
	of     map[K]map[plan.Rule]*trial[R] // guarded by mu
	counts map[plan.Rule]int             // of trials that are isolated; guarded by mu
}

// New returns a ward in which nothing fails.
func New[K, R comparable](clock clock.PassiveClock, spread Spread[K]) *Ward[K, R] {
	return &Ward[K, R]{
		clock: clock, seed: maphash.MakeSeed(), spread: spread,
		of: map[K]map[plan.Rule]*trial[R]{}, counts: map[plan.Rule]int{},
	}
}

// Setback is how an attempt failed.
type Setback struct {
	Err error
	// Hopeless says that a retry helps only after a change of the object, the rules or the
	// cluster. The rule is tried slowly then, and is in quarantine when it fails once more: the
	// answer may have been about an object that is just being deleted, or come from an API
	// server that does not know all rights yet.
	Hopeless bool
	// Passes says that it is not for the object that it failed, so that it is tried
	// again as soon as that makes sense.
	Passes bool
	// Futile says that trying again does not help before something changes: the rule is in
	// quarantine at once.
	Futile bool
	// After is how long the API server asked to wait, zero where it did not.
	After time.Duration
}

// Fail notes an attempt that failed, and what it was decided by. It reports whether it is the
// one too many: the rule is in quarantine from now on.
func (w *Ward[K, R]) Fail(key K, rule plan.Rule, s Setback, saw Grounds[R]) (isolated bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	t := w.of[key][rule]
	if s.Passes && s.After == 0 && t == nil {
		return false
	}
	if t == nil {
		t = &trial[R]{since: now}
		if w.of[key] == nil {
			w.of[key] = map[plan.Rule]*trial[R]{}
		}
		w.of[key][rule] = t
	}
	t.err, t.last, t.saw = s.Err, now, saw
	if !s.Passes {
		t.attempts++
	}
	tooOften := t.attempts >= Attempts
	if !t.isolated && !s.Passes && (t.slowed || s.Futile || tooOften) {
		t.isolated, isolated = true, true
		w.counts[rule]++
	}
	t.slowed = t.slowed || s.Hopeless || tooOften
	t.next = t.nextTry(s, now, w.spread(key, rule, t.slow))
	return isolated
}

// Holds reports whether a rule is not to be tried now by what it would be tried by, and
// why.
func (w *Ward[K, R]) Holds(key K, rule plan.Rule, saw Grounds[R]) (held bool, because error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.of[key][rule]
	if t == nil {
		return false, nil
	}
	now := w.clock.Now()
	if soon := t.last.Add(Respite); t.slowed && saw != t.saw && soon.Before(t.next) {
		t.next = soon
		if !now.Before(soon) {
			t.slow = 0
		}
	}
	return now.Before(t.next), t.err
}

// Slows reports whether a rule is tried slowly, in quarantine or on the way to it.
func (w *Ward[K, R]) Slows(key K, rule plan.Rule) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.of[key][rule]
	return t != nil && t.slowed
}

// Rests is how long it takes until an object may be looked at again that could not be by any
// rule; it is not positive where that is now.
func (w *Ward[K, R]) Rests(key K) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.of[key][plan.Rule{}]
	if t == nil {
		return 0
	}
	now := w.clock.Now()
	if soon := t.last.Add(Respite); t.slowed && soon.Before(t.next) {
		return soon.Sub(now)
	}
	return t.next.Sub(now)
}

// Next is when a rule is to be tried again for an object, zero for after a change.
func (w *Ward[K, R]) Next(key K) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	var first time.Time
	for _, t := range w.of[key] {
		at := t.next
		switch {
		case at.IsZero() || at.Before(now) && !t.slowed:
			continue
		case at.Before(now): // Something else was in the way.
			at = now.Add(LastRetry)
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// Echo has what the engine has written itself be no change.
func (w *Ward[K, R]) Echo(key K, before, after Grounds[R]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.of[key] {
		if t.saw == before {
			t.saw = after
		}
	}
}

// Release forgets the rules that do not fail any more, and returns those that were in
// quarantine, in order. Done must not call the ward.
func (w *Ward[K, R]) Release(key K, done func(plan.Rule) bool) []plan.Rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []plan.Rule
	for rule, t := range w.of[key] {
		if !done(rule) {
			continue
		}
		if t.isolated {
			out = append(out, rule)
			if w.counts[rule]--; w.counts[rule] == 0 {
				delete(w.counts, rule)
			}
		}
		delete(w.of[key], rule)
	}
	if len(w.of[key]) == 0 {
		delete(w.of, key)
	}
	slices.SortFunc(out, compare)
	return out
}
