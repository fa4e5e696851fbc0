package engine

import (
	"maps"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Remembered counts what the engine keeps of objects, without what it keeps none of.
func (e *Engine) Remembered() map[string]int {
	out := map[string]int{"records": len(e.memory.keys())}
	for _, count := range []struct {
		name string
		of   func() int
		lock interface {
			Lock()
			Unlock()
		}
	}{
		{"waiters", func() (n int) {
			for _, record := range e.memory.records {
				n += len(record.awaits)
			}
			return n
		}, &e.memory.mu},
		{"moments", func() int { return len(e.timers.of) }, &e.timers.mu},
		{"news", func() int { return len(e.unfinished.since) }, &e.unfinished.mu},
		{"late", func() int { return len(e.unfinished.owing) }, &e.unfinished.mu},
		{"in hand", func() int { return len(e.unfinished.looks) }, &e.unfinished.mu},
	} {
		count.lock.Lock()
		out[count.name] = count.of()
		count.lock.Unlock()
	}
	out["queued"] = e.Len()
	out["trials"] = e.guards.breaker.Len() + len(breaker.Counts(e.guards.breaker.List()))
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}

// Asking counts who asked anything of a selection.
func (e *Engine) Asking(selection plan.Selection) int { return len(e.related.Asking(selection)) }

// RetryTogether has what begins to fail together be tried again together, after times that
// can be told.
func (e *Engine) RetryTogether() {
	e.guards = newGuards(e.core, e.workers, func(time.Duration) time.Duration { return 0 })
	e.tracker.more = e.guards.limits.Unsaved
}
