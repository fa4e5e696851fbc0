package inventory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Guard keeps rules from leaving on objects what the inventory does not say yet. It implements [guard.Guard]; the zero
// value knows of nothing that is recorded.
type Guard struct {
	mu       sync.Mutex
	recorded map[plan.Leftover]bool // guarded by mu
	waiting  map[guard.Key]bool     // that wait for something to be recorded; guarded by mu
}

// Recorded says what the inventory has from now on, and returns the objects that have waited for that.
func (g *Guard) Recorded(all []plan.Leftover) (waiting []guard.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recorded = map[plan.Leftover]bool{}
	for _, leftover := range all {
		g.recorded[leftover] = true
	}
	waiting = slices.Collect(maps.Keys(g.waiting))
	g.waiting = nil
	return waiting
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return check{guard: g, attempt: a}, time.Time{}
}

type check struct {
	guard.Pass
	guard   *Guard
	attempt *guard.Attempt
}

// Admit implements [guard.Check].
func (c check) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	c.guard.mu.Lock()
	defer c.guard.mu.Unlock()
	for _, rule := range o.Rules {
		for _, leftover := range c.attempt.Rules.Leaves[rule] {
			if c.guard.recorded[leftover] {
				continue
			}
			if c.guard.waiting == nil {
				c.guard.waiting = map[guard.Key]bool{}
			}
			c.guard.waiting[c.attempt.Key] = true
			return &guard.Delay{Err: guard.ErrUnrecorded, Retry: true}
		}
	}
	return nil
}
