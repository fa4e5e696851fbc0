package breaker

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// Attempts are so many failures that the last of them opens the circuit.
	Attempts = 8
	// Respite is how long a rule in quarantine waits for its first retry at most; for one of the last it waits for
	// LastRetry. It is also how long after an attempt a change of the inputs is followed by the next one, at least: an
	// object that changes all the time would have it fail all the time.
	Respite = 10 * time.Second
	// LastRetry is how long it waits at most in the end.
	LastRetry = 5 * time.Minute
)

// circuit is that of one rule that fails for one object.
type circuit struct {
	err         error
	since, last time.Time
	attempts    int
	slowed      bool // tried ever more slowly
	open        bool // in quarantine: it has failed again since it was slowed
	slow        int  // how often it was tried since it was slowed, or since there was a change
	// next is when to try again, zero for after a change. Before it is slowed it is the time that the API server asked for,
	// or zero.
	next time.Time
	saw  Inputs
}

// Inputs stand for what an attempt was decided by: the objects that were read, and the rules. They are comparable: a
// breaker gives the same for the same, and but for a chance that need not be reckoned with, for no other. The zero value is
// of an attempt in which nothing was looked at.
type Inputs struct {
	objects uint64
	rules   *guard.Rules
}

// Inputs are those of an attempt that read the objects, in whatever order, and was made by the rules.
func (b *Breaker) Inputs(objects []guard.Input, rules *guard.Rules) Inputs {
	out := Inputs{rules: rules}
	for _, object := range objects {
		out.objects += maphash.Comparable(b.seed, object)
	}
	return out
}

// Fail notes an attempt that failed, and what it was decided by. It reports whether this opens the circuit.
func (b *Breaker) Fail(key guard.Key, rule plan.Rule, f guard.Failure, saw Inputs) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	c := b.circuits[key][rule]
	if f.Passes && f.After == 0 && c == nil {
		return false
	}
	if c == nil {
		c = &circuit{since: now}
		if b.circuits[key] == nil {
			b.circuits[key] = map[plan.Rule]*circuit{}
		}
		b.circuits[key][rule] = c
	}
	c.err, c.last, c.saw = f.Err, now, saw
	if !f.Passes {
		c.attempts++
	}
	tooOften := c.attempts >= Attempts
	if !c.open && !f.Passes && (c.slowed || f.Futile || tooOften) {
		c.open, opened = true, true
		b.counts[rule]++
	}
	c.slowed = c.slowed || f.Hopeless || tooOften
	c.next = c.nextTry(f, now, b.spread(key, rule, c.slow))
	return opened
}

// nextTry is when to try again what has just failed.
func (c *circuit) nextTry(f guard.Failure, now time.Time, spread float64) time.Time {
	switch {
	case f.Futile:
		return time.Time{}
	case !c.slowed && f.After == 0:
		return time.Time{}
	case !c.slowed || f.Passes:
		return now.Add(f.After)
	}
	wait := min(Respite<<min(c.slow, 16), LastRetry)
	wait -= time.Duration(float64(wait/2) * spread)
	c.slow++
	return now.Add(max(wait, f.After))
}

// Holds reports whether a rule is not to be tried now by what it would be decided by, and why.
func (b *Breaker) Holds(key guard.Key, rule plan.Rule, saw Inputs) (held bool, because error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key][rule]
	if c == nil {
		return false, nil
	}
	now := b.clock.Now()
	if soon := c.last.Add(Respite); c.slowed && saw != c.saw && soon.Before(c.next) {
		c.next = soon
		if !now.Before(soon) {
			c.slow = 0
		}
	}
	return now.Before(c.next), c.err
}

// Slows reports whether a rule is tried slowly, in quarantine or on the way to it.
func (b *Breaker) Slows(key guard.Key, rule plan.Rule) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key][rule]
	return c != nil && c.slowed
}

// Rests is until when an object is left alone that could not be looked at; zero where it is not.
func (b *Breaker) Rests(key guard.Key) (until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key][plan.Rule{}]
	if c == nil {
		return time.Time{}
	}
	until = c.next
	if soon := c.last.Add(Respite); c.slowed && soon.Before(c.next) {
		until = soon
	}
	if !b.clock.Now().Before(until) {
		return time.Time{}
	}
	return until
}

// Next is when a rule is to be tried again for an object, zero for after a change.
func (b *Breaker) Next(key guard.Key) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	var first time.Time
	for _, c := range b.circuits[key] {
		at := c.next
		switch {
		case at.IsZero() || at.Before(now) && !c.slowed:
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
func (b *Breaker) Echo(key guard.Key, before, after Inputs) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.circuits[key] {
		if c.saw == before {
			c.saw = after
		}
	}
}

// Release forgets the rules that do not fail any more, and returns those that were in quarantine, in order. Done must not
// call the breaker.
func (b *Breaker) Release(key guard.Key, done func(plan.Rule) bool) []plan.Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []plan.Rule
	for rule, c := range b.circuits[key] {
		if !done(rule) {
			continue
		}
		if c.open {
			out = append(out, rule)
			if b.counts[rule]--; b.counts[rule] == 0 {
				delete(b.counts, rule)
			}
		}
		delete(b.circuits[key], rule)
	}
	if len(b.circuits[key]) == 0 {
		delete(b.circuits, key)
	}
	slices.SortFunc(out, compare)
	return out
}

// Spread is by how much of half its time a retry comes sooner, from 0 to 1. It is called by all workers at the same time,
// and must not call the breaker.
type Spread func(key guard.Key, rule plan.Rule, tried int) float64

// Scatter returns a spread that differs from one object and rule to the next, so that what begins to fail together is not
// tried again together.
func Scatter() Spread {
	const fine = 1 << 20
	seed := maphash.MakeSeed()
	return func(key guard.Key, rule plan.Rule, tried int) float64 {
		sum := maphash.Comparable(seed, struct {
			key   guard.Key
			rule  plan.Rule
			tried int
		}{key, rule, tried})
		return float64(sum%fine) / fine
	}
}
