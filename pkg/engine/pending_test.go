package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// reload changes the rules.
func reload(t *testing.T, e *engine.Engine, set *rules.Set) {
	t.Helper()
	e.SetRules(set)
	synctest.Wait()
}

// inEffect names the rules by which objects are evaluated.
func inEffect(e *engine.Engine) []string {
	var out []string
	for _, id := range e.Rules().IDs() {
		out = append(out, id.Name)
	}
	return out
}

// expectRules compares them.
func expectRules(t *testing.T, e *engine.Engine, reason string, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, inEffect(e)); diff != "" {
		t.Errorf("%s\nrules in effect (-want +got):\n%s", reason, diff)
	}
}

// wider is the rule that watches all widgets, in place of grown.
var wider = strings.ReplaceAll(atLeastThree, "size: 3}", "size: 4}")

// TestBeside holds that a rule which watches more goes on as it was until the new cache is
// complete, and that the old one is dropped then, and not before.
func TestBeside(t *testing.T) {
	c := newCluster()
	c.put(t, smallOther)
	c.put(t, strings.Replace(small, "name: a", "name: plain", 1))
	run(t, c, grown, func(t *testing.T, e *engine.Engine) {
		c.locked(func() { c.unsynced[allWidgets] = true })
		reload(t, e, load(t, wider))
		pass(time.Second)
		c.put(t, strings.Replace(smallOther, "name: a", "name: b", 1))
		pass(time.Second)
		for name, want := range map[string]any{"a": int64(3), "b": int64(3), "plain": int64(1)} {
			if got := size(c, name); got != want {
				t.Errorf("%s has size %v under the rules from before, want %v", name, got, want)
			}
		}
		if diff := cmp.Diff([]informer.Key{otherWidgets, allWidgets}, c.wanted); diff != "" {
			t.Errorf("caches beside each other (-want +got):\n%s", diff)
		}
		c.sync(allWidgets)
		synctest.Wait()
		c.put(t, strings.Replace(small, "name: a", "name: c", 1))
		synctest.Wait()
		for _, name := range []string{"plain", "c"} {
			if got := size(c, name); got != int64(4) {
				t.Errorf("%s has size %v under the new rules", name, got)
			}
		}
		if diff := cmp.Diff([]informer.Key{allWidgets}, c.wanted); diff != "" {
			t.Errorf("caches afterwards (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]informer.Key{otherWidgets, allWidgets}, c.started); diff != "" {
			t.Errorf("started (-want +got):\n%s", diff)
		}
	})
}

// TestBesideEnds goes through what ends the wait, and what does not.
func TestBesideEnds(t *testing.T) {
	gvr := allWidgets.GVR.GroupResource()
	says := func(err error) func(*testing.T, *cluster, *engine.Engine) {
		return func(_ *testing.T, c *cluster, _ *engine.Engine) { c.handler.Troubled(allWidgets, err) }
	}
	const longest = engine.PendingLongest
	cases := map[string]struct {
		reason string
		do     func(*testing.T, *cluster, *engine.Engine)
		after  time.Duration
		logged bool
	}{
		"Complete": {"It is complete.", func(_ *testing.T, c *cluster, _ *engine.Engine) { c.sync(allWidgets) }, 0, false},
		"Absent":   {"There is no such resource.", says(apierrors.NewNotFound(gvr, "")), 0, false},
		"Refused":  {"It may not be read.", says(apierrors.NewForbidden(gvr, "", errNoRight)), 0, false},
		"Denied":   {"Nor is it tried.", func(t *testing.T, _ *cluster, e *engine.Engine) { t.Helper(); deny(t, e, allWidgets) }, 0, false},
		"Failing":  {"It may come in a moment.", says(apierrors.NewInternalError(errNoRight)), longest, true},
		"Busy":     {"So may this.", says(apierrors.NewTooManyRequests("later", 1)), longest, true},
		"Silent":   {"Nobody waits for ever.", func(*testing.T, *cluster, *engine.Engine) {}, longest, true},
		"Another": {"Another cache is not the one.", func(_ *testing.T, c *cluster, _ *engine.Engine) {
			c.handler.Troubled(otherWidgets, apierrors.NewNotFound(gvr, ""))
			c.sync(otherWidgets)
		}, longest, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			run(t, c, grown, func(t *testing.T, e *engine.Engine) {
				c.locked(func() { c.unsynced[allWidgets] = true })
				reload(t, e, load(t, labelled))
				expectRules(t, e, "It has just begun.", "at-least-three")
				tc.do(t, c, e)
				if tc.after > 0 {
					pass(tc.after - 1)
					expectRules(t, e, tc.reason, "at-least-three")
					pass(1)
				}
				expectRules(t, e, tc.reason, "labelled")
				c.locked(func() {
					if logged := strings.Contains(c.log.String(), "[widgets.v1.example.com]"); logged != tc.logged {
						t.Errorf("logged %v:\n%s", logged, c.log.String())
					}
				})
			})
		})
	}
}

// TestNotBeside holds that nothing is waited for without need.
func TestNotBeside(t *testing.T) {
	cases := map[string]struct {
		reason        string
		before, after string
		unsynced      informer.Key
	}{
		"Nothing": {"There were no rules.", "", labelled, allWidgets},
		"Kept":    {"The cache runs already, and is no further for the rules from before.", grown + labelled, labelled, allWidgets},
		"Removed": {"It is not needed any more.", grown + labelled, grown, allWidgets},
		"Changed": {"The rule is another, and watches the same.", labelled, atLeastThree, allWidgets},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			set := &rules.Set{}
			if tc.before != "" {
				set = load(t, tc.before)
			}
			runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, e *engine.Engine) {
				c.locked(func() { c.unsynced[tc.unsynced] = true })
				after := load(t, tc.after)
				reload(t, e, after)
				if e.Rules() != after {
					t.Errorf("%s\nin effect are %v", tc.reason, inEffect(e))
				}
			})
		})
	}
}

// TestNotBesideWhatIsDenied holds that a cache which is denied already is not waited for.
func TestNotBesideWhatIsDenied(t *testing.T) {
	c := newCluster()
	run(t, c, grown, func(t *testing.T, e *engine.Engine) {
		deny(t, e, allWidgets)
		reload(t, e, load(t, labelled))
		expectRules(t, e, "Nobody knows when it will be there.", "labelled")
	})
}

// TestNotBesideInStandby holds that who does not act goes over at once.
func TestNotBesideInStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		e := c.engine()
		reload(t, e, load(t, grown))
		c.locked(func() { c.unsynced[allWidgets] = true })
		reload(t, e, load(t, labelled))
		defer lead(e)()
		expectRules(t, e, "Nobody acts by the rules from before.", "labelled")
		if diff := cmp.Diff([]informer.Key{allWidgets}, c.wanted); diff != "" {
			t.Errorf("caches (-want +got):\n%s", diff)
		}
	})
}

// TestBesideSuperseded holds that the newest rules count, that the caches of those which
// never were in effect go, and that changing rules all the time delays none for ever.
func TestBesideSuperseded(t *testing.T) {
	c := newCluster()
	run(t, c, grown, func(t *testing.T, e *engine.Engine) {
		c.locked(func() { c.unsynced[allWidgets], c.unsynced[allItems] = true, true })
		reload(t, e, load(t, labelled))
		reload(t, e, load(t, grown))
		if diff := cmp.Diff([]informer.Key{otherWidgets}, c.wanted); diff != "" {
			t.Errorf("the rules are those from before (-want +got):\n%s", diff)
		}
		pass(time.Hour)
		c.sync(allWidgets)
		expectRules(t, e, "They were taken back.", "at-least-three")

		c.locked(func() { c.unsynced[allWidgets] = true })
		reload(t, e, load(t, labelled))
		pass(3 * time.Second)
		watchesItems := strings.ReplaceAll(labelled, "watch: widgets", "watch: items")
		reload(t, e, families(t, strings.ReplaceAll(watchesItems, "labelled", "newest")))
		if diff := cmp.Diff([]informer.Key{otherWidgets, allItems}, c.wanted); diff != "" {
			t.Errorf("caches (-want +got):\n%s", diff)
		}
		pass(time.Second)
		expectRules(t, e, "Its cache is not complete.", "at-least-three")
		pass(time.Second)
		expectRules(t, e, "There have been rules to come for long enough.", "newest")
		c.sync(allItems)
		expectRules(t, e, "They stay.", "newest")
		if diff := cmp.Diff([]informer.Key{allItems}, c.wanted); diff != "" {
			t.Errorf("caches (-want +got):\n%s", diff)
		}
	})
}

// TestBesideCleansUp holds that what a removed rule has left is cleaned up when the rules
// without it are in effect, and never where it comes back before.
func TestBesideCleansUp(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		comes  bool // before the others take effect
		swept  []string
	}{
		"Removed": {"It is gone.", false, []string{heldText}},
		"Back":    {"It has been in effect all the time.", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			runWith(t, c, s.house(false), families(t, holder), func(t *testing.T, e *engine.Engine) {
				c.locked(func() { c.unsynced[allWidgets] = true })
				reload(t, e, families(t, labelled))
				pass(time.Second)
				if swept := s.asked(); len(swept) > 0 {
					t.Errorf("it is in effect, and cleaned up after: %v", swept)
				}
				if tc.comes {
					reload(t, e, families(t, holder+labelled))
				}
				c.sync(allWidgets)
				pass(time.Hour)
				if diff := cmp.Diff(tc.swept, s.asked()); diff != "" {
					t.Errorf("%s\nswept (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestBesideKeeps holds that nothing is taken away, nor goes on being taken away, that rules
// want again which wait for their caches.
func TestBesideKeeps(t *testing.T) {
	c, s := newCluster(), remembering(t, families(t, holder))
	s.during = func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Second):
			return nil
		}
	}
	runWith(t, c, s.house(false), families(t, labelled), func(t *testing.T, e *engine.Engine) {
		pass(time.Second) // It is being swept.
		c.locked(func() { c.unsynced[otherWidgets] = true })
		reload(t, e, families(t, labelled+holder))
		pass(engine.PendingLongest / 2)
		expectRules(t, e, "They wait.", "labelled")
		pass(time.Hour)
		if swept := s.asked(); len(swept) > 0 {
			t.Errorf("it was wanted again, and swept: %v", swept)
		}
	})
}

// TestBesideLate holds that rules which do not wait any longer for wider caches see nothing of those that lack what they read,
// also while the change is under way.
func TestBesideLate(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 5, other: x}}`)
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		c.locked(func() { c.narrow = true })
		reload(t, e, load(t, `
  - name: late
    watch: widgets
    when: object.spec.other == nil
    actions:
    - patch: {merge: {spec: {size: 1}}}
`))
		expectRules(t, e, "They wait.", "at-least-three")
		c.locked(func() {
			c.onWant = func() {
				c.touch()
				synctest.Wait()
			}
		})
		pass(engine.PendingLongest + time.Second)
		expectRules(t, e, "They have waited for long enough.", "late")
		if got := size(c, "a"); got != int64(5) {
			t.Errorf("size is %v, so a rule has not seen what the object has", got)
		}
	})
}

// TestBesideOrphans holds that children are found whose parent went before, though all
// caches were complete before the rule took effect.
func TestBesideOrphans(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	c.put(t, another)
	runWith(t, c, engine.Housekeeping{}, families(t, pruned+labelled), func(t *testing.T, e *engine.Engine) {
		reload(t, e, families(t, labelled))
		c.remove("a")
		c.locked(func() { c.unsynced[otherWidgets] = true })
		reload(t, e, families(t, pruned+labelled))
		pass(time.Second)
		if diff := cmp.Diff([]string{"a-child", "b-child"}, c.list(items)); diff != "" {
			t.Errorf("nobody knows yet (-want +got):\n%s", diff)
		}
		c.sync(otherWidgets)
		pass(time.Minute)
		if diff := cmp.Diff([]string{"b-child"}, c.list(items)); diff != "" {
			t.Errorf("children (-want +got):\n%s", diff)
		}
	})
}

// TestBesideStops holds that an engine ends although rules wait.
func TestBesideStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		e := c.engine()
		reload(t, e, load(t, grown))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		synctest.Wait()
		c.locked(func() { c.unsynced[allWidgets] = true })
		reload(t, e, load(t, labelled))
		cancel()
		<-done
		c.sync(allWidgets)
		expectRules(t, e, "It has ended.", "at-least-three")
	})
}

// TestBesideShowsWrites holds that what the rules from before write while others wait is
// seen by the caches of these before they decide: they may lag behind.
func TestBesideShowsWrites(t *testing.T) {
	all := strings.Replace(three, "{resource: tagged, all: true}", `{resource: items, matchLabels: {tag: "yes"}}`, 1)
	c := newCluster()
	runWith(t, c, engine.Housekeeping{}, families(t, three), func(t *testing.T, e *engine.Engine) {
		c.locked(func() { c.unsynced[allItems] = true })
		reload(t, e, families(t, all))
		c.locked(func() { c.frozen[allItems] = true })
		c.put(t, small)
		pass(time.Second)
		if n := c.sent(plan.Create); n != 3 {
			t.Fatalf("%d creations by the rules from before", n)
		}
		c.sync(allItems)
		pass(time.Minute)
		if n := c.sent(plan.Create); n != 3 {
			t.Errorf("%d creations, as the new cache does not show the first", n)
		}
		c.thaw(allItems)
		pass(time.Minute)
		if n := c.sent(plan.Create); n != 3 || len(c.list(items)) != 3 {
			t.Errorf("%d creations, %d items", n, len(c.list(items)))
		}
	})
}

// TestKeptCaches holds that a cache is started once, whatever else changes.
func TestKeptCaches(t *testing.T) {
	const with = head + `  params: {most: 3}
  rules:
  - {name: r, watch: widgets, mode: Enforce, when: object.spec.size > params.most, actions: [{event: {reason: R, message: m}}]}
  - {name: s, watch: others, with: {every: {resource: widgets, all: true}}, actions: [{event: {reason: S, message: m}}]}
`
	file := func(part, by string) []string { return []string{strings.Replace(with, part, by, 1)} }
	at := strings.Index(with, "  - {name: s")
	c := newCluster()
	runWith(t, c, engine.Housekeeping{}, compile(t, rules.Options{}, with), func(t *testing.T, e *engine.Engine) {
		for reason, texts := range map[string][]string{
			"a parameter": file("most: 3", "most: 4"),
			"a mode":      file("Enforce", "Audit"),
			"limits":      file("mode: Enforce", "limits: {maxObjects: 3, per: 1m}"),
			"suspended":   file("mode: Enforce", "suspend: true"),
			"renamed":     file("name: set", "name: other"),
			"condition":   file("size >", "size <"),
			"action":      file("message: m", "message: other"),
			"two files":   {with[:at], strings.Replace(head, "name: set", "name: second", 1) + "  rules:\n" + with[at:]},
			"as before":   {with},
		} {
			set := compile(t, rules.Options{}, texts...)
			reload(t, e, set)
			if e.Rules() != set {
				t.Errorf("%s: it does not take effect at once", reason)
			}
		}
		got := slices.Clone(c.started)
		slices.SortFunc(got, func(a, b informer.Key) int { return strings.Compare(a.String(), b.String()) })
		if diff := cmp.Diff([]informer.Key{allWidgets, otherWidgets}, got); diff != "" {
			t.Errorf("started caches (-want +got):\n%s", diff)
		}
	})
}
