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
// stored, unless their sets are gone, or are there without them. Those resume that are asked to.
func (g *Guard) Store(stored map[plan.Rule]Stored, asks Asks, gone func(plan.Rule) bool) map[plan.Rule]Stored {
	g.mu.Lock()
	defer g.unlock()
	out := map[plan.Rule]Stored{}
	for id, one := range stored {
		if s := g.rules[id]; s != nil && !s.known || s == nil && !g.sets[id.OfSet()] && !gone(id) {
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
			s.stored, s.rolled = s.window.counts(&s.Limited, mostCounted), s.storable()
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

// adopt takes over what an earlier process has stored, or what was moved here, unless the rule is another one now. The window is empty, but for what was
// under way when the set of the rule came back.
func (g *Guard) adopt(s *state, stored Stored) {
	own := func(all []v1alpha1.Count) []v1alpha1.Count {
		return slices.DeleteFunc(slices.Clone(all), func(c v1alpha1.Count) bool { return c.Digest != s.Digest })
	}
	now, known := g.clock.Now(), newWindow()
	s.stored = own(stored.Counts)
	known.restore(s.stored, now)
	counts := s.stored
	moved, fresh := g.moved[s.ID]
	if fresh {
		delete(g.moved, s.ID)
		counts, stored, s.answered = own(moved.Counts), moved, moved.Answered
		g.save(s)
	}
	s.window.restore(counts, now)
	for m, e := range s.window.written {
		if known.written[m].at.Before(e.at) {
			s.window.unstored++
		}
	}
	switch r := stored.Rollout; {
	case r == nil || s.Rollout == nil:
	case r.Digest != s.Digest:
		g.save(s) // It is to be stored no longer.
	default:
		s.rolled, s.rollout = r, newRollout()
		s.rollout.restore(r, now)
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
