package engine

import (
	"context"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Report is what settling came to.
type Report struct {
	Objects   int // objects that rules looked at
	Written   int // operations that changed an object
	Simulated int // operations of a dry run
	Audited   int // operations that rules in mode Audit would have sent
	Waiting   int // objects of which a rule waits for time to pass
	Failures  []Failure
	Unlisted  []informer.Status // what could not be listed
	// Unkept is why the housekeeping could not be done, nil where it was or there is
	// none.
	Unkept error
}

// Failure is something that could not be done about an object, with the rules
// that wanted it where they are known.
type Failure struct {
	Key   Key
	Rules []plan.Rule
	Err   error
}

// Settle lets the rules act until nothing is left that can be done now, and
// reports. What may get better by itself is tried a few times; no timer is
// waited for. The error is that of the context, or of starting.
func (e *Engine) Settle(ctx context.Context, set *rules.Set) (Report, error) {
	if e.driven() {
		return Report{}, errDriven
	}
	e.wake()
	idle := e.open.begin(activate(set).caches(), e.house != nil)
	running, stop := context.WithCancel(ctx)
	defer stop()
	if err := e.SetRules(set); err != nil {
		return Report{}, err
	}
	if e.house != nil {
		// Before the first write: one that waits for it would be sent apart from others to
		// the same object, or with them, as it happens. An error is told when it is tried again.
		_, _ = e.house.record(running, e.active.Load())
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		e.Run(running)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = fmt.Errorf("settling: %w", context.Cause(ctx))
	}
	stop()
	<-finished
	return e.open.summary(), err
}
