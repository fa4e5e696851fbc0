package quarantine

import (
	"hash/maphash"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// Attempts are so many failures that the last of them has a rule put in quarantine.
	Attempts = 8
	// Respite is how long a rule in quarantine waits for its first retry at most; for one of
	// the last it waits for LastRetry. It is also how long after an attempt a change of what
	// the rule sees is followed by the next one, at least: an object that changes all the
	// time would have it fail all the time.
	Respite = 10 * time.Second
	// LastRetry is how long it waits at most in the end.
	LastRetry = 5 * time.Minute
)

// trial is what is known of one rule that fails for one object.
type trial[R comparable] struct {
	err         error
	since, last time.Time
	attempts    int
	slowed      bool // tried ever more slowly
	isolated    bool // in quarantine: it has failed again since it was slowed
	slow        int  // how often it was tried since it was slowed, or since there was a change
	// next is when to try again, zero for after a change. Before it is slowed it is
	// the time that the API server asked for, or zero.
	next time.Time
	saw  Grounds[R]
}

// nextTry is when to try again what has just failed.
func (t *trial[R]) nextTry(s Setback, now time.Time, spread float64) time.Time {
	switch {
	case s.Futile:
		return time.Time{}
	case !t.slowed && s.After == 0:
		return time.Time{}
	case !t.slowed || s.Passes:
		return now.Add(s.After)
	}
	wait := min(Respite<<min(t.slow, 16), LastRetry)
	wait -= time.Duration(float64(wait/2) * spread)
	t.slow++
	return now.Add(max(wait, s.After))
}

// Spread is by how much of half its time a retry comes sooner, from 0 to 1. It is called by
// all workers at the same time, and must not call the ward.
type Spread[K comparable] func(key K, rule plan.Rule, tried int) float64

// Scatter returns a spread that differs from one object and rule to the next, so that what
// begins to fail together is not tried again together.
func Scatter[K comparable]() Spread[K] {
	const fine = 1 << 20
	seed := maphash.MakeSeed()
	return func(key K, rule plan.Rule, tried int) float64 {
		sum := maphash.Comparable(seed, struct {
			key   K
			rule  plan.Rule
			tried int
		}{key, rule, tried})
		return float64(sum%fine) / fine
	}
}
