package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// TestAnew holds that what has left a selection while the cache was out of date is noticed
// when it is complete again, or wider, though no event tells of it.
func TestAnew(t *testing.T) {
	for name, told := range map[string]func(*cluster){
		"Complete": func(c *cluster) { c.sync(otherWidgets) },
		"Wider": func(c *cluster) {
			c.locked(func() { delete(c.unsynced, otherWidgets) })
			c.handler.Widened(otherWidgets)
		},
	} {
		t.Run(name, func(t *testing.T) { testAnew(t, told) })
	}
}

func testAnew(t *testing.T, told func(*cluster)) {
	t.Helper()
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
		told(c)
		pass(time.Minute)
		if held() {
			t.Error("it is still held")
		}
	})
}

// TestAnewRelated holds that who has asked a cache is looked at when another one has taken its place.
func TestAnewRelated(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: related
    watch: widgets
    with: {item: {resource: items, name: i}}
    when: item != nil
    actions:
    - patch: {merge: {spec: {size: 3}}}
`), func(t *testing.T, _ *engine.Engine) {
		c.locked(func() { c.frozen[allItems] = true })
		c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: i}}`)
		pass(time.Hour)
		c.locked(func() {
			delete(c.frozen, allItems)
			c.caches[allItems] = c.listed(allItems)
		})
		c.handler.Widened(allItems)
		pass(time.Minute)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v, so it was not looked at", got)
		}
	})
}
