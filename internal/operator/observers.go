package operator

import (
	"sync/atomic"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// observers tells several what the engine of one tenant does. It is safe for concurrent
// use.
type observers struct {
	all    []engine.Observer
	total  *atomic.Int64 // of what all tenants have queued
	length atomic.Int64  // of it, what this one has
}

// Evaluated implements [engine.Observer].
func (o *observers) Evaluated(key engine.Key, decision plan.Decision) {
	for _, one := range o.all {
		one.Evaluated(key, decision)
	}
}

// Wrote implements [engine.Observer].
func (o *observers) Wrote(operation plan.Operation, class write.Class) {
	for _, one := range o.all {
		one.Wrote(operation, class)
	}
}

// Queued implements [engine.Observer], with the sum of all queues.
func (o *observers) Queued(length int) {
	sum := o.total.Add(int64(length) - o.length.Swap(int64(length)))
	for _, one := range o.all {
		one.Queued(int(sum))
	}
}

// Recorded implements [engine.Observer].
func (o *observers) Recorded(event plan.Event, err error) {
	for _, one := range o.all {
		one.Recorded(event, err)
	}
}

// Settled implements [engine.Observer].
func (o *observers) Settled(key engine.Key, took time.Duration) {
	for _, one := range o.all {
		one.Settled(key, took)
	}
}

// Spared implements [engine.Observer].
func (o *observers) Spared(key engine.Key, changes int) {
	for _, one := range o.all {
		one.Spared(key, changes)
	}
}
