package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestFailureIsRead holds that the actions of a rule can say why its other ones are refused, wherever they are written, and
// that they are sent once for each reason.
func TestFailureIsRead(t *testing.T) {
	const tells = `
    - patch: {merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}`
	const deletes = `
    - delete: {target: found}`
	for name, actions := range map[string]string{"Before": tells + deletes, "After": deletes + tells} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, newItem("p", "labels: {of: a}"))
			refuses, tries := true, 0
			var told []any
			c.answer = func(o plan.Operation) *write.Result {
				refused := false
				c.locked(func() {
					if o.Type == plan.Merge {
						text, _ := plan.Lookup(o.Predicted, plan.Path{"spec", "text"})
						told = append(told, text)
						return
					}
					tries++
					refused = refuses
				})
				if refused {
					return &write.Result{Class: write.Terminal, Err: errRefused}
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: goes
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    actions:`+actions+`
`), func(t *testing.T, _ *engine.Engine) {
				pass(time.Second)
				c.locked(func() {
					if diff := cmp.Diff([]any{"Refused"}, told); diff != "" || tries != 1 {
						t.Errorf("told after %d tries (-want +got):\n%s", tries, diff)
					}
				})
				pass(time.Hour)
				c.locked(func() { refuses = false })
				pass(time.Hour)
				c.locked(func() {
					if diff := cmp.Diff([]any{"Refused", "none"}, told); diff != "" {
						t.Errorf("told in the end (-want +got):\n%s", diff)
					}
				})
			})
		})
	}
}

// TestFailureOfAnotherStart holds that a process that knows of no failure does not take back what one before it has told.
func TestFailureOfAnotherStart(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, text: Refused}}`)
	c.put(t, newItem("p", "labels: {of: a}"))
	c.answer = func(o plan.Operation) *write.Result {
		if o.Type == plan.Merge {
			t.Errorf("sent: %v", o.Body)
		}
		return &write.Result{Class: write.Terminal, Err: errRefused}
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: goes
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    actions:
    - patch: {merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}
    - delete: {target: found}
`), func(*testing.T, *engine.Engine) { pass(time.Hour) })
}
