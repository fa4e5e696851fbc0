package breaker

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

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

// Breaker has the circuits of the rules of one engine that fail. It implements [guard.Guard], and is safe for concurrent
// use.
type Breaker struct {
	clock  clock.PassiveClock
	log    *slog.Logger
	seed   maphash.Seed
	jitter func(bound time.Duration) time.Duration

	mu       sync.Mutex
	circuits map[guard.Key]map[plan.Rule]*Circuit // guarded by mu
}

// Circuit is that of a rule that fails for an object. While it is open, the rule is tried again slowly, and sooner when
// there is a change of the object, of what the rule reads of others, or of the rules.
type Circuit struct {
	Key      guard.Key
	Rule     plan.Rule // zero where the object could not be looked at by any
	Err      error     // of the last attempt
	Attempts int       // that failed
	// Next is when it is tried again at the latest. It is zero for a rule that cannot be evaluated, as it does not get
	// better with time, and where somebody else says when, before it is tried slowly.
	Next time.Time
	Open bool // it has failed again since it was slowed

	// slow is 0 for a rule that is tried as ever, and otherwise says how slowly: 1 when that begins, or after a change.
	slow int
	last time.Time // of the attempts
	saw  inputs    // of the last attempt
	// reacts says that an action failed that reads failure; otherwise these are not held back.
	reacts bool
}

// inputs stand for what an attempt was decided by: the objects that were read, in whatever order, and the rules. The same is
// the same, and but for a chance that need not be reckoned with, nothing else is. Zero is of an attempt in which nothing was
// looked at.
type inputs uint64

// New returns a breaker in which nothing fails. What begins to fail together is not to be tried again together: jitter says by
// how much a retry comes sooner, up to a bound. It is called by all workers at the same time, and must not call the breaker.
func New(clock clock.PassiveClock, log *slog.Logger, jitter func(bound time.Duration) time.Duration) *Breaker {
	return &Breaker{clock: clock, log: log, seed: maphash.MakeSeed(), jitter: jitter, circuits: map[guard.Key]map[plan.Rule]*Circuit{}}
}

// Begin implements [guard.Guard]: an object that could not be looked at rests.
func (b *Breaker) Begin(a *guard.Attempt) (check guard.Check, rests time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	check = &attempt{breaker: b, Attempt: a}
	if c := b.circuits[a.Key][plan.Rule{}]; c != nil {
		rests = c.Next
		if soon := c.last.Add(Respite); c.slow > 0 && soon.Before(rests) {
			rests = soon // Whoever asks may know of a change.
		}
		if !b.clock.Now().Before(rests) {
			rests = time.Time{}
		}
	}
	return check, rests
}

// attempt is the part of the breaker in one attempt.
type attempt struct {
	guard.Pass
	*guard.Attempt
	breaker *Breaker
}

// Admit implements [guard.Check]: a rule does not fail again too soon. What it saw is compared with what its last attempt
// saw, so that it is tried sooner after a change.
func (a *attempt) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	b := a.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	for _, rule := range o.Rules {
		c := b.circuits[a.Key][rule]
		if c == nil || o.Part(rule).Reacts && !c.reacts {
			continue // It may tell of the failure.
		}
		if soon := c.last.Add(Respite); c.slow > 0 && soon.Before(c.Next) && a.saw(nil) != c.saw {
			c.Next = soon
			if !now.Before(soon) {
				c.slow = 1
			}
		}
		if now.Before(c.Next) {
			return &guard.Delay{Err: c.Err} // Finish says until when.
		}
	}
	return nil
}

// saw is what the attempt was decided by, with the versions that it has left of what it wrote itself.
func (a *attempt) saw(left map[types.UID]string) inputs {
	out := maphash.Comparable(a.breaker.seed, a.Generation)
	for _, object := range a.Read() {
		if version, changed := left[object.UID]; changed {
			object.Version = version
		}
		out += maphash.Comparable(a.breaker.seed, object)
	}
	return inputs(out)
}

// Finish implements [guard.Check]: circuits of rules that failed may open, those of rules that came to an end close. Who
// settles gives up instead.
func (a *attempt) Finish(out *guard.Outcome) {
	failures := slices.DeleteFunc(slices.Clone(out.Failures), func(f guard.Failure) bool {
		return f.Cause == guard.Decided || f.Cause == guard.Delayed || out.Looked && !a.CarriedOut
	})
	b := a.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.Settling || len(failures) == 0 && len(b.circuits[a.Key]) == 0 {
		return
	}
	var before, saw inputs
	if a.CarriedOut {
		before, saw = a.saw(nil), a.saw(a.Left)
	}
	for _, c := range b.circuits[a.Key] {
		if c.saw == before {
			c.saw = saw // What the engine has written itself is no change.
		}
	}
	a.note(failures, saw, out)
	soon := func(f guard.Failure) bool {
		return f.Cause == guard.Passing || slices.ContainsFunc(f.Rules, func(rule plan.Rule) bool {
			c := b.circuits[a.Key][rule]
			return c == nil || c.slow == 0
		})
	}
	// Nothing is to be tried again but what is tried slowly. What was written besides has still to be seen.
	if out.State == guard.Retry && !out.Wrote && !out.Replan && len(failures) > 0 && !slices.ContainsFunc(failures, soon) {
		out.State = guard.Settled
	}
	if out.State == guard.Settled {
		b.putOff(a.Key, out)
	}
}

// note notes the failures, tells of the circuits that this opens, and closes those of rules that have come to an end.
func (a *attempt) note(failures []guard.Failure, saw inputs, out *guard.Outcome) {
	for i := range failures {
		f := &failures[i]
		if !a.CarriedOut {
			f.Rules = []plan.Rule{{}} // No rule was asked, so it stands for all of them.
		}
		if out.Split && len(f.Rules) > 1 {
			continue // It is not known yet whose fault it is.
		}
		for _, rule := range f.Rules {
			if a.breaker.fail(a.Key, rule, *f, saw) && f.Cause != guard.Unevaluated && !f.Told {
				a.tell(rule, f.Err)
			}
		}
	}
	if a.CarriedOut {
		stays := map[plan.Rule]bool{} // They have not come to an end.
		for _, f := range out.Failures {
			for _, rule := range f.Rules {
				stays[rule] = true
			}
		}
		for _, decision := range a.Plan.Decisions {
			stays[decision.Rule] = stays[decision.Rule] || !a.Concluded(decision)
		}
		a.breaker.release(a.Key, stays)
	}
}

// tell tells of a circuit that opens. The whole text of an error may name what is none of the business of who reads Events,
// such as another namespace that the rule has asked about, so an Event has the reason of the API server only.
func (a *attempt) tell(rule plan.Rule, err error) {
	a.Key.Log(a.breaker.log).Warn("keeps failing and is in quarantine", "rule", nameOf(rule), "err", err)
	if !a.CarriedOut {
		return
	}
	kind := ""
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		kind = fmt.Sprintf(" (%s)", reason)
	}
	message := fmt.Sprintf("rule %s keeps failing%s and is tried again slowly; the log says why", rule, kind)
	a.Warnings = append(a.Warnings, guard.Warning{Rule: rule, Reason: "Quarantined", Message: message})
}

// nameOf is empty for all rules.
func nameOf(rule plan.Rule) string {
	if rule == (plan.Rule{}) {
		return ""
	}
	return rule.String()
}

// fail notes an attempt that failed, and what it was decided by. It reports whether this opens the circuit. The lock is held,
// as by putOff and release.
func (b *Breaker) fail(key guard.Key, rule plan.Rule, f guard.Failure, saw inputs) (opens bool) {
	c, now, passes := b.circuits[key][rule], b.clock.Now(), f.Cause == guard.Passing
	if c == nil {
		if passes && f.After == 0 {
			return false
		}
		c = &Circuit{Key: key, Rule: rule}
		if b.circuits[key] == nil {
			b.circuits[key] = map[plan.Rule]*Circuit{}
		}
		b.circuits[key][rule] = c
	}
	c.Err, c.last, c.saw, c.reacts = f.Err, now, saw, f.Reacts
	if !passes {
		c.Attempts++
	}
	final := f.Cause == guard.Unevaluated || c.Attempts >= Attempts
	opens = !c.Open && !passes && (final || c.slow > 0)
	c.Open = c.Open || opens
	if c.slow == 0 && (final || f.Cause == guard.Hopeless) {
		c.slow = 1
	}
	switch {
	case f.Cause == guard.Unevaluated, c.slow == 0 && f.After == 0:
		c.Next = time.Time{}
	case c.slow == 0, passes:
		c.Next = now.Add(f.After)
	default:
		wait := min(Respite<<min(c.slow-1, 16), LastRetry)
		c.slow++
		c.Next = now.Add(max(wait-b.jitter(wait/2), f.After))
	}
	return opens
}

// putOff has the object looked at when the first rule is to be tried again, unless that is after a change.
func (b *Breaker) putOff(key guard.Key, out *guard.Outcome) {
	now := b.clock.Now()
	for _, c := range b.circuits[key] {
		at := c.Next
		if !at.IsZero() && at.Before(now) && c.slow > 0 {
			at = now.Add(LastRetry) // Something else was in the way.
		}
		if !at.Before(now) {
			out.PutOff(at)
		}
	}
}

// release forgets the rules that do not fail any more, all but those that stay.
func (b *Breaker) release(key guard.Key, stays map[plan.Rule]bool) {
	for _, rule := range slices.SortedFunc(maps.Keys(b.circuits[key]), plan.Rule.Compare) {
		if stays[rule] {
			continue
		}
		if b.circuits[key][rule].Open {
			key.Log(b.log).Info("out of quarantine", "rule", nameOf(rule))
		}
		delete(b.circuits[key], rule)
	}
	if len(b.circuits[key]) == 0 {
		delete(b.circuits, key)
	}
}

// Forget implements [guard.Forgetter].
func (b *Breaker) Forget(key guard.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(key, nil)
}

// Of returns the circuit of a rule, and whether it fails at all.
func (b *Breaker) Of(key guard.Key, rule plan.Rule) (c Circuit, fails bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.circuits[key][rule]; c != nil {
		return *c, true
	}
	return Circuit{}, false
}

// Len counts the objects for which a rule fails, in quarantine or not.
func (b *Breaker) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.circuits)
}

// List returns the circuits that are open, in the order of the keys, and of the rules.
func (b *Breaker) List() (out []Circuit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, circuits := range b.circuits {
		for _, c := range circuits {
			if c.Open {
				out = append(out, *c)
			}
		}
	}
	slices.SortFunc(out, func(a, b Circuit) int { return cmp.Or(a.Key.Compare(b.Key), a.Rule.Compare(b.Rule)) })
	return out
}

// Counts are the objects for which each rule is in quarantine, by a list of [Breaker.List]. The zero rule stands for those that could not be
// looked at.
func Counts(list []Circuit) map[plan.Rule]int {
	out := map[plan.Rule]int{}
	for _, c := range list {
		out[c.Rule]++
	}
	return out
}
