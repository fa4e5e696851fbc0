package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestRolloutOfNewLeader holds that an object keeps its place that the leader before may have written for, whatever a cache shows of it that is
// behind; and that another one takes the place if the object is gone once the cache has caught up.
func TestRolloutOfNewLeader(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		shown  string // of the first object, by the cache that is behind, empty for nothing
		gone   bool   // it is
		sick   bool   // it has been written for, and is not healthy
	}{
		"Missing":    {reason: "It is not in the cache yet."},
		"Unselected": {reason: "The cache has it from before it was selected.", shown: "labels: {}"},
		"Gone":       {reason: "It was deleted.", gone: true},
		"Sick":       {reason: "The next wave waits until it is healthy.", shown: "labels: {}", sick: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				put := func(c *cluster, name, metadata string, size int) {
					sick := name == "w0" && size == 3 && tc.sick
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s, %s}, spec: {size: %d, sick: %t}}`, name, metadata, size, sick))
				}
				const selected = `labels: {other: "yes"}`
				c, s := newCluster(), &shelf{}
				for i := range 40 {
					put(c, fmt.Sprint("w", i), selected, 1)
				}
				set := load(t, strings.Replace(rolling, "watch: widgets", "watch: others", 1)+labelled)
				if !tc.sick {
					c.answer = refuses("grows") // It ends before it knows that it has written.
				}
				stop := start(t, c.engineWith(s.house(false)), set)
				pass(time.Minute)
				uid := plan.Text(c.get("w0"), "metadata", "uid")
				if tc.sick {
					put(c, "w0", selected+", uid: "+uid, 3)
					pass(time.Minute)
				}
				stop()
				c.restart()
				c.answer, c.tune = nil, func(o *engine.Options) { o.Elected = true }
				c.recent, c.vouched = true, time.Now().Add(-time.Minute)
				if c.remove("w0"); tc.shown != "" {
					put(c, "w0", tc.shown+", uid: "+uid, 1)
				}
				stop = start(t, c.engineWith(s.house(false)), set)
				pass(30 * time.Second)
				if n := c.grown(); n != 0 {
					t.Errorf("%s the new leader has written for %d objects before it knows what the one before has done", tc.reason, n)
				}
				if !tc.gone {
					put(c, "w0", selected+", uid: "+uid, 3)
				}
				c.locked(func() { c.vouched = time.Now() })
				pass(5 * time.Minute)
				if tc.sick {
					pass(15 * time.Minute)
				}
				if n := c.grown(); n != 1 {
					t.Errorf("%s it has written for %d objects, want one", tc.reason, n)
				}
				stop()
			})
		})
	}
}
