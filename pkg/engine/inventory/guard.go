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
	recorded Book                // guarded by mu
	waiting  sets.Set[guard.Key] // that wait for something to be recorded; guarded by mu
}

// Recorded says what the inventory has from now on, and returns the objects that have waited for that.
func (g *Guard) Recorded(book Book) (waiting []guard.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting = g.waiting.UnsortedList()
	g.recorded, g.waiting = book, nil
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
				c.guard.waiting = c.guard.waiting.Union(sets.New(c.attempt.Key))
				return &guard.Delay{Err: guard.ErrUnrecorded, Retry: true}
			}
		}
	}
	return nil
}
