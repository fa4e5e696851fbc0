package breaker

import (
	"cmp"
	"context"
	"errors"
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

// reasonQuarantined is of the Event that tells of a rule in quarantine.
const reasonQuarantined = "Quarantined"

// Breaker has the circuits of the rules of one engine that fail. It implements [guard.Guard], and is safe for concurrent
// use.
type Breaker struct {
	clock  clock.PassiveClock
	log    *slog.Logger
	seed   maphash.Seed
	spread Spread

	mu       sync.Mutex
	circuits map[guard.Key]map[plan.Rule]*circuit // guarded by mu
	counts   map[plan.Rule]int                    // of circuits that are open; guarded by mu
}

// New returns a breaker in which nothing fails.
func New(clock clock.PassiveClock, log *slog.Logger, spread Spread) *Breaker {
	return &Breaker{
		clock: clock, log: log, seed: maphash.MakeSeed(), spread: spread,
		circuits: map[guard.Key]map[plan.Rule]*circuit{}, counts: map[plan.Rule]int{},
	}
}

// Begin implements [guard.Guard]: an object that could not be looked at rests.
func (b *Breaker) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return &check{breaker: b, attempt: a}, b.Rests(a.Key)
}

// Forget implements [guard.Forgetter].
func (b *Breaker) Forget(key guard.Key) { b.release(key, func(plan.Rule) bool { return true }) }

// check is one attempt.
type check struct {
	guard.Pass
	breaker *Breaker
	attempt *guard.Attempt
}

// Admit implements [guard.Check]: a rule does not fail again too soon. [Breaker.Next] says when it is tried again.
func (c *check) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	if !c.breaker.Has(c.attempt.Key) {
		return nil
	}
	saw := c.saw(nil)
	for _, rule := range o.Rules {
		if held, err := c.breaker.Holds(c.attempt.Key, rule, saw); held {
			return &guard.Delay{Err: err}
		}
	}
	return nil
}

// Finish implements [guard.Check]: circuits of rules that failed may open, those of rules that came to an end close.
func (c *check) Finish(out *guard.Outcome) {
	a, tried := c.attempt, out.Tried()
	switch {
	case a.Settling: // It gives up instead.
	case a.CarriedOut:
		c.finishRules(out, append(unevaluated(a.Plan.Decisions), tried...))
	case !out.Looked:
		c.finishObject(out, tried)
	}
	if out.State == guard.Settled {
		out.PutOff(c.breaker.Next(a.Key))
	}
}

func (c *check) finishRules(out *guard.Outcome, failures []guard.Failure) {
	a, b := c.attempt, c.breaker
	if len(failures) == 0 && !b.Has(a.Key) {
		return
	}
	saw := c.saw(a.Left)
	if len(a.Left) > 0 {
		b.Echo(a.Key, c.saw(nil), saw)
	}
	for _, f := range failures {
		if out.Split && len(f.Rules) > 1 {
			continue // It is not known yet whose fault it is.
		}
		for _, rule := range f.Rules {
			if b.Fail(a.Key, rule, f, saw) && !f.Futile && !f.Told {
				c.tell(rule, f.Err)
				a.Warn(rule, reasonQuarantined, fmt.Sprintf("rule %s keeps failing%s and is tried again slowly; the log says why", rule, kindOf(f.Err)))
			}
		}
	}
	stays := map[plan.Rule]bool{}
	for _, f := range out.Failures {
		for _, rule := range f.Rules {
			stays[rule] = true
		}
	}
	for _, decision := range a.Plan.Decisions {
		if !a.Concluded(decision) {
			stays[decision.Rule] = true
		}
	}
	b.release(a.Key, func(rule plan.Rule) bool { return !stays[rule] })
	// Nothing is to be tried again but what is tried slowly. What was written besides has still to be seen.
	slowed := func(rule plan.Rule) bool { return b.Slows(a.Key, rule) }
	soon := func(f guard.Failure) bool {
		return f.Passes || slices.ContainsFunc(f.Rules, func(rule plan.Rule) bool { return !slowed(rule) })
	}
	if out.State == guard.Retry && !out.Wrote && !out.Split && !slices.ContainsFunc(failures, soon) {
		out.State = guard.Settled
	}
}

// finishObject is for an attempt in which no rule was asked: it stands for all of them.
func (c *check) finishObject(out *guard.Outcome, failures []guard.Failure) {
	key, slowed := c.attempt.Key, false
	for _, f := range failures {
		if c.breaker.Fail(key, plan.Rule{}, f, Inputs{}) {
			c.tell(plan.Rule{}, f.Err)
		}
		slowed = c.breaker.Slows(key, plan.Rule{}) && !f.Passes
	}
	if slowed && !out.Wrote {
		out.State = guard.Settled
	}
}

// saw is what the attempt was decided by, with the versions that it has left of what it wrote itself.
func (c *check) saw(left map[types.UID]string) Inputs {
	read := slices.Clone(c.attempt.Read())
	for i := range read {
		if version, changed := left[read[i].UID]; changed {
			read[i].Version = version
		}
	}
	return c.breaker.Inputs(read, c.attempt.Rules)
}

// unevaluated are the rules that cannot be evaluated. They are functions of what they read, so that is what has to change.
// They are told of as decisions are: a rule that is wrong may fail for all objects at once, and an Event of each would be
// too much.
func unevaluated(decisions []plan.Decision) []guard.Failure {
	var out []guard.Failure
	for _, d := range decisions {
		if d.Outcome == plan.Failed {
			err := cmp.Or(d.Err, errors.New(d.Reason))
			out = append(out, guard.Failure{Rules: []plan.Rule{d.Rule}, Err: err, Hopeless: true, Futile: true})
		}
	}
	return out
}

func (c *check) tell(rule plan.Rule, err error) {
	c.attempt.Key.Log(c.breaker.log).Warn("keeps failing and is in quarantine", "rule", nameOf(rule), "err", err)
}

func (b *Breaker) release(key guard.Key, done func(plan.Rule) bool) {
	for _, rule := range b.Release(key, done) {
		key.Log(b.log).Info("out of quarantine", "rule", nameOf(rule))
	}
}

// nameOf is empty for all rules.
func nameOf(rule plan.Rule) string {
	if rule == (plan.Rule{}) {
		return ""
	}
	return rule.String()
}

// kindOf says for an Event what kind of an error it is. The whole text may name what is none of the business of who reads
// Events, such as another namespace that the rule has asked about.
func kindOf(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return fmt.Sprintf(" (%s)", reason)
	}
	return ""
}

// Circuit is that of a rule that fails for an object. While it is open, the rule is tried again slowly, and sooner when
// there is a change of the object, of what the rule reads of others, or of the rules.
type Circuit struct {
	Key   guard.Key
	Rule  plan.Rule // zero where the object could not be looked at by any
	Err   error     // of the last attempt
	Since time.Time // of the first failure
	// Attempts are those that failed since.
	Attempts int
	// Next is when it is tried again at the latest. It is zero for a rule that cannot be evaluated, as it does not get
	// better with time, and where somebody else says when, before the circuit is open.
	Next time.Time
	Open bool
}

// Of returns the circuit of a rule, and whether it fails at all.
func (b *Breaker) Of(key guard.Key, rule plan.Rule) (c Circuit, fails bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.circuits[key][rule]; c != nil {
		return c.of(key, rule), true
	}
	return Circuit{}, false
}

func (c *circuit) of(key guard.Key, rule plan.Rule) Circuit {
	return Circuit{Key: key, Rule: rule, Err: c.err, Since: c.since, Attempts: c.attempts, Next: c.next, Open: c.open}
}

// Has reports whether any rule fails for an object.
func (b *Breaker) Has(key guard.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.circuits[key]) > 0
}

// Len counts the objects for which a rule fails, in quarantine or not.
func (b *Breaker) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.circuits)
}

// List returns the circuits that are open, in the order of the keys, and of the rules.
func (b *Breaker) List() []Circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Circuit
	for key, circuits := range b.circuits {
		for rule, c := range circuits {
			if c.open {
				out = append(out, c.of(key, rule))
			}
		}
	}
	slices.SortFunc(out, func(a, b Circuit) int { return cmp.Or(a.Key.Compare(b.Key), compare(a.Rule, b.Rule)) })
	return out
}

// Counts are the objects for which each rule is in quarantine. The zero rule stands for those that could not be looked at.
func (b *Breaker) Counts() map[plan.Rule]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.counts)
}

func compare(a, b plan.Rule) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Set, b.Set), cmp.Compare(a.Name, b.Name),
	)
}
