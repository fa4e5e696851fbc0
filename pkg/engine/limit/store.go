package limit

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Unsaved reports whether something has changed that is not stored yet.
func (g *Guard) Unsaved() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.all() {
		if s.saving != saved {
			return true
		}
	}
	return false
}

// Asks says what set objects ask of their rules, as they are with what is stored: whether one asks a rule to resume, and whether that is
// known.
type Asks func(plan.Rule) (asks, known bool)

// Store returns what is to be stored in place of what is: of the rules that are known what is known, and of the others what was
// stored, unless their sets are gone, or are there without them. Those resume that are asked to.
func (g *Guard) Store(stored map[plan.Rule]Stored, asks Asks, gone func(plan.Rule) bool) map[plan.Rule]Stored {
	g.mu.Lock()
	defer g.unlock()
	out := map[plan.Rule]Stored{}
	for id, one := range stored {
		set := id.OfSet()
		s, without := g.of(id), g.has(set) && g.sets[set]
		if s != nil && !s.known || s == nil && !without && !gone(id) {
			out[id] = one
		}
	}
	for id, s := range g.all() {
		if asks, known := asks(id); known {
			s.hear(stored[id].Pause, asks)
		}
		if s.known && s.saving != saved {
			s.saving = beingSaved
			s.window.expire(g.clock.Now().Add(-s.Limits.Per))
			s.stored, s.rolled = s.window.counts(&s.Limited, mostCounted), s.storable()
		}
		if s.known && (s.pause != nil || len(s.stored) > 0 || s.rolled != nil || s.answered) {
			out[id] = Stored{Pause: s.pause, Counts: s.stored, Rollout: s.rolled, Answered: s.answered || s.pause != nil && s.pause.Asked}
		}
	}
	return out
}

// Learn takes what is stored now, of the sets that could be read: what [Guard.Store] has last returned, or more. Started is what [Limits.Started] was before
// that was read: of a rule that the engine runs since, it may not be in it.
func (g *Guard) Learn(stored map[plan.Rule]Stored, asks Asks, read func(set plan.Rule) bool, started int) {
	g.mu.Lock()
	defer g.unlock()
	for id, s := range g.all() {
		if !read(id.OfSet()) || s.started > started {
			continue
		}
		s.window.stored()
		if s.saving == beingSaved {
			s.saving, s.fresh = saved, false
		}
		if !s.known {
			s.known = true
			if s.adopt(stored[id]); s.saving == unsaved {
				s.save() // Nothing of it was stored while it was not known.
			}
		}
		asks, _ := asks(id) // A set that has no object asks in its document alone.
		s.hear(stored[id].Pause, asks)
	}
	g.free()
}

// adopt takes over what an earlier process has stored, unless the rule is another one now. The window may have writes that were under way when a rule
// was taken out of its set that is back now.
func (s *state) adopt(stored Stored) {
	now := s.guard.clock.Now()
	s.stored = slices.DeleteFunc(slices.Clone(stored.Counts), func(c v1alpha1.Count) bool { return c.Digest != s.Digest })
	s.window.restore(s.stored, now)
	switch r := stored.Rollout; {
	case r == nil || s.Rollout == nil:
	case r.Digest != s.Digest:
		s.save() // It is to be stored no longer.
	default:
		s.rolled, s.rollout = r, newRollout()
		s.rollout.restore(r, now)
	}
	if !s.everywhere() {
		s.guard.lookAgain(s.Watches) // Also those that were looked at before.
	}
	switch {
	case stored.Pause == nil:
	case stored.Pause.Digest != s.Digest:
		s.answered = s.asks
		s.save() // It is to be stored no longer.
	default:
		s.pause, s.last = stored.Pause, stored.Pause.Since.Time
	}
}
