package engine_test

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

var newYear = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// driver drives an engine on a cluster, in the goroutine of the test.
type driver struct {
	engine.NopObserver
	*cluster
	engine *engine.Engine
	clock  *testingclock.FakeClock
	// decided are the decisions in their order.
	decided []string
}

// Evaluated implements [engine.Observer].
func (d *driver) Evaluated(key engine.Key, decision plan.Decision) {
	d.decided = append(d.decided, fmt.Sprintf("%s: %s %s %s", key.Name, decision.Rule.Name, decision.Outcome, decision.Reason))
}

// options are those of a driver.
func (d *driver) options(order workqueue.TypedDelayingInterface[engine.Key]) engine.Options {
	return engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			d.handler = handler
			return cachesOf{d.cluster}
		},
		Live: d.cluster, Writer: d.cluster, Recorder: d.cluster, Observer: d, Clock: d.clock, Queue: order,
		Name: func(_ engine.Key, prefix string) string {
			d.version++
			return fmt.Sprintf("%s%d", prefix, d.version)
		},
	}
}

// drive starts an engine on a cluster. What it has started must have ended when the test
// does.
func drive(t *testing.T, c *cluster, order queue.Order, set *rules.Set) *driver {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	d := &driver{cluster: c, clock: testingclock.NewFakeClock(newYear)}
	d.engine = engine.New(d.options(queue.New[engine.Key](order)))
	if err := d.engine.Start(set); err != nil {
		t.Fatal(err)
	}
	return d
}

// drain is a round that ends.
func (d *driver) drain(t *testing.T) engine.Report {
	t.Helper()
	report, err := d.engine.Drain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// pass lets virtual time go by, from one moment at which there is something to do to the
// next, and returns how many there were.
func (d *driver) pass(t *testing.T, span time.Duration) (moments int) {
	t.Helper()
	end := d.clock.Now().Add(span)
	for next := d.engine.Wake(); !next.IsZero() && !next.After(end); next = d.engine.Wake() {
		d.clock.SetTime(next)
		d.engine.Wake()
		d.drain(t)
		moments++
	}
	d.clock.SetTime(end)
	return moments
}

// summary is a report in short.
func summary(report engine.Report) string {
	out := fmt.Sprintf("%d looked at, %d written", report.Objects, report.Written)
	if report.Waiting > 0 {
		out += fmt.Sprintf(", %d waiting", report.Waiting)
	}
	for _, failure := range report.Failures {
		out += fmt.Sprintf("\n%s: %v", failure.Key.Name, failure.Err)
	}
	return out
}
