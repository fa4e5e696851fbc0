package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
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
func start(t *testing.T, e *engine.Engine, set *rules.Set) (stop func()) {
	t.Helper()
	if err := e.SetRules(set); err != nil {
		t.Fatal(err)
	}
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
