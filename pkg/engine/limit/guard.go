package limit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Why a rule with limits does not write, besides a [PausedError]. All of them pass.
var (
	// ErrBusy says that other writes are under way, which may be the last that it may do.
	ErrBusy = errors.New("it waits for writes under way that may count for its limit")
	// ErrUncounted says that the share which is its limit cannot be told.
	ErrUncounted = errors.New("it waits until all objects are listed that it watches, its limit is a share of them")
	// ErrUnknown says that it is not known whether the rule is paused.
	ErrUnknown = errors.New("it waits until the inventory is read, which says whether the rule is paused")
	// ErrUnstored says that it is not stored yet which objects are in a wave.
	ErrUnstored = errors.New("it waits until it is stored for which objects its wave is")
	// ErrUnseen says that it is not known which objects come first.
	ErrUnseen = errors.New("it waits until all objects are looked at that the rule watches, some of which come before it in the rollout")
)

// Caches are those of an engine. They may not call the guard, as the other methods of a [Host] may.
type Caches interface {
	// Watched is how many objects there are in selections, each counted once, and whether all of them are known.
	Watched([]plan.Selection) (objects int, all bool)
	// HasTakenOver reports whether the caches of selections show all that the process before has done.
	HasTakenOver([]plan.Selection) bool
}

// Host is the engine that a guard works for. Its methods are called by all workers at the same time.
type Host interface {
	Caches
	// LookAt has objects looked at, in no order; LookAgain has all looked at in selections, and all that is remembered.
	LookAt(keys []guard.Key)
	LookAgain([]plan.Selection)
	// Save has what is [Guard.Unsaved] stored soon.
	Save()
}

// Observer is told of each rule that pauses. Its method is called by all workers at the same time.
type Observer interface{ Paused(Pause) }

// Guard holds the rules of an engine to their limits. It implements [guard.Guard], and holds no more objects than the rules may
// write for.
type Guard struct {
	*Limits
	clock    clock.PassiveClock
	host     Host
	observer Observer
	log      *slog.Logger

	sets    map[plan.Rule]bool // whose rules it follows, with and without limits; guarded by the lock of Limits, as are all that follow
	stores  bool               // there is an inventory, which stores pauses and counts
	surveys int                // that have begun anew, see survey
	waiting map[guard.Key]bool // for room, or for pauses to be known
}

// state is what is known of a rule.
type state struct {
	guard.Limited
	running
	known bool // whether it was paused before the start
	pausing
	window window
	stored []v1alpha1.Count // what is stored of the window
	// rollout is that of a rule with one, and rolled is what is stored of it, nil for nothing.
	rollout *rollout
	rolled  *v1alpha1.Rollout
	saving  saving
	// most is for how many objects the rule may write, as it was found out when they were last counted. All says that a share is
	// of all objects that there were.
	most    int
	all     bool
	counted time.Time
}

// running says of which engine the guard is that runs a rule, and when that one began to, see [Limits.Started].
type running struct {
	guard   *Guard
	started int
}

// pausing says whether a rule is paused, and whether its set object asks it to resume. Users can have looked at a pause only once it is
// stored, so an annotation that is there in the version by which the pause is stored is from before.
type pausing struct {
	pause *v1alpha1.Pause // nil while it is not paused
	fresh bool            // it is not known yet that the pause is stored
	last  time.Time       // when the last pause has begun, by its Since
	asks  bool            // the set object does so, as it was with the inventory that was last read
	// answered says that the rule has resumed since, so that the set object has to ask anew the next time.
	answered bool
}

// as reports whether the rule is followed as it was evaluated.
func (s *state) as(evaluated guard.Limited) bool {
	return s.Digest == evaluated.Digest && s.Suspended == evaluated.Suspended
}

// saving says whether what is known of a rule is stored.
type saving uint8

const (
	saved saving = iota
	beingSaved
	unsaved
)

// countedFor is how long a number of objects is taken for what it is while a rule is within its limit: to count takes as long as
// there are objects.
const countedFor = time.Second

// askAgain is after what time a rule asks again whether all objects have been looked at, though the last of them has it look.
const askAgain = 10 * time.Second

// unstoredShare is which part of its limit a rule may write for that is not stored yet.
const unstoredShare = 10

// NewGuard returns a guard that follows no rules. An engine that is alone has no limits that it shares, which are nil then.
func NewGuard(shared *Limits, clock clock.PassiveClock, host Host, observer Observer, log *slog.Logger) *Guard {
	if shared == nil {
		shared = NewLimits()
		shared.alone = true
	}
	return &Guard{Limits: shared, clock: clock, host: host, observer: observer, log: log, waiting: map[guard.Key]bool{}}
}

// has reports whether the engine runs a set.
func (g *Guard) has(set plan.Rule) bool { return g.alone || g.runs[set] == g }

// of is what is known of a rule that the engine runs, nil for another one.
func (g *Guard) of(rule plan.Rule) *state {
	if g.has(rule.OfSet()) {
		return g.rules[rule]
	}
	return nil
}

// all is what is known of the rules that the engine runs.
func (g *Guard) all() iter.Seq2[plan.Rule, *state] {
	return func(yield func(plan.Rule, *state) bool) {
		for id := range g.rules {
			if s := g.of(id); s != nil && !yield(id, s) {
				return
			}
		}
	}
}

// save has what is known of a rule stored.
func (s *state) save() {
	s.saving = unsaved
	s.guard.then = append(s.guard.then, s.guard.host.Save)
}

// free has what waits looked at.
func (g *Guard) free() {
	waiting := slices.Collect(maps.Keys(g.waiting))
	clear(g.waiting)
	g.then = append(g.then, func() { g.host.LookAt(waiting) })
}

// lookAgain has all objects looked at in selections.
func (g *Guard) lookAgain(selections []plan.Selection) {
	g.then = append(g.then, func() { g.host.LookAgain(selections) })
}

// Follow takes the rules with limits or a rollout of the sets that are in effect now, and whether it is known that no other is paused but those
// that are. What is known of a rule that is the same as before stays. Those resume that have changed, and those that are asked to. A set is not followed
// that the engine does not run: it is about to go over to rules without it.
func (g *Guard) Follow(all map[plan.Rule]guard.Limited, sets map[plan.Rule]bool, known bool) {
	g.mu.Lock()
	defer g.unlock()
	g.stores, g.sets = !known, maps.Clone(sets)
	maps.DeleteFunc(g.sets, func(set plan.Rule, _ bool) bool { return !g.has(set) })
	for id := range g.all() {
		if _, there := all[id]; !there && (g.alone || sets[id.OfSet()]) {
			delete(g.rules, id)
		}
	}
	for id, rule := range all {
		if !g.has(id.OfSet()) {
			continue
		}
		s := g.rules[id]
		if s == nil {
			s = &state{Limited: rule, known: known, window: newWindow(), rollout: newRollout()}
			g.rules[id] = s
			g.start(s)
		}
		changed, was := s.Digest != rule.Digest, s.Suspended
		s.Limited = rule // The same may be served in another version.
		if was != s.Suspended && !changed && !s.everywhere() {
			s.rollout.goOn(g.clock.Now())
			s.save() // Of a suspended rule without times.
		}
		if changed {
			if s.rolled != nil {
				s.save()
			}
			s.rollout = newRollout()
			s.renew("the rule has changed")
		}
		s.resumeIfAsked()
	}
	g.free()
}

// hear takes what is stored of the pause of a rule, and whether its set object asks it to resume. A pause that is stored already, though
// the answer to that was lost, is one that users may have looked at.
func (s *state) hear(stored *v1alpha1.Pause, asks bool) {
	s.asks, s.answered = asks, s.answered && asks
	switch {
	case s.fresh && stored != nil && stored.Digest == s.Digest && stored.Since.Equal(&s.pause.Since):
		s.pause, s.fresh = stored, false
	case s.fresh && asks:
		pause := *s.pause
		pause.Asked = true
		s.pause = &pause
	}
	s.resumeIfAsked()
}

// isAsked reports whether the rule is asked to resume, by its document or its set object.
func (s *state) isAsked() bool { return s.Asked || s.asks }

// resumeIfAsked ends the pause of a rule that is asked to resume since it paused. Who asked before it did has to take that back
// first.
func (s *state) resumeIfAsked() {
	switch {
	case s.pause == nil || s.pause.Asked == s.isAsked():
	case s.pause.Asked:
		pause := *s.pause
		pause.Asked = false
		s.pause = &pause
		s.save()
	default:
		if s.pause.Unhealthy != "" && s.Rollout != nil {
			s.rollout.excuse(s.pause.Since.Time, s.Rollout.Timeout)
		}
		s.rollout.again(s.guard.clock.Now())
		s.renew("it is asked to")
	}
}

// renew empties the window of a rule, and ends its pause. All objects are looked at again, of which it was paused.
func (s *state) renew(because string) {
	pause, id, g := s.pause, s.ID, s.guard
	s.pause, s.fresh, s.window, s.stored, s.counted = nil, false, newWindow(), nil, time.Time{}
	if pause == nil {
		return
	}
	s.answered = s.asks
	s.save()
	g.then = append(g.then, func() { g.log.Info("rule resumes", "rule", id.String(), "because", because) })
	g.lookAgain(s.Watches)
}

// All lists the rules that are paused, in order.
func (g *Guard) All() []Pause {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Pause
	for _, s := range g.all() {
		if s.pause != nil {
			out = append(out, Pause{s.ID, *s.pause})
		}
	}
	slices.SortFunc(out, func(a, b Pause) int { return a.Rule.Compare(b.Rule) })
	return out
}

// check is one attempt.
type check struct {
	guard.Pass
	guard   *Guard
	attempt *guard.Attempt
	surveys int // that had begun before
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	if len(a.Rules.Limited) == 0 {
		return guard.Pass{}, time.Time{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return check{guard: g, attempt: a, surveys: g.surveys}, time.Time{}
}

// Admit implements [guard.Check]. It is to be asked last, as what it grants counts: of several rules all may write or none. Those
// pause that would pass their limits.
func (c check) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	g := c.guard
	g.mu.Lock()
	defer g.unlock()
	var refused error
	var room []*state
	for _, rule := range o.Rules {
		concern := c.concern(o, rule)
		if concern == none {
			continue
		}
		s := g.of(rule)
		err := s.may()
		if evaluated := c.attempt.Rules.Limited[rule]; err == nil && evaluated.Rollout != nil && !s.as(evaluated) {
			err = ErrUnknown // The rule is about to be followed, or has changed since it was evaluated.
		}
		if err == nil {
			err = s.waves().mayBegin(c.attempt)
		}
		if err == nil && concern == counts && s.Counts() {
			err = s.mayCount(c.attempt.UID)
			room = append(room, s)
		}
		refused = cmp.Or(refused, err)
	}
	if refused == nil {
		for _, s := range room {
			s.window.reserve(c.attempt.UID)
		}
		return nil
	}
	unknown := errors.Is(refused, ErrUnknown)
	if unknown || errors.Is(refused, ErrBusy) || errors.Is(refused, ErrUnstored) {
		g.waiting[c.attempt.Key] = true
	}
	delay := &guard.Delay{Err: refused, Retry: unknown || errors.Is(refused, ErrUncounted)}
	if errors.Is(refused, ErrUnseen) {
		delay.Until = g.clock.Now().Add(askAgain)
	}
	return delay
}

// may says why a rule may not write, where that does not count.
func (s *state) may() error {
	switch {
	case s == nil || s.pause == nil && !s.known:
		return ErrUnknown // Where it is not followed, it is about to be.
	case s.pause != nil:
		return &PausedError{Pause{s.ID, *s.pause}}
	default:
		return nil
	}
}

// mayCount says why a rule may not write for an object. The rule pauses where it would pass its limit.
func (s *state) mayCount(object types.UID) error {
	now := s.guard.clock.Now()
	if age := now.Sub(s.counted); age < 0 || age >= countedFor { // Also for what counts already: its write notes how many there are.
		s.count(now)
	}
	if s.window.has(object, now.Add(-s.Limits.Per)) {
		return nil
	}
	full := func() bool { return len(s.window.written)+s.window.pending() >= s.most }
	if full() && s.window.pending() == 0 {
		s.count(now)
	}
	pending := s.window.pending()
	switch {
	case full() && pending > 0:
		return ErrBusy
	case full() && s.Limits.Percent > 0 && !s.all:
		return ErrUncounted
	case full():
		return s.begin(s.limitPause(), now)
	case s.guard.stores && s.window.unstored+pending >= s.mayBeUnstored():
		if pending == 0 && s.saving == saved {
			s.save() // Nothing does so that is under way, where the limit has shrunk. What could not be stored is tried again later.
		}
		return ErrBusy
	default:
		return nil
	}
}

// mayBeUnstored is for how many objects a rule may write that is not stored yet.
func (s *state) mayBeUnstored() int { return max(1, s.most/unstoredShare) }

// count finds out for how many objects a rule may write. A share is of the most that there were when it wrote for those in its
// window: what it deletes, or has leave its selection, takes nothing of that.
func (s *state) count(now time.Time) {
	s.window.expire(now.Add(-s.Limits.Per))
	s.counted = now
	if s.Limits.Percent > 0 {
		s.window.watched, s.all = s.guard.host.Watched(s.Watches)
	}
	s.most = s.Limits.Of(s.window.base())
}

// limitPause is the pause of a rule that would pass its limit.
func (s *state) limitPause() v1alpha1.Pause {
	if s.Limits.Percent == 0 {
		s.window.watched, _ = s.guard.host.Watched(s.Watches)
	}
	return v1alpha1.Pause{
		Objects: int64(len(s.window.written)), Of: int64(s.window.base()), Limit: s.Limits.String(), Per: shortly(s.Limits.Per),
	}
}

// begin begins a pause.
func (s *state) begin(p v1alpha1.Pause, now time.Time) error {
	if now = now.UTC().Truncate(time.Second); !now.After(s.last) {
		now = s.last.Add(time.Second) // Or it could be taken for the one before.
	}
	p.Rule, p.Digest, p.Since, p.Asked = s.ID.Name, s.Digest, metav1.NewTime(now), s.isAsked()
	s.pause, s.fresh, s.last = &p, true, now
	pause, g := Pause{s.ID, p}, s.guard
	s.save()
	g.then = append(g.then, func() {
		log := g.log.With("rule", pause.Rule.String(), "objects", pause.Objects, "of", pause.Of, "limit", pause.Limit, "per", pause.Per)
		if p.Unhealthy != "" {
			log = log.With("unhealthy", p.Unhealthy)
		}
		log.Warn("rule is paused")
		g.observer.Paused(pause)
	})
	return &PausedError{pause}
}

// Observe implements [guard.Check]. What had no effect makes room for others.
func (c check) Observe(o guard.Operation, answer guard.Answer) {
	g := c.guard
	g.mu.Lock()
	defer g.unlock()
	for _, rule := range o.Admitted.Rules {
		s := g.rules[rule] // Also of one that another engine runs since.
		concern := c.concern(o.Admitted, rule)
		if s == nil || concern == none {
			continue
		}
		if chosen := s.rollout.chosen[mark(c.attempt.UID)]; chosen != nil {
			soaked := !s.rollout.soaking.IsZero()
			switch ambiguous := answer.Class == write.Ambiguous; {
			case answer.Effective:
				s.rollout.wrote(chosen, !ambiguous, g.clock.Now())
			case ambiguous:
				chosen.tried = true // It may still arrive.
			}
			if soaked && s.rollout.soaking.IsZero() {
				s.save()
			}
			if s.guard != g { // Its caches show the write already.
				chosen.justWritten = false
				s.guard.lookAgain(s.Watches)
			}
		} else if answer.Effective && concern == counts {
			s.late(c.attempt)
		}
		if concern != counts || !s.Counts() {
			continue
		}
		s.window.settle(c.attempt.UID, answer.Effective, g.clock.Now(), s.Limits.Per)
		if g.stores && s.window.unstored >= s.mayBeUnstored() {
			s.save()
		}
		s.guard.free()
	}
}

// Finish implements [guard.Check]: rollouts follow how the object fares, and Events of a rule that is paused go on as they were,
// unless it has just written.
func (c check) Finish(outcome *guard.Outcome) {
	if !c.attempt.CarriedOut {
		return
	}
	c.guard.mu.Lock()
	defer c.guard.unlock()
	for id, rule := range c.attempt.Rules.Limited {
		if s := c.guard.of(id); s != nil && s.as(rule) && !rule.Suspended && s.may() == nil && !s.everywhere() {
			at, stopped := s.waves().follow(c, c.wants(id))
			outcome.LookAgain(at)
			if stopped != nil {
				outcome.Delay([]plan.Rule{id}, guard.Delay{Err: stopped})
			}
		}
	}
	for _, decision := range c.attempt.Plan.Decisions {
		if s := c.guard.of(decision.Rule); s != nil && s.pause != nil && !c.attempt.Wrote[decision.Rule] {
			c.attempt.Unfinished[decision.Rule] = 0
		}
	}
}

// wants reports whether a rule wants to write for the object.
func (c check) wants(rule plan.Rule) bool {
	return slices.ContainsFunc(c.attempt.Plan.Operations, func(o plan.Operation) bool {
		return slices.Contains(o.Rules, rule) && c.concern(o, rule) != none
	})
}

// concern is what a write of a rule has to do with its limits.
type concern uint8

const (
	none   concern = iota // the rule has none, or takes off what it has put on
	holds                 // puts the finalizer of the rule on
	counts                // counts
)

// concern tells them apart. Nothing keeps a rule from cleaning up, and what a paused rule would hold nobody would let go.
func (c check) concern(o plan.Operation, rule plan.Rule) concern {
	if rule, limited := c.attempt.Rules.Limited[rule]; !limited || rule.Suspended { // It only restores, and takes off.
		return none
	}
	if o.Type != plan.Merge && o.Type != plan.JSON {
		return counts
	}
	own := func(finalizers any) bool {
		list, _ := finalizers.([]any)
		return slices.Contains(list, any(rule.Finalizer()))
	}
	out := none
	for _, change := range o.Changes {
		switch before, after := own(change.Before), own(change.After); {
		case change.Rule != rule:
		case slices.Equal(change.Path, plan.Path{"metadata", "annotations", plan.AdoptedAnnotation}) && change.After == nil:
			return none // The whole of it gives up what was adopted.
		case before == after || !slices.Equal(change.Path, plan.Path{"metadata", "finalizers"}):
			out = counts
		case after:
			out = max(out, holds)
		}
	}
	return out
}
