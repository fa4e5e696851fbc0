package engine

import (
	"slices"
	"time"
)

// Due is when time alone changes what the rules want of an object, or when it is tried
// again.
type Due struct {
	Key Key
	At  time.Time
}

// Due lists the objects that are looked at again although nothing changes, the earliest
// first.
func (e *Engine) Due() []Due { return e.timers.all() }

func (t *timers) all() []Due {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Due, 0, len(t.of))
	for key, moment := range t.of {
		out = append(out, Due{key, moment.at})
	}
	slices.SortFunc(out, func(a, b Due) int {
		if order := a.At.Compare(b.At); order != 0 {
			return order
		}
		return a.Key.Compare(b.Key)
	})
	return out
}
