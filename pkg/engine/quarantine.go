package engine

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// respite is how long a rule in quarantine waits for its first retry at most; for one of
	// the last it waits for lastRetry. It is also how long after an attempt a change of what the
	// rule sees is followed by the next one, at least: an object that changes all the time
	// would have it fail all the time.
	respite = 10 * time.Second
)

// quarantine is what is known of rules that fail for an object. The zero rule stands for
// all of them, where they were not even asked. It is safe for concurrent use.
type quarantine struct {
	seed maphash.Seed
	// spread is by how much of half its time a retry comes sooner, from 0 to 1.
	spread func(key Key, rule plan.Rule, tried int) float64

	mu     sync.Mutex
	of     map[Key]map[plan.Rule]*trial // guarded by mu
	counts map[plan.Rule]int            // of trials that are isolated; guarded by mu
}

// trial is what is known of one rule that fails for one object.
type trial struct {
	err         error
	since, last time.Time
	attempts    int
	isolated    bool // in quarantine
	slow        int  // how often it was tried since it was, or since there was a change
	// next is when to try again, zero for after a change. Before it is isolated it is
	// the time that the API server asked for, or zero.
	next time.Time
	saw  grounds
}

// grounds is what an attempt was decided by. It is comparable.
type grounds struct {
	objects uint64
	rules   *active // Another one, too, where the same are put into effect again.
}

func newQuarantine() *quarantine {
	q := &quarantine{seed: maphash.MakeSeed(), of: map[Key]map[plan.Rule]*trial{}, counts: map[plan.Rule]int{}}
	q.spread = q.scatter
	return q
}

// scatter differs from one object and rule to the next, so that what begins to fail
// together is not tried again together.
func (q *quarantine) scatter(key Key, rule plan.Rule, tried int) float64 {
	const fine = 1 << 20
	sum := maphash.Comparable(q.seed, struct {
		key   Key
		rule  plan.Rule
		tried int
	}{key, rule, tried})
	return float64(sum%fine) / fine
}

// fail notes a failed attempt, and reports whether it is the one too many.
func (q *quarantine) fail(key Key, rule plan.Rule, s setback, saw grounds, now time.Time) (isolated bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of[key][rule]
	if s.passes && s.after == 0 && t == nil {
		return false
	}
	if t == nil {
		t = &trial{since: now}
		if q.of[key] == nil {
			q.of[key] = map[plan.Rule]*trial{}
		}
		q.of[key][rule] = t
	}
	t.err, t.last, t.saw = s.err, now, saw
	if !s.passes {
		t.attempts++
	}
	if !t.isolated && (s.hopeless || t.attempts >= attempts) {
		t.isolated, isolated = true, true
		q.counts[rule]++
	}
	t.next = t.nextTry(s, now, q.spread(key, rule, t.slow))
	return isolated
}

// nextTry is when to try again what has just failed.
func (t *trial) nextTry(s setback, now time.Time, spread float64) time.Time {
	switch {
	case s.futile:
		return time.Time{}
	case !t.isolated && s.after == 0:
		return time.Time{}
	case !t.isolated || s.passes:
		return now.Add(s.after)
	}
	wait := min(respite<<min(t.slow, 16), lastRetry)
	wait -= time.Duration(float64(wait/2) * spread)
	t.slow++
	return now.Add(max(wait, s.after))
}

// holds reports whether a rule is not to be tried now by what it would be tried by, and
// why.
func (q *quarantine) holds(key Key, rule plan.Rule, saw grounds, now time.Time) (held bool, because error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of[key][rule]
	if t == nil {
		return false, nil
	}
	if soon := t.last.Add(respite); t.isolated && saw != t.saw && soon.Before(t.next) {
		t.next = soon
		if !now.Before(soon) {
			t.slow = 0
		}
	}
	return now.Before(t.next), t.err
}

// rests is how long it takes until an object may be looked at again that could not be by any rule; it
// is not positive where that is now.
func (q *quarantine) rests(key Key, now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of[key][plan.Rule{}]
	if t == nil {
		return 0
	}
	if soon := t.last.Add(respite); t.isolated && soon.Before(t.next) {
		return soon.Sub(now)
	}
	return t.next.Sub(now)
}

// next is when a rule is to be tried again for an object, zero for after a change.
func (q *quarantine) next(key Key, now time.Time) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first time.Time
	for _, t := range q.of[key] {
		at := t.next
		switch {
		case at.IsZero() || at.Before(now) && !t.isolated:
			continue
		case at.Before(now): // Something else was in the way.
			at = now.Add(lastRetry)
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// echo has what the engine has written itself be no change.
func (q *quarantine) echo(key Key, before, after grounds) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.of[key] {
		if t.saw == before {
			t.saw = after
		}
	}
}

// free forgets rules that do not fail any more, and returns those that were in
// quarantine.
func (q *quarantine) free(key Key, done func(rule plan.Rule) bool) []plan.Rule {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []plan.Rule
	for rule, t := range q.of[key] {
		if !done(rule) {
			continue
		}
		if t.isolated {
			out = append(out, rule)
			if q.counts[rule]--; q.counts[rule] == 0 {
				delete(q.counts, rule)
			}
		}
		delete(q.of[key], rule)
	}
	if len(q.of[key]) == 0 {
		delete(q.of, key)
	}
	slices.SortFunc(out, compareRules)
	return out
}

func (q *quarantine) has(key Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.of[key]) > 0
}

// isolated reports whether a rule is in quarantine.
func (q *quarantine) isolated(key Key, rule plan.Rule) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of[key][rule]
	return t != nil && t.isolated
}

// sum tells objects from what they were before: of the same it is the same, in whatever
// order.
func (q *quarantine) sum(objects []map[string]any, versions map[types.UID]string) uint64 {
	var out uint64
	for _, object := range objects {
		version, written := versions[uidOf(object)]
		if !written {
			version = versionOf(object)
		}
		out += maphash.Comparable(q.seed, [2]string{string(uidOf(object)), version})
	}
	return out
}
