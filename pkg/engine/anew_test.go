package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// TestAnew holds that what has left a selection while the cache was out of date is noticed
// when it is complete again, though no event tells of it.
func TestAnew(t *testing.T) {
	finalizer := families(t, holder).Rules()[0].ID.Finalizer()
	c := newCluster()
	held := func() bool { return strings.Contains(string(encode(c.get("a"))), finalizer) }
	c.put(t, parent)
	runWith(t, c, engine.Housekeeping{}, families(t, holder), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.locked(func() {
			c.unsynced[otherWidgets] = true
			delete(c.caches, otherWidgets)
		})
		c.put(t, string(encode(merged(c.get("a"), map[string]any{"metadata": map[string]any{"labels": map[string]any{"other": nil}}}))))
		pass(time.Hour)
		if !held() {
			t.Error("it was taken for one that has left, though nothing is known")
		}
		c.locked(func() { c.caches[otherWidgets] = c.listed(otherWidgets) })
		c.sync(otherWidgets)
		pass(time.Minute)
		if held() {
			t.Error("it is still held")
		}
	})
}
