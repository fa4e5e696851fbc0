package limit

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// ledger has the rules whose pause, its end, or too much of what they have written is not
// stored yet.
type ledger struct {
	changes uint64 // how often something changed; guarded by mu of Limits
	// unsaved has which change was the last of a rule; guarded by mu of Limits.
	unsaved map[plan.Rule]uint64
	// ended has which change was the end of a pause that may be stored still, whether the
	// rule has paused again since or not; guarded by mu of Limits.
	ended map[plan.Rule]uint64
}

func newLedger() ledger {
	return ledger{unsaved: map[plan.Rule]uint64{}, ended: map[plan.Rule]uint64{}}
}

// end says that a rule has resumed. The lock is held.
func (l *ledger) end(rule plan.Rule) {
	l.note(rule)
	l.ended[rule] = l.changes
}

// keep forgets rules that are not followed. The lock is held.
func (l *ledger) keep(followed map[plan.Rule]*state) {
	for _, of := range []map[plan.Rule]uint64{l.unsaved, l.ended} {
		maps.DeleteFunc(of, func(id plan.Rule, _ uint64) bool { return followed[id] == nil })
	}
}

// note says that a rule has paused, or resumed, or is asked otherwise. The lock is held.
func (l *ledger) note(rule plan.Rule) {
	l.changes++
	l.unsaved[rule] = l.changes
}

// Unsaved reports whether something has changed that is not stored yet.
func (l *Limits) Unsaved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unsaved) > 0
}

// Version is how much has changed. What is stored after it was asked has at least that.
func (l *Limits) Version() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes
}

// Store returns what is to be stored in place of what is: of the rules that are known
// what is known, and of the others what was stored, unless they are gone.
func (l *Limits) Store(stored []Pause, gone func(plan.Rule) bool) []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Pause
	for _, p := range stored {
		s := l.rules[p.Rule]
		if s != nil && !s.known || s == nil && !gone(p.Rule) {
			out = append(out, p)
		}
	}
	for _, s := range l.rules {
		if s.pause != nil {
			out = append(out, *s.pause)
		}
	}
	return Sorted(out)
}

// Learn takes what is stored, of the sets that could be read, once it has at least what
// had changed at a version. It returns the rules that have resumed and of which that is
// stored now, and those that are asked to resume since they were stored.
func (l *Limits) Learn(stored []Pause, read func(set plan.Rule) bool, version uint64) (over, resumed []plan.Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	settled := func(id plan.Rule, at uint64) bool { return at <= version && read(id.OfSet()) }
	for id := range l.unsaved {
		if s := l.rules[id]; s != nil && read(id.OfSet()) {
			s.window.store()
		}
	}
	maps.DeleteFunc(l.unsaved, settled)
	for id, at := range l.ended {
		if settled(id, at) {
			delete(l.ended, id)
			over = append(over, id)
		}
	}
	for id, s := range l.rules {
		if s.known || !read(id.OfSet()) {
			continue
		}
		s.known = true
		if l.adopt(s, stored) {
			resumed = append(resumed, id)
		}
	}
	return over, resumed
}

// adopt takes over the pause that an earlier process stored, unless the rule is another
// one now. It reports whether it is asked to resume since. The lock is held.
func (l *Limits) adopt(s *state, stored []Pause) (resumes bool) {
	at := slices.IndexFunc(stored, func(p Pause) bool { return p.Rule == s.ID })
	switch {
	case at < 0:
		return false
	case stored[at].Digest != s.Digest:
		l.note(s.ID) // It is to be stored no longer.
		return false
	}
	p := stored[at]
	s.pause = &p
	return l.ask(s, s.Asked)
}
