package limit

import (
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Leave has the guard of an engine that writes nothing for a set any more keep what it knows of the rules of the set: until they are followed
// again, or [Move] gives it to another one. What is under way goes on to count.
func Leave(set plan.Rule, from *Guard) {
	from.mu.Lock()
	defer from.mu.Unlock()
	for id, s := range from.rules {
		if id.OfSet() == set {
			from.left[id] = s
			delete(from.rules, id)
		}
	}
}

// Move gives what is known of the rules of a set that has left to the guard of the engine that runs the set from now on, before that follows
// them, nil for none.
func Move(set plan.Rule, from, to *Guard) {
	known := map[plan.Rule]Stored{}
	from.mu.Lock()
	for id, one := range from.moved {
		if id.OfSet() == set {
			known[id] = one
			delete(from.moved, id)
		}
	}
	for id, s := range from.left {
		if id.OfSet() != set {
			continue
		}
		delete(from.left, id)
		if s.known { // Otherwise the next one learns it from the inventory.
			now := from.clock.Now()
			s.window.end(now)
			s.window.expire(now.Add(-s.Limits.Per))
			known[id] = Stored{Pause: s.pause, Counts: s.window.counts(&s.Limited), Rollout: s.storable(), Answered: s.answered}
		}
	}
	from.mu.Unlock()
	if to != nil {
		to.mu.Lock()
		maps.Copy(to.moved, known)
		to.mu.Unlock()
	}
}
