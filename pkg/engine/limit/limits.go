package limit

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Rule is a rule with limits.
type Rule struct {
	ID plan.Rule
	// Digest tells it from what it was before and what it is later.
	Digest string
	Limits spec.Limits
	// Asked says that it is asked to resume.
	Asked bool
}

// Answer says whether a rule may write for an object.
type Answer uint8

// The answers, the worst last.
const (
	// Granted means that it may. [Limits.Settle] is to be called.
	Granted Answer = iota
	// Busy means that it is not known yet: other writes are under way that may count.
	Busy
	// Uncounted means that it is not known how many objects there are.
	Uncounted
	// Unknown means that it is not known whether the rule is paused.
	Unknown
	// Paused means that it may not.
	Paused
)

// Watched counts the objects that a rule watches now, and says whether all of them are
// known. It must not call back.
type Watched func(plan.Rule) (objects int, all bool)

// countedFor is how long a number of objects is taken for what it is while a rule is
// within its limit: to count takes as long as there are objects.
const countedFor = time.Second

// Limits counts for how many objects rules write, and pauses them. It is safe for
// concurrent use, and holds no more objects than the rules may write for.
type Limits struct {
	clock   clock.PassiveClock
	watched Watched

	mu    sync.Mutex
	rules map[plan.Rule]*state // guarded by mu
	fresh []Pause              // that nobody was told of; guarded by mu
	// stores says that somebody stores pauses and counts; guarded by mu.
	stores bool
	ledger
}

// state is what is known of a rule.
type state struct {
	Rule
	window window
	pause  *Pause // nil while it is not paused
	// known says that its pauses from before the start are known.
	known bool
	// stored is what is stored of the window, and share for how many more objects it may
	// write, where anything is stored.
	stored []Count
	share  int

	counted time.Time // when it was found out how many objects it watches
	all     bool      // they were known
	base    base      // for a share
}

// New returns limits of no rules.
func New(clock clock.PassiveClock, watched Watched) *Limits {
	return &Limits{clock: clock, watched: watched, rules: map[plan.Rule]*state{}, ledger: newLedger()}
}

// Follow says which rules with limits there are from now on, and whether it is known
// that no other is paused but those that are. What is known of a rule that is the same
// as before stays. It returns the rules that were paused and are not any more: those
// that have changed, and those that are asked to resume.
func (l *Limits) Follow(rules []Rule, known bool) (resumed []plan.Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.rules
	l.stores = !known
	l.rules = make(map[plan.Rule]*state, len(rules))
	for _, rule := range rules {
		s := before[rule.ID]
		if s == nil {
			s = &state{known: known, Rule: rule, window: newWindow()}
		}
		l.rules[rule.ID] = s
		if s.Digest != rule.Digest {
			if s.pause != nil {
				resumed = append(resumed, rule.ID)
				l.end(rule.ID)
			}
			*s = state{known: s.known, Rule: rule, window: newWindow()}
		}
		if l.ask(s, rule.Asked) {
			resumed = append(resumed, rule.ID)
		}
	}
	l.keep(l.rules)
	return resumed
}

// Ask says which rules are asked to resume from now on, and returns those that do.
func (l *Limits) Ask(asked func(plan.Rule) bool) (resumed []plan.Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, s := range l.rules {
		if l.ask(s, asked(id)) {
			resumed = append(resumed, id)
		}
	}
	return resumed
}

// ask reports whether the rule resumes. The lock is held.
func (l *Limits) ask(s *state, asked bool) bool {
	s.Asked = asked
	switch {
	case s.pause == nil || s.pause.Asked == asked:
		return false
	case s.pause.Asked:
		s.pause.Asked = false
		l.note(s.ID)
		return false
	}
	s.pause, s.window = nil, newWindow()
	l.end(s.ID)
	return true
}

// Reserve asks whether rules may write for an object, in one request. All may or none:
// of the others it returns the answer, and pauses those that would pass their limit. The
// rules are those that have limits.
func (l *Limits) Reserve(rules []plan.Rule, object types.UID) map[plan.Rule]Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	var refused map[plan.Rule]Answer
	for _, rule := range rules {
		if answer := l.may(l.rules[rule], object, now); answer != Granted {
			if refused == nil {
				refused = map[plan.Rule]Answer{}
			}
			refused[rule] = answer
		}
	}
	if refused != nil {
		return refused
	}
	for _, rule := range rules {
		if s := l.rules[rule]; s != nil && !s.Limits.Everything() {
			s.window.reserve(object)
		}
	}
	return nil
}

// May tells the same of one rule where the write does not count. Nobody pauses.
func (l *Limits) May(rule plan.Rule) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s := l.rules[rule]; {
	case s == nil:
		return Unknown
	case s.pause != nil:
		return Paused
	case !s.known:
		return Unknown
	default:
		return Granted
	}
}

// may is the answer for one rule. The lock is held.
func (l *Limits) may(s *state, object types.UID, now time.Time) Answer {
	switch {
	case s == nil:
		return Unknown // It is about to be.
	case s.pause != nil:
		return Paused
	case !s.known:
		return Unknown
	case s.Limits.Everything():
		return Granted
	}
	s.window.expire(now, s.Limits.Per)
	if s.window.has(object) {
		return Granted
	}
	all, effective := s.window.counts()
	if all == 0 {
		s.base.reset() // A window begins.
	}
	if all < l.most(s, now, countedFor) || all < l.most(s, now, 0) {
		if l.stores && s.window.unstored+all-effective >= l.unstored(s, now) {
			if all == effective {
				l.note(s.ID) // Nothing is under way that would do so, where the limit has shrunk.
			}
			return Busy
		}
		return Granted
	}
	switch {
	case effective < l.most(s, now, countedFor):
		return Busy
	case s.Limits.Percent > 0 && !s.all:
		return Uncounted
	}
	l.count(s, now, countedFor)
	s.pause = &Pause{
		Rule: s.ID, Digest: s.Digest, Since: now.UTC().Truncate(time.Second), Objects: effective, Of: s.base.most(),
		Limit: written(s.Limits), Per: brief(s.Limits.Per), Asked: s.Asked,
	}
	l.note(s.ID)
	l.fresh = append(l.fresh, *s.pause)
	return Paused
}

// Fresh returns the pauses that have come since it was last asked.
func (l *Limits) Fresh() []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.fresh
	l.fresh = nil
	return out
}

// most is for how many objects the rule may write, by a count that is younger than old
// where it is a share. The lock is held.
func (l *Limits) most(s *state, now time.Time, old time.Duration) int {
	if s.Limits.Percent == 0 {
		return Most(s.Limits, 0)
	}
	l.count(s, now, old)
	return Most(s.Limits, s.base.most())
}

// unstored is for how many objects the rule may write of which a next process would not know.
// The lock is held.
func (l *Limits) unstored(s *state, now time.Time) int {
	s.share = max(1, l.most(s, now, countedFor)/unstoredShare)
	return s.share
}

// count finds out how many objects a rule watches, unless that is known since not long ago.
// The lock is held.
func (l *Limits) count(s *state, now time.Time, old time.Duration) {
	if age := now.Sub(s.counted); !s.base.empty() && age >= 0 && age < old {
		return
	}
	objects, all := l.watched(s.ID)
	s.all, s.counted = all, now
	s.base.add(objects, now, s.Limits.Per)
}

// Settle notes what became of a write that was granted: whether it took effect, or may
// have. It may make room for others.
func (l *Limits) Settle(rules []plan.Rule, object types.UID, effective bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for _, rule := range rules {
		if s := l.rules[rule]; s != nil {
			s.window.settle(object, effective, now, s.Limits.Per)
			if l.stores && s.window.unstored >= max(1, s.share) {
				l.note(rule)
			}
		}
	}
}

// Paused returns the pause of a rule, and whether it is paused.
func (l *Limits) Paused(rule plan.Rule) (Pause, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.rules[rule]; s != nil && s.pause != nil {
		return *s.pause, true
	}
	return Pause{}, false
}

// All lists the rules that are paused, in order.
func (l *Limits) All() []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Pause
	for _, s := range l.rules {
		if s.pause != nil {
			out = append(out, *s.pause)
		}
	}
	return Sorted(out)
}
