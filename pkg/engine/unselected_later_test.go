package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestUnselectedPasses holds that what was in the way is in the way no longer once it is
// gone, though no event tells that, and what is told of it.
func TestUnselectedPasses(t *testing.T) {
	refused := fmt.Sprintf(notSelected, "tagged")
	const made = "Made it is there"
	going := newItem("child", `deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [theirs]`)
	tests := map[string]struct {
		reason  string
		options string
		there   string
		events  []string // in the end
	}{
		"Refused":   {"It is looked at again, slowly.", "prune: true", newItem("child", ""), []string{refused, made + " (again)"}},
		"Kept":      {"So is what is kept.", "existing: Keep", newItem("child", ""), []string{made}},
		"Going":     {"It takes time, and is no refusal.", "prune: true", going, []string{made}},
		"KeptGoing": {"It is made when it is gone.", "existing: Keep", going, []string{made}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, tc.there)
			runWith(t, c, engine.Housekeeping{}, families(t, making("tagged", tc.options)), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				if n := c.writesTo(item("child")); n > 0 {
					t.Errorf("%s\n%d writes to it while it was there", tc.reason, n)
				}
				if n := c.gets; n > 40 {
					t.Errorf("%s\n%d live reads in an hour", tc.reason, n)
				}
				c.drop(item("child"))
				pass(6 * time.Minute)
				if got := at(c.of(item("child")), "spec", "of"); got != "a" {
					t.Errorf("%s\nit was not made", tc.reason)
				}
				if diff := cmp.Diff(tc.events, c.events); diff != "" {
					t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestUnselectedEpisodes holds that a refusal begins an episode and ends none: what the
// rule told before is not told again when it comes back, and it is told anew if it does.
func TestUnselectedEpisodes(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	const rules = `
  - name: makes
    watch: widgets
    actions:
    - event: {reason: Seen, message: m}
    - apply: {resource: tagged, owned: false, manifest: {metadata: {name: child, labels: {tag: "yes"}}}}
`
	refused := fmt.Sprintf(notSelected, "tagged")
	runWith(t, c, engine.Housekeeping{}, families(t, rules), func(t *testing.T, _ *engine.Engine) {
		for range 2 {
			c.put(t, newItem("child", ""))
			pass(time.Hour)
			c.drop(item("child"))
			pass(time.Hour)
		}
		want := []string{"Seen m", refused + " (again)", refused + " (again)"}
		if diff := cmp.Diff(want, c.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestUnselectedStaysHidden holds that what admission takes off again, and the rule does
// not see without it, is not given back each time that the rule is evaluated; and that
// such an object is made anew once it is gone.
func TestUnselectedStaysHidden(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		there   string
		changes bool // by the first write, apart from the label
	}{
		"Changed":   {"The write did something else.", hiddenChild("}"), true},
		"Unchanged": {"The write did nothing at all.", hiddenChild("}"), false},
		"Made":      {"It has never had what it is selected by.", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			if tc.there != "" {
				c.put(t, tc.there)
			}
			c.answer = func(operation plan.Operation) *write.Result {
				if operation.Type != plan.Apply || operation.Target.UID == "" && tc.there != "" {
					return nil
				}
				if !tc.changes {
					there := c.of(item("child"))
					return &write.Result{Class: write.Unchanged, Object: there, Echo: echo(operation.Target, there, false)}
				}
				operation.Body = merged(operation.Body.(map[string]any), map[string]any{"metadata": map[string]any{"labels": map[string]any{"tag": nil}}})
				result := c.carryOut(operation)
				return &result
			}
			runWith(t, c, engine.Housekeeping{}, families(t, making("tagged", "prune: true")), func(t *testing.T, _ *engine.Engine) {
				for i := range 5 {
					pass(time.Hour)
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a, annotations: {turn: "%d"}}, spec: {size: 1}}`, i))
				}
				pass(time.Hour)
				if n := c.writesTo(item("child")); n != 1 {
					t.Errorf("%s\n%d writes to it, want 1", tc.reason, n)
				}
				if n := strings.Count(c.log.String(), "write had no effect and is not repeated"); n != 1 {
					t.Errorf("%s\nlogged %d times:\n%s", tc.reason, n, c.log.String())
				}
				c.locked(func() { c.answer = nil })
				c.drop(item("child"))
				pass(6 * time.Minute)
				if got := at(c.of(item("child")), "metadata", "labels", "tag"); got != "yes" {
					t.Errorf("%s\nit was not made anew", tc.reason)
				}
			})
		})
	}
}
