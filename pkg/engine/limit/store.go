package limit

import (
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Unsaved reports whether something has changed that is not stored yet.
func (g *Guard) Unsaved() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.rules {
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
// stored, unless they are gone. Those resume that are asked to.
func (g *Guard) Store(stored map[plan.Rule]Stored, asks Asks, gone func(plan.Rule) bool) map[plan.Rule]Stored {
	g.mu.Lock()
	defer g.unlock()
	out := map[plan.Rule]Stored{}
	for id, one := range stored {
		if s := g.rules[id]; s != nil && !s.known || s == nil && !gone(id) {
			out[id] = one
		}
	}
	for id, s := range g.rules {
		if asks, known := asks(id); known {
			g.hear(s, stored[id].Pause, asks)
		}
		if s.saving != saved {
			s.saving = beingSaved
			s.window.expire(g.clock.Now().Add(-s.Limits.Per))
			s.stored, s.rolled = s.window.counts(&s.Limited), s.storable()
		}
		if s.known && (s.pause != nil || len(s.stored) > 0 || s.rolled != nil || s.answered) {
			out[id] = Stored{Pause: s.pause, Counts: s.stored, Rollout: s.rolled, Answered: s.answered || s.pause != nil && s.pause.Asked}
		}
	}
	return out
}

// Learn takes what is stored now, of the sets that could be read: what [Guard.Store] has last returned, or more.
func (g *Guard) Learn(stored map[plan.Rule]Stored, asks Asks, read func(set plan.Rule) bool) {
	g.mu.Lock()
	defer g.unlock()
	for id, s := range g.rules {
		if !read(id.OfSet()) {
			continue
		}
		s.window.stored()
		if s.saving == beingSaved {
			s.saving, s.fresh = saved, false
		}
		if !s.known {
			s.known = true
			g.adopt(s, stored[id])
		}
		asks, _ := asks(id) // A set that has no object asks in its document alone.
		g.hear(s, stored[id].Pause, asks)
	}
	g.free()
}

// Move gives what is known of the rules of a set to the guard of the engine that runs the set from now on, before that follows them, nil for none.
// The engine before writes nothing for them any more; what is under way counts.
func Move(set plan.Rule, from, to *Guard) {
	known := map[plan.Rule]Stored{}
	from.mu.Lock()
	for id, one := range from.moved {
		if id.OfSet() == set {
			known[id] = one
			delete(from.moved, id)
		}
	}
	for _, states := range []map[plan.Rule]*state{from.parted, from.rules} {
		for id, s := range states {
			if id.OfSet() != set {
				continue
			}
			delete(states, id)
			if s.known {
				now := from.clock.Now()
				s.window.end(now)
				s.window.expire(now.Add(-s.Limits.Per))
				known[id] = Stored{Pause: s.pause, Counts: s.window.counts(&s.Limited), Rollout: s.storable()}
			}
		}
	}
	from.mu.Unlock()
	if to != nil {
		to.mu.Lock()
		maps.Copy(to.moved, known)
		to.mu.Unlock()
	}
}

// adopt takes over what an earlier process has stored, or what was moved here, unless the rule is another one now. The window is empty.
func (g *Guard) adopt(s *state, stored Stored) {
	restore := func(all []v1alpha1.Count) (own []v1alpha1.Count) {
		for _, c := range all {
			if c.Digest == s.Digest {
				own = append(own, c)
				s.window.restore(c, g.clock.Now())
			}
		}
		return own
	}
	s.stored = restore(stored.Counts)
	moved, fresh := g.moved[s.ID]
	if fresh {
		delete(g.moved, s.ID)
		known := len(s.window.written)
		restore(moved.Counts)
		s.window.unstored = len(s.window.written) - known
		stored = moved
		g.save(s)
	}
	switch r := stored.Rollout; {
	case r == nil || s.Rollout == nil:
	case r.Digest != s.Digest:
		g.save(s) // It is to be stored no longer.
	default:
		s.rolled, s.rollout = r, newRollout()
		s.rollout.restore(r, g.clock.Now())
	}
	if !s.everywhere() {
		watches := s.Watches
		g.then = append(g.then, func() { g.host.LookAgain(watches) }) // Also those that were looked at before.
	}
	switch {
	case stored.Pause == nil:
	case stored.Pause.Digest != s.Digest:
		s.answered = s.asks
		g.save(s) // It is to be stored no longer.
	default:
		s.pause, s.fresh, s.last = stored.Pause, fresh, stored.Pause.Since.Time
	}
}
