package engine

import (
	"context"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Settle lets the rules act until nothing is left that can be done now, and
// reports. What may get better by itself is tried a few times, and first lists for [Pace.CacheSyncTimeout]; no
// timer of a rule is waited for. The error is that of the context, or of starting.
func (e *Engine) Settle(ctx context.Context, set *rules.Set) (Report, error) {
	if e.runs() == stepwise {
		return Report{}, errDriven
	}
	e.mode.Store(int32(untilSettled))
	e.wake()
	e.tracker.begin(activate(set).all, e.keepsHouse())
	running, stop := context.WithCancel(ctx)
	defer stop()
	e.SetRules(set)
	if e.keepsHouse() {
		// Before the first write: one that waits for it would be sent apart from others to
		// the same object, or with them, as it happens. An error is told when it is tried again.
		_, _ = e.house.record(running, e.active.Load())
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		e.Run(running)
	}()
	if timeout := e.options.CacheSyncTimeout; timeout > 0 {
		timer := e.options.Clock.NewTimer(timeout)
		go func() {
			defer timer.Stop()
			select {
			case <-timer.C():
				e.tracker.giveUp(fmt.Errorf("it was not listed within %s", timeout))
			case <-running.Done():
			}
		}()
	}
	err := e.tracker.wait(ctx, true)
	if err != nil {
		err = fmt.Errorf("settling: %w", err)
	}
	stop()
	<-finished
	return e.tracker.summary(), err
}
