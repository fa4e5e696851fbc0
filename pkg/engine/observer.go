package engine

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Observer is told what the engine does, for metrics. Its methods must return
// quickly and are called by all workers at the same time.
type Observer interface {
	Deeds
	Evaluated(key Key, decision plan.Decision)
	// Settled is told of an object with which the rules have done, so long after the first
	// change since they had done with it before.
	Settled(key Key, took time.Duration)
}

// Deeds is told what an engine does to the cluster, and what it spares it.
type Deeds interface {
	// Wrote is told of every operation that was sent, and of those that were not
	// only because of a dry run or the mode of a rule.
	Wrote(operation plan.Operation, class write.Class)
	// Recorded is told of every attempt to record an Event; err is nil where
	// it succeeded.
	Recorded(event plan.Event, err error)
	// Spared is told how many changes were wanted and not sent, as they are known to
	// have no effect.
	Spared(key Key, changes int)
}

// NopObserver ignores everything.
type NopObserver struct{}

// Evaluated implements [Observer].
func (NopObserver) Evaluated(Key, plan.Decision) {}

// Wrote implements [Observer].
func (NopObserver) Wrote(plan.Operation, write.Class) {}

// Recorded implements [Observer].
func (NopObserver) Recorded(plan.Event, error) {}

// Settled implements [Observer].
func (NopObserver) Settled(Key, time.Duration) {}

// Spared implements [Observer].
func (NopObserver) Spared(Key, int) {}
