package operator

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// observers tells several what the engine of one tenant does. It is safe for concurrent
// use.
type observers []engine.Observer

// Evaluated implements [engine.Observer].
func (o observers) Evaluated(key engine.Key, decision plan.Decision) {
	for _, one := range o {
		one.Evaluated(key, decision)
	}
}

// Wrote implements [engine.Observer].
func (o observers) Wrote(operation plan.Operation, class write.Class) {
	for _, one := range o {
		one.Wrote(operation, class)
	}
}

// Recorded implements [engine.Observer].
func (o observers) Recorded(event plan.Event, err error) {
	for _, one := range o {
		one.Recorded(event, err)
	}
}

// Settled implements [engine.Observer].
func (o observers) Settled(key engine.Key, took time.Duration) {
	for _, one := range o {
		one.Settled(key, took)
	}
}

// Spared implements [engine.Observer].
func (o observers) Spared(key engine.Key, changes int) {
	for _, one := range o {
		one.Spared(key, changes)
	}
}
