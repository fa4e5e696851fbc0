package inventory

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Guard keeps rules from leaving on objects what the inventory does not say yet. It implements [guard.Guard]; the zero
// value knows of nothing that is recorded.
type Guard struct {
	mu       sync.Mutex
	recorded sets.Set[plan.Leftover] // of what rules leave now; guarded by mu
	waiting  sets.Set[guard.Key]     // that wait for something to be recorded; guarded by mu
}

// Recorded says what the inventory has of what rules leave now, and returns the objects that have waited for that. What a rule
// left that is gone does not count: it may be cleaned up by the time that the rule comes back.
func (g *Guard) Recorded(book Book, now []plan.Leftover) (waiting []guard.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting = g.waiting.UnsortedList()
	g.recorded, g.waiting = sets.Set[plan.Leftover]{}, sets.Set[guard.Key]{}
	for _, leftover := range now {
		if book.Has(leftover) {
			g.recorded.Insert(leftover)
		}
	}
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
			if !c.guard.recorded.Has(leftover) {
				if c.guard.waiting == nil {
					c.guard.waiting = sets.Set[guard.Key]{}
				}
				c.guard.waiting.Insert(c.attempt.Key)
				return &guard.Delay{Err: guard.ErrUnrecorded, Retry: true}
			}
		}
	}
	return nil
}
