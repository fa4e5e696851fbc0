package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// quiet is a rule that looks and does nothing.
func quiet(name, watch string) string {
	return fmt.Sprintf("\n  - {name: %s, watch: %s, when: object.spec.size > 100, actions: [{event: {reason: Never, message: never}}]}\n", name, watch)
}

// TestReload holds which objects are looked at again when rules change: those that rules are about which are new, gone or
// have changed.
func TestReload(t *testing.T) {
	before := quiet("ours", "widgets") + quiet("theirs", "others") + quiet("last", "items")
	tests := map[string]struct {
		reason string
		after  string
		want   []string
	}{
		"Nothing":  {"Nobody wants anything else.", before, nil},
		"Same":     {"Who has regained a right has the same rules take effect again.", "", []string{"a", "b", "only"}},
		"Edited":   {"One rule wants something else.", strings.Replace(before, "watch: items, when: object.spec.size > 100", "watch: items, when: object.spec.size > 200", 1), []string{"only"}},
		"Selected": {"What it selects is in another cache, too.", strings.Replace(before, "watch: others, when: object.spec.size > 100", "watch: others, when: object.spec.size > 200", 1), []string{"b"}},
		"New":      {"Nobody has looked for it.", before + quiet("new", "others"), []string{"b"}},
		"Gone":     {"It may have left something.", strings.Replace(before, quiet("theirs", "others"), "", 1), []string{"b"}},
		"Nobodys":  {"Nobody looks at it any more.", strings.Replace(before, quiet("last", "items"), "", 1), nil},
		"Wider":    {"It selects more.", strings.Replace(before, "watch: others", "watch: widgets", 1), []string{"a", "b"}},
		"Narrower": {"The rest is nobody's.", strings.Replace(before, "watch: widgets", "watch: others", 1), []string{"b"}},
		"Lingers":  {"What it does not select may have children of it.", before + strings.Replace(pruned, "> 0", "> 100", 1), []string{"a", "b"}},
		"Order":    {"Another rule has its way in a conflict.", quiet("last", "items") + quiet("theirs", "others") + quiet("ours", "widgets"), []string{"a", "b", "only"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, another)
			c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: only}, spec: {size: 1}}`)
			first := families(t, before)
			second := first
			if tc.after != "" {
				second = families(t, tc.after)
			}
			runWith(t, c, engine.Housekeeping{}, first, func(t *testing.T, e *engine.Engine) {
				evaluated, known := c.seen.since(nil), e.Remembered()["records"]
				e.SetRules(second)
				pass(time.Minute)
				got := slices.Sorted(maps.Keys(c.seen.since(evaluated)))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s Looked at again are (-want +got):\n%s", tc.reason, diff)
				}
				if left := e.Remembered()["records"]; name == "Nobodys" && left != known-1 {
					t.Errorf("%s %d objects are remembered, and were %d", tc.reason, left, known)
				}
			})
		})
	}
}

// TestSweepWaitsForNobodyElse holds that objects count as looked at that only rules watch which have not changed, even
// while these do something.
func TestSweepWaitsForNobodyElse(t *testing.T) {
	const applies = `
  - name: applies
    watch: others
    actions: [{patch: {apply: {spec: {applied: 1}}, release: Remove}}]
`
	c, s := newCluster(), &shelf{}
	c.put(t, another)
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 3}}`)
	runWith(t, c, s.house(false), families(t, applies+atLeastThree), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		c.locked(func() { c.lagging = true })
		c.put(t, small)
		synctest.Wait()
		c.locked(func() { c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Unchanged} } })
		e.SetRules(families(t, strings.Replace(applies, "name: applies", "name: heir", 1)+atLeastThree))
		pass(4 * time.Second) // The object waits for its write to be seen, for longer.
		if len(s.asked()) != 1 {
			t.Errorf("it waits for an object that no rule has changed for; swept: %v", s.asked())
		}
	})
}
