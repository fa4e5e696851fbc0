package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// lasting acts on what has been small for five minutes.
const lasting = `
  - name: lasting
    watch: widgets
    when: object.spec.size < 3
    for: 5m
    actions: [{patch: {merge: {spec: {size: 3}}}}]
`

// acts checks that the rule acts after d, and not before.
func acts(t *testing.T, c *cluster, d time.Duration) {
	t.Helper()
	before := c.count()
	pass(d - time.Millisecond)
	synctest.Wait()
	if c.count() != before {
		t.Error("the rule acted too early")
	}
	pass(time.Millisecond)
	synctest.Wait()
	if c.count() != before+1 {
		t.Errorf("the rule acted %d times after %s, want once", c.count()-before, d)
	}
}

func TestForHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		interrupt func(*testing.T, *cluster)
		left      time.Duration // after a break at 4m
	}{
		"WithoutABreak": {
			reason: "Changes of other fields break nothing.",
			interrupt: func(t *testing.T, c *cluster) {
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2, other: 1}}`)
				synctest.Wait()
				c.touch()
			},
			left: time.Minute,
		},
		"Reset": {
			reason: "A condition that was false in between starts again.",
			interrupt: func(t *testing.T, c *cluster) {
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 3}}`)
				synctest.Wait()
				c.put(t, small)
			},
			left: 5 * time.Minute,
		},
		"Failed": {
			reason: "It is not known to have held while it could not be judged.",
			interrupt: func(t *testing.T, c *cluster) {
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: "small"}}`)
				synctest.Wait()
				c.put(t, small)
			},
			left: 5 * time.Minute,
		},
		"AnotherObject": {
			reason: "An object of the same name is another one.",
			interrupt: func(t *testing.T, c *cluster) {
				c.put(t, `{metadata: {namespace: ns, name: a, uid: another}, spec: {size: 1}}`)
			},
			left: 5 * time.Minute,
		},
		"GoneAndBack": {
			reason: "An object that was gone starts again, even with its uid.",
			interrupt: func(t *testing.T, c *cluster) {
				c.remove("a")
				synctest.Wait()
				c.put(t, small)
			},
			left: 5 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			run(t, c, lasting, func(t *testing.T, _ *engine.Engine) {
				pass(4 * time.Minute)
				tc.interrupt(t, c)
				t.Log(tc.reason)
				acts(t, c, tc.left)
			})
		})
	}
}

func TestForStartsAgainWithTheProcess(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			e := c.engine()
			e.SetRules(load(t, lasting))
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			e.Run(ctx)
			cancel()
		}
		if c.count() != 0 {
			t.Error("a restart inherited how long the condition had held")
		}
	})
}

func TestForAcrossAReload(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(string) string
		left   time.Duration // after a reload at 4m
	}{
		"Untouched":    {reason: "Another rule is no concern of it.", change: func(s string) string { return s + labelled }, left: time.Minute},
		"OtherAction":  {reason: "What the rule does is not when.", change: replaced("{size: 3}", "{size: 4}"), left: time.Minute},
		"LongerFor":    {reason: "The condition has held all the same.", change: replaced("5m", "6m"), left: 2 * time.Minute},
		"OtherWhen":    {reason: "The condition is another one.", change: replaced("< 3", "< 4"), left: 5 * time.Minute},
		"OtherWatch":   {reason: "The objects are others.", change: replaced("watch: widgets", "watch: others, widgets"), left: 5 * time.Minute},
		"NewLet":       {reason: "The condition may mean something else.", change: replaced("for:", "let: {a: 1}\n    for:"), left: 5 * time.Minute},
		"RenamedRule":  {reason: "A rule is known by its name.", change: replaced("name: lasting", "name: long-lasting"), left: 5 * time.Minute},
		"NoLongerFor":  {reason: "Without for it acts at once.", change: replaced("for: 5m", ""), left: 0},
		"BackAndForth": {reason: "Suspended, it is not judged.", change: nil, left: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			run(t, c, lasting, func(t *testing.T, e *engine.Engine) {
				pass(4 * time.Minute)
				change := tc.change
				if change == nil {
					set(t, e, lasting+"    suspend: true\n")
					synctest.Wait()
					change = func(s string) string { return s }
				}
				if set(t, e, change(lasting)); tc.left > 0 {
					synctest.Wait()
				}
				t.Log(tc.reason)
				lasted := func() bool { return size(c, "a") != int64(1) }
				if tc.left > 0 {
					pass(tc.left - time.Millisecond)
					synctest.Wait()
					if lasted() {
						t.Error("the rule acted too early")
					}
					pass(time.Millisecond)
				}
				synctest.Wait()
				if !lasted() {
					t.Error("the rule did not act in time")
				}
			})
		})
	}
}

func replaced(old, with string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, old, with) }
}

func set(t *testing.T, e *engine.Engine, text string) {
	t.Helper()
	e.SetRules(load(t, text))
}

// TestForAndSeveralCaches holds that a cache that lags behind or is not complete
// breaks nothing, but one from which the object is gone does.
func TestForAndSeveralCaches(t *testing.T) {
	ofOthers := strings.ReplaceAll(lasting, "watch: widgets", "watch: others")
	const other = `{metadata: {namespace: ns, name: a, uid: uid-of-a, resourceVersion: %q, labels: {seen: "yes", other: "yes"}}, spec: {size: 1}}`
	at := func(t *testing.T, version string) map[string]any {
		return decode(t, strings.ReplaceAll(other, "%q", `"`+version+`"`))
	}
	for name, tc := range map[string]struct {
		reason string
		shake  func(t *testing.T, c *cluster, others informer.Key)
		left   time.Duration // after a shake at 4m
	}{
		"LagsBehind": {
			reason: "The other cache has seen a change first.",
			shake:  func(t *testing.T, c *cluster, others informer.Key) { c.views[others] = at(t, "1") },
			left:   time.Minute,
		},
		"NotComplete": {
			reason: "The cache starts anew.",
			shake:  func(_ *testing.T, c *cluster, others informer.Key) { c.unsynced[others] = true },
			left:   time.Minute,
		},
		"NotSelected": {
			reason: "The object has left the selection.",
			shake:  func(_ *testing.T, c *cluster, others informer.Key) { c.views[others] = nil },
			left:   5 * time.Minute,
		},
		"NotSelectedNorComplete": {
			reason: "It has left the one, and the rest is not known.",
			shake: func(t *testing.T, c *cluster, others informer.Key) {
				c.views[others] = nil
				c.unsynced[load(t, labelled).Selections()[0]] = true
			},
			left: 5 * time.Minute,
		},
	} {
		// The caches are asked in the order of the rules.
		for order, text := range map[string]string{"First": ofOthers + labelled, "Last": labelled + ofOthers} {
			t.Run(name+order, func(t *testing.T) {
				c := newCluster()
				c.version = 10
				c.put(t, `{metadata: {namespace: ns, name: a, labels: {seen: "yes", other: "yes"}}, spec: {size: 1}}`)
				var others informer.Key
				for _, selection := range load(t, text).Selections() {
					if selection.LabelSelector != "" {
						others = selection
					}
				}
				c.views = map[informer.Key]map[string]any{others: at(t, "11")}
				run(t, c, text, func(t *testing.T, _ *engine.Engine) {
					look := func(change func()) {
						c.mu.Lock()
						change()
						c.mu.Unlock()
						c.touch()
						synctest.Wait()
					}
					pass(4 * time.Minute)
					look(func() { tc.shake(t, c, others) })
					look(func() {
						clear(c.unsynced)
						c.views[others] = at(t, "11")
					})
					t.Log(tc.reason)
					acts(t, c, tc.left)
				})
			})
		}
	}
}

// TestForIsHeldByEachObject holds that objects do not share a timer.
func TestForIsHeldByEachObject(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, lasting, func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		c.put(t, `{metadata: {namespace: ns, name: b}, spec: {size: 1}}`)
		acts(t, c, 4*time.Minute)
		acts(t, c, time.Minute)
		e.SetRules(&rules.Set{})
	})
}
