package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// run starts an engine in a bubble of virtual time and stops it at the end.
func run(t *testing.T, c *cluster, text string, body func(t *testing.T, e *engine.Engine)) {
	t.Helper()
	runWith(t, c, engine.Housekeeping{}, load(t, text), body)
}

func runWith(t *testing.T, c *cluster, house engine.Housekeeping, set *rules.Set, body func(t *testing.T, e *engine.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := c.engineWith(house)
		stop := start(t, e, set)
		synctest.Wait()
		body(t, e)
		stop()
	})
}

// start runs an engine until the returned function is called.
func start(t testing.TB, e *engine.Engine, set *rules.Set) (stop func()) {
	t.Helper()
	e.SetRules(set)
	ctx, cancel := context.WithCancel(t.Context())
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		e.Run(ctx)
	}()
	return func() {
		cancel()
		<-finished
	}
}

// pass lets virtual time go by; all goroutines run until they wait.
func pass(d time.Duration) { <-time.After(d) }

func spec(c *cluster, name string) map[string]any {
	out, _ := c.get(name)["spec"].(map[string]any)
	return out
}

func size(c *cluster, name string) any { return spec(c, name)["size"] }

// workers has an engine process so many objects at a time.
func workers(n int) func(*engine.Options) {
	return func(options *engine.Options) { options.Workers = n }
}

// TestQueued holds that what waits for a worker is told as it is when somebody asks.
func TestQueued(t *testing.T) {
	c := newCluster()
	const atATime = 2
	c.tune = workers(atATime)
	var held chan struct{}
	c.answer = func(plan.Operation) *write.Result {
		<-held
		return nil
	}
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		held = make(chan struct{})
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			c.put(t, strings.Replace(small, "name: a", "name: "+name, 1))
			synctest.Wait()
			if got, want := e.Queued(), max(0, i+1-atATime); got != want {
				t.Errorf("%d objects are new, and %d workers are held up: want %d in the queue, have %d", i+1, atATime, want, got)
			}
		}
		close(held)
		synctest.Wait()
		if got := e.Queued(); got != 0 {
			t.Errorf("all is done, and %d are in the queue", got)
		}
	})
}
