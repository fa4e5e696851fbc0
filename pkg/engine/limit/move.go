package limit

import (
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// moves are of sets that go from one guard to another.
type moves struct {
	leaving map[plan.Rule]bool   // sets that are not followed, whatever the rules are
	left    map[plan.Rule]*state // of their rules
	moved   map[plan.Rule]Stored // to here, of rules that are to be known yet; it may not be stored
}

// Leave has the guard of an engine that writes nothing for a set any more keep what it knows of the rules of the set until [Move]. What is under
// way goes on to count.
func Leave(set plan.Rule, from *Guard) {
	from.mu.Lock()
	defer from.mu.Unlock()
	from.leaving[set] = true
	delete(from.sets, set)
	for id, s := range from.rules {
		if id.OfSet() == set {
			from.left[id] = s
			delete(from.rules, id)
		}
	}
}

// Move gives what is known of the rules of a set that has left to the guard of the engine that runs the set from now on, before that follows
// them: nil for none, and the same guard where the set comes back.
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
			known[id] = Stored{Pause: s.pause, Counts: s.window.counts(&s.Limited, len(s.window.written)), Rollout: s.storable(), Answered: s.answered}
		}
	}
	delete(from.leaving, set)
	from.mu.Unlock()
	if to != nil {
		to.mu.Lock()
		maps.Copy(to.moved, known)
		to.mu.Unlock()
	}
}
