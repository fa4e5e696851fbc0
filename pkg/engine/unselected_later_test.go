package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
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
