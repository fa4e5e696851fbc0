package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestUnresolvedNameOfWhatIsThere holds that a name that was made after all is not sent
// again when another child is wanted much later.
func TestUnresolvedNameOfWhatIsThere(t *testing.T) {
	c := newCluster()
	c.names = []string{"1", "2"}
	c.put(t, small)
	c.liveOK = func() error { return errRefused }
	c.after = func(plan.Operation, write.Result) write.Result {
		c.locked(func() { c.after = nil })
		return lost
	}
	set := families(t, strings.Replace(one, "len(found) < 1", "len(found) < object.spec.size", 1))
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`)
		synctest.Wait()
		if diff := cmp.Diff([]string{"x-1", "x-2"}, c.list(items)); diff != "" || c.count() != 2 {
			t.Errorf("after %d creations (-want +got):\n%s", c.count(), diff)
		}
	})
}

// loseFirst carries out what is sent first, and loses the answer. What has become of it
// cannot be read, and no cache shows it.
func loseFirst(t *testing.T) *cluster {
	c := newCluster()
	c.names = []string{"1", "2", "3", "4"}
	c.put(t, small)
	c.frozen[allItems], c.recent = true, true
	c.liveOK = func() error {
		c.locked(func() { c.liveOK = nil })
		return errRefused
	}
	c.after = func(operation plan.Operation, result write.Result) write.Result {
		if operation.Type != plan.Create {
			return result
		}
		c.locked(func() { c.after = nil })
		return lost
	}
	return c
}

// TestUnresolvedNameIsKept holds that a name is not forgotten by an answer that does not
// tell what became of what was sent under it first.
func TestUnresolvedNameIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		class  write.Class
	}{
		"Unreachable": {"It never arrived, which the first one may have.", write.Unreachable},
		"Overloaded":  {"It was turned away, which the first one may not have been.", write.Overloaded},
		"Terminal":    {"The rights to make it may have gone since.", write.Terminal},
		"Stale":       {"It may not have been sent at all.", write.Stale},
		"Taken":       {"Nobody knows by whom.", write.Taken},
	} {
		t.Run(name, func(t *testing.T) {
			c := loseFirst(t)
			n := 0
			c.answer = func(plan.Operation) *write.Result {
				if n++; n == 2 {
					return &write.Result{Class: tc.class, Err: errRefused}
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, families(t, one), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				c.thaw(allItems)
				pass(time.Hour)
				if diff := cmp.Diff([]string{"x-1"}, c.list(items)); diff != "" || c.count() != 3 {
					t.Errorf("%s\n%d creations, made (-want +got):\n%s", tc.reason, c.count(), diff)
				}
			})
		})
	}
}

// TestUnresolvedNameTurnsUp holds that an object that a cache comes to show after a plan
// was decided on is not made again by that plan, and once more only where the rules want
// another one with it in sight.
func TestUnresolvedNameTurnsUp(t *testing.T) {
	const before = `
  - name: before
    watch: widgets
    actions: [{patch: {merge: {spec: {touched: true}}}}]
`
	for name, tc := range map[string]struct {
		reason, rules string
		made          []string
	}{
		"Asked": {"The rule sees it then, and wants no other.", one, []string{"x-1"}},
		"NotAsked": {
			"The rule looks for something else, and is not kept from its work.",
			strings.NewReplacer("len(found)", "len(other)", "with: {", "with: {other: {resource: items, matchLabels: {of: nobody}}, ").Replace(one),
			[]string{"x-1", "x-2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, n := loseFirst(t), 0
			c.answer = func(operation plan.Operation) *write.Result {
				if operation.Type == plan.Create {
					if len(c.list(items)) > 1 { // Enough of what it never sees.
						return &write.Result{Class: write.Terminal, Err: errRefused}
					}
					return nil
				}
				if n++; n == 2 { // The creation is next in the plan.
					c.thaw(allItems)
					return nil
				}
				return &write.Result{Class: write.Overloaded, Err: errRefused}
			}
			runWith(t, c, engine.Housekeeping{}, families(t, before+tc.rules), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				if diff := cmp.Diff(tc.made, c.list(items)); diff != "" {
					t.Errorf("%s\nmade (-want +got):\n%s", tc.reason, diff)
				}
				if n != 2 {
					t.Errorf("%d writes before the creation, want 2", n)
				}
			})
		})
	}
}
