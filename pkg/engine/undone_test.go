package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestRefusedHoldIsKept holds that a rule which is done with an object that is being
// deleted does not let it go for another, whose actions were refused.
func TestRefusedHoldIsKept(t *testing.T) {
	const two = `
  - name: first
    watch: others
    onDelete: {actions: [{patch: {merge: {spec: {first: true}}}}]}
    actions: [{event: {reason: Hello, message: hello}}]
  - name: second
    watch: others
    onDelete: {actions: [{patch: {merge: {spec: {second: true}}}}]}
    actions: [{event: {reason: Hello, message: hello}}]
`
	c := newCluster()
	c.put(t, parent)
	runWith(t, c, engine.Housekeeping{}, families(t, two), func(t *testing.T, _ *engine.Engine) {
		c.locked(func() {
			c.answer = func(o plan.Operation) *write.Result {
				if o.Rules[0].Name == "first" {
					return &write.Result{Class: write.Terminal, Err: errRefused}
				}
				return nil
			}
		})
		c.put(t, string(encode(merged(c.get("a"), map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}}))))
		pass(10 * time.Minute)
		text := string(encode(c.get("a")))
		if !strings.Contains(text, "dyncontroller.dev/set.first") || strings.Contains(text, "dyncontroller.dev/set.second") {
			t.Errorf("want just the rule to hold it that was refused:\n%s", text)
		}
		c.locked(func() { c.answer = nil })
		pass(10 * time.Minute)
		if c.get("a") != nil {
			t.Errorf("it is still there:\n%s", encode(c.get("a")))
		}
	})
}
