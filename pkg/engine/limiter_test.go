package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestTurnBeforeReading holds that what a write depends on is read when its turn has come: read before, it would be out of date after
// the wait, and the turn would be lost.
func TestTurnBeforeReading(t *testing.T) {
	const objects = 20
	c := newCluster()
	c.unknown = true // Caches are not fresh, so that objects are read.
	for i := range objects {
		c.put(t, widget(fmt.Sprintf("w%d", i), 1))
	}
	var read time.Time
	c.liveOK = func() error { read = time.Now(); return nil }
	c.answer = func(plan.Operation) *write.Result {
		c.locked(func() {
			if age := time.Since(read); age > 0 {
				t.Errorf("what it depends on was read %s ago", age)
			}
		})
		return nil
	}
	c.tune = func(o *engine.Options) { o.Limiter = client.NewLimiter(2, 1) }
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: child
    watch: widgets
    actions: [{apply: {resource: items, manifest: {metadata: {name: "of-${object.metadata.name}"}}}}]
`), func(t *testing.T, _ *engine.Engine) {
		pass(objects / 2 * time.Second)
		if got := len(c.list(items)); got != objects {
			t.Errorf("%d children, want %d", got, objects)
		}
	})
}
