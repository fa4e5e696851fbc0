package limit

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// excuse lets a rollout go on without the objects that are not healthy when they are looked at next. Those for which the rule has written nothing
// stay chosen unless they were late when it paused.
func (r *rollout) excuse(paused time.Time, timeout time.Duration) {
	for _, c := range r.chosen {
		late := !c.since.IsZero() && paused.Add(time.Second).After(c.since.Add(timeout)) // Whole seconds are stored.
		c.lenient = c.unseen || !c.healthy && (c.written || late)
	}
}

// letOff lets a rollout go on without an object that is not healthy. One that the rule could not write for comes after the last wave, as it would have
// to be healthy once the rule has. Another one takes its place, unless a part of what the rule does has been written.
func (w waves) letOff(key guard.Key, m string, waits candidate, wants bool) {
	r := w.rollout
	c := r.chosen[m]
	if !c.excused {
		r.unhealthy--
	}
	if c.excused = true; wants {
		waits.counted = c.written
		r.later[key] = waits
		if delete(r.chosen, m); c.written {
			r.alsoCounted++
		}
	}
	w.save()
}

// late counts an object for which a write was under way when users asked the rule to go on without it.
func (s *state) late(a *guard.Attempt) {
	r := s.rollout
	if late, is := r.later[a.Key]; is && late.uid == a.UID && !late.counted && a.Watched != nil && !plan.BeingDeleted(a.Watched) {
		late.counted = true
		r.later[a.Key] = late
		r.alsoCounted++
		s.save()
	}
}

// again gives objects that are not healthy time from now on.
func (r *rollout) again(now time.Time) {
	for _, c := range r.chosen {
		if !c.healthy {
			c.since = now
		}
	}
}
