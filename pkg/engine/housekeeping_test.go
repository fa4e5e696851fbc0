package engine_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	holder = `
  - name: holder
    watch: others
    onDelete: {actions: [{event: {reason: Bye, message: bye}}]}
    actions: [{event: {reason: Hello, message: hello}}]
`
	heldText   = "finalizer of rule set/holder on widgets.v1.example.com"
	prunedText = "children of rule set/pruned on items.v1.example.com"
)

// otherSet is another set that leaves something.
func otherSet(t *testing.T) *rules.Set {
	t.Helper()
	return compile(t, rules.Options{}, strings.Replace(head, "name: set", "name: other", 1)+"  rules:\n"+holder)
}

// TestRecordsBeforeItLeaves holds that a rule writes what has to be cleaned up only once
// it is recorded, and that others do not wait.
func TestRecordsBeforeItLeaves(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	s := &shelf{fails: errRefused}
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Rules[0].Name != "labelled" && len(s.all(t)) != 2 {
			t.Errorf("it writes %v before that is recorded", operation.Changes)
		}
		return nil
	}
	runWith(t, c, s.house(false), families(t, labelled+holder+pruned), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if n := c.count(); n != 1 || c.writes[0].Rules[0].Name != "labelled" {
			t.Errorf("want just the rule to write that leaves nothing: %+v", c.writes)
		}
		if n := strings.Count(c.log.String(), "housekeeping is not done"); n != 1 {
			t.Errorf("it was logged %d times:\n%s", n, c.log.String())
		}
		s.failing(nil)
		pass(2 * time.Minute)
		if len(c.list(items)) != 1 || !strings.Contains(string(encode(c.get("a"))), "dyncontroller.dev/set.holder") {
			t.Error("the rules still wait, though it is recorded")
		}
		if diff := cmp.Diff([]string{heldText, prunedText}, s.all(t)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// TestRecordsWhenTheServerIsBack holds that objects do not wait long for the inventory after an outage, however long that was.
func TestRecordsWhenTheServerIsBack(t *testing.T) {
	c := newCluster()
	c.put(t, parent)
	s := &shelf{fails: &url.Error{Op: "Get", URL: "https://a", Err: errRefused}}
	runWith(t, c, s.house(false), families(t, holder), func(t *testing.T, _ *engine.Engine) {
		pass(20 * time.Minute)
		s.failing(nil)
		pass(5 * time.Second)
		if !strings.Contains(string(encode(c.get("a"))), "dyncontroller.dev/set.holder") {
			t.Error("the rule still waits 5 s after the API server is back")
		}
	})
}

// TestRecordsAgainWhatComesBack holds that a rule waits until it is recorded what it leaves, also where it was recorded before:
// since it was cleaned up after, or with another policy.
func TestRecordsAgainWhatComesBack(t *testing.T) {
	applied := func(release string) string {
		return `
  - name: applies
    watch: widgets
    actions: [{patch: {release: ` + release + `, apply: {spec: {size: 7}}}}]
`
	}
	tests := map[string]struct {
		reason string
		sets   []string // of rules, one after the other
	}{
		"Swept":   {"It was cleaned up after.", []string{holder + labelled, labelled, holder + labelled}},
		"Changed": {"It is to be cleaned up after in another way.", []string{applied("Orphan") + labelled, labelled + applied("Remove")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			runWith(t, c, s.house(false), families(t, tc.sets[0]), func(t *testing.T, e *engine.Engine) {
				for i, text := range tc.sets[1:] {
					pass(time.Minute)
					if i == len(tc.sets)-2 {
						s.failing(errRefused)
					}
					e.SetRules(families(t, text))
				}
				c.put(t, parent)
				pass(time.Minute)
				if n := c.count(); n != 1 || len(c.writes[0].Rules) != 1 || c.writes[0].Rules[0].Name != "labelled" {
					t.Errorf("%s Want just the rule to write that leaves nothing: %+v", tc.reason, c.writes)
				}
				s.failing(nil)
				pass(2 * time.Minute)
				if n := c.count(); n != 2 {
					t.Errorf("%s %d writes once it is recorded, want one more", tc.reason, n)
				}
			})
		})
	}
}

// TestSweeps holds what is cleaned up at the start, and what only told.
func TestSweeps(t *testing.T) {
	tests := map[string]struct {
		reason string
		before []*rules.Set
		now    *rules.Set
		prune  bool
		swept  []string
		left   []string
		told   bool
		clean  bool // nothing is left
	}{
		"Nothing": {
			reason: "The rules are as they were.",
			before: []*rules.Set{families(t, holder+pruned)}, now: families(t, holder+pruned),
			left: []string{heldText, prunedText},
		},
		"RuleGone": {
			reason: "Its set is there.",
			before: []*rules.Set{families(t, holder+pruned)}, now: families(t, pruned),
			swept: []string{heldText}, left: []string{prunedText},
		},
		"AllRulesOfItGone": {
			reason: "Its set is there as long as it has a rule that leaves nothing.",
			before: []*rules.Set{families(t, holder+pruned)}, now: families(t, labelled),
			swept: []string{heldText, prunedText},
		},
		"SetGone": {
			reason: "It may have been moved, or be another instance's by now.",
			before: []*rules.Set{families(t, pruned), otherSet(t)}, now: families(t, pruned),
			left: []string{strings.Replace(heldText, "set/", "other/", 1), prunedText}, told: true,
		},
		"SetGoneAndNothingLeft": {
			reason: "Its objects are gone, too. What another process has recorded stays all the same.",
			before: []*rules.Set{families(t, pruned), otherSet(t)}, now: families(t, pruned), clean: true,
			left: []string{strings.Replace(heldText, "set/", "other/", 1), prunedText},
		},
		"SetGoneAndPruned": {
			reason: "Somebody has said so.",
			before: []*rules.Set{families(t, pruned), otherSet(t)}, now: families(t, pruned), prune: true,
			swept: []string{strings.Replace(heldText, "set/", "other/", 1)}, left: []string{prunedText},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), remembering(t, tc.before...)
			house := s.house(tc.prune)
			if tc.clean {
				house.Left = func(context.Context, []plan.Leftover) []plan.Leftover { return nil }
			}
			runWith(t, c, house, tc.now, func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				if diff := cmp.Diff([][]string{tc.swept, tc.left}, [][]string{s.asked(), s.all(t)}); diff != "" {
					t.Errorf("%s\nswept and left (-want +got):\n%s", tc.reason, diff)
				}
				e.SetRules(tc.now)
				pass(time.Hour)
				if told := strings.Count(c.log.String(), "sets are gone"); told > 1 || (told == 1) != tc.told {
					t.Errorf("%s\nit was told %d times:\n%s", tc.reason, told, c.log.String())
				}
				if diff := cmp.Diff(tc.swept, s.asked()); diff != "" {
					t.Errorf("%s\nswept again (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestSweepEndsWithAReload holds that a rule that comes back is not cleaned up after.
func TestSweepEndsWithAReload(t *testing.T) {
	c, s := newCluster(), remembering(t, families(t, holder+pruned))
	var begun, ended atomic.Int32
	s.during = func(ctx context.Context) error {
		begun.Add(1)
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	}
	runWith(t, c, s.house(false), families(t, pruned), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if begun.Load() != 1 || ended.Load() != 0 {
			t.Fatalf("%d sweeps, %d ended; want one under way", begun.Load(), ended.Load())
		}
		e.SetRules(families(t, holder+pruned))
		pass(time.Hour)
		if begun.Load() != 1 || ended.Load() != 1 {
			t.Errorf("%d sweeps, %d ended; want the one, ended", begun.Load(), ended.Load())
		}
		if diff := cmp.Diff([]string{heldText, prunedText}, s.all(t)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// TestSweepEndsBeforeTheReload holds that it ends before the rule that came back writes.
func TestSweepEndsBeforeTheReload(t *testing.T) {
	c, s := newCluster(), remembering(t, families(t, holder+pruned))
	c.put(t, parent)
	var begun atomic.Int32
	s.during = func(ctx context.Context) error {
		begun.Add(1)
		<-ctx.Done()
		if text := string(encode(c.get("a"))); strings.Contains(text, "dyncontroller.dev/set.holder") {
			t.Errorf("the rule that came back has written already:\n%s", text)
		}
		return ctx.Err()
	}
	runWith(t, c, s.house(false), families(t, labelled+pruned), func(t *testing.T, e *engine.Engine) {
		pass(time.Second)
		c.onWant = func() { // The new rules are in effect.
			go c.touch()
			pass(10 * time.Second)
		}
		e.SetRules(families(t, labelled+holder+pruned))
		pass(time.Minute)
		if begun.Load() != 1 || !strings.Contains(string(encode(c.get("a"))), "dyncontroller.dev/set.holder") {
			t.Errorf("%d sweeps began, want one, and then the rule:\n%s", begun.Load(), encode(c.get("a")))
		}
	})
}

// TestSweepFails holds that it is tried again.
func TestSweepFails(t *testing.T) {
	for name, c := range map[string]struct {
		reason, rules string
		err           error
	}{
		"refused":   {"Any failure may pass.", pruned, errRefused},
		"forbidden": {"A right may be given back, whatever the other rules leave.", labelled, apierrors.NewForbidden(schema.GroupResource{}, "", errRefused)},
	} {
		t.Run(name, func(t *testing.T) {
			s := remembering(t, families(t, holder+c.rules))
			var tries atomic.Int32
			s.during = func(context.Context) error {
				if tries.Add(1) < 4 {
					return c.err
				}
				return nil
			}
			runWith(t, newCluster(), s.house(false), families(t, c.rules), func(t *testing.T, _ *engine.Engine) {
				pass(10 * time.Second)
				if tries.Load() != 4 || !slices.Equal(s.asked(), []string{heldText}) {
					t.Errorf("swept %v in %d tries: %s", s.asked(), tries.Load(), c.reason)
				}
			})
		})
	}
}

// TestStrays holds that a finalizer is taken off an object that left its selection while
// nobody watched, and that it is searched for once.
func TestStrays(t *testing.T) {
	finalizer := families(t, holder).Rules()[0].ID.Finalizer()
	stray := `{metadata: {namespace: ns, name: stray, finalizers: [` + finalizer + `, theirs]}}`
	freed := func(c *cluster) bool { return !strings.Contains(string(encode(c.get("stray"))), finalizer) }
	for name, tc := range map[string]struct {
		reason  string
		arrange func(c *cluster)
		then    func(t *testing.T, c *cluster, e *engine.Engine)
		early   bool
	}{
		"AtTheStart": {
			reason: "It is found by a live list.", arrange: func(*cluster) {}, then: func(*testing.T, *cluster, *engine.Engine) {}, early: true,
		},
		"NotComplete": {
			reason:  "Before the cache is complete nobody knows that it is none of its objects.",
			arrange: func(c *cluster) { c.unsynced[otherWidgets] = true },
			then:    func(_ *testing.T, c *cluster, _ *engine.Engine) { c.sync(otherWidgets) },
		},
		"ListFails": {
			reason:  "It is listed again.",
			arrange: func(c *cluster) { c.liveOK = func() error { return errRefused } },
			then:    func(_ *testing.T, c *cluster, _ *engine.Engine) { c.locked(func() { c.liveOK = nil }) },
		},
		"RuleComesLater": {
			reason:  "A rule that comes back may have left something in the meantime.",
			arrange: func(*cluster) {},
			then: func(t *testing.T, c *cluster, e *engine.Engine) {
				for _, text := range []string{labelled, holder} {
					c.put(t, stray)
					e.SetRules(families(t, text))
					pass(time.Second)
				}
			},
			early: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			c.put(t, stray)
			tc.arrange(c)
			runWith(t, c, s.house(false), families(t, holder), func(t *testing.T, e *engine.Engine) {
				pass(time.Second)
				if freed(c) != tc.early {
					t.Errorf("%s\nat first: %v", tc.reason, c.get("stray"))
				}
				tc.then(t, c, e)
				pass(10 * time.Minute)
				if !freed(c) {
					t.Errorf("%s\nin the end: %v", tc.reason, c.get("stray"))
				}
				reads := c.reads
				pass(time.Hour)
				if c.reads != reads {
					t.Errorf("%s\nlisted %d times in a quiet hour", tc.reason, c.reads-reads)
				}
			})
		})
	}
}

// TestSettleKeepsHouse holds that --once cleans up before it ends, and says where it
// could not.
func TestSettleKeepsHouse(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		arrange func(c *cluster, s *shelf)
		swept   []string
		unkept  bool
	}{
		"Done": {reason: "It does not end before.", arrange: func(*cluster, *shelf) {}, swept: []string{heldText}},
		"LateCaches": {
			reason: "One cache after the other becomes complete, which is no reason to give up.",
			arrange: func(c *cluster, _ *shelf) {
				late := []informer.Key{otherWidgets, allItems, allWidgets}
				for i, cache := range late {
					c.unsynced[cache] = true
					time.AfterFunc(time.Duration(i+1)*700*time.Millisecond, func() { c.sync(cache) })
				}
			},
			swept: []string{heldText},
		},
		"SlowList": {
			reason: "A list that takes long is given up where it is made.",
			arrange: func(c *cluster, _ *shelf) {
				c.unsynced[otherWidgets] = true
				time.AfterFunc(20*time.Second, func() { c.sync(otherWidgets) })
			},
			swept: []string{heldText},
		},
		"SweepFails": {
			reason:  "It is tried for a while.",
			arrange: func(_ *cluster, s *shelf) { s.during = func(context.Context) error { return errRefused } },
			unkept:  true,
		},
		"StoreFails": {
			reason:  "Nothing is cleaned up that is not recorded.",
			arrange: func(_ *cluster, s *shelf) { s.fails = errRefused },
			unkept:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := newCluster(), remembering(t, families(t, holder+pruned))
				c.put(t, parent)
				tc.arrange(c, s)
				report, err := c.engineWith(s.house(false)).Settle(t.Context(), families(t, pruned+labelled))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.swept, s.asked()); diff != "" || (report.Unkept != nil) != tc.unkept {
					t.Errorf("%s\nunkept: %v; swept (-want +got):\n%s", tc.reason, report.Unkept, diff)
				}
			})
		})
	}
}

// TestSettleWaitsForASweep holds that settling does not end before the caches show what a sweep has written: a parent that goes with its last
// finalizer leaves a child to prune.
func TestSettleWaitsForASweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newCluster(), remembering(t, families(t, holder+pruned))
		c.put(t, parent)
		a := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
		held := plan.Object{GVR: widgets, Namespace: "ns", Name: "a", UID: types.UID(plan.Text(c.get("a"), "metadata", "uid"))}
		s.writes = &plan.Operation{Type: plan.JSON, Target: held}
		s.wrote = func() write.Result {
			c.locked(func() { delete(c.stored, a) })
			time.AfterFunc(3*time.Second, func() { c.see(a) })
			return write.Result{Class: write.Written, Echo: write.EchoOf(held, nil)}
		}
		report, err := c.engineWith(s.house(false)).Settle(t.Context(), families(t, pruned))
		if err != nil || report.Unkept != nil || len(c.list(items)) > 0 {
			t.Errorf("err %v, unkept: %v, left: %v", err, report.Unkept, c.list(items))
		}
	})
}

// TestSettleWithoutTheInventory holds that rules which leave nothing need no right to
// the inventory, and that all others do.
func TestSettleWithoutTheInventory(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "inventory", errRefused)
	for name, tc := range map[string]struct {
		reason string
		text   string
		unkept bool
	}{
		"Patches":    {"What a merge patch writes is never cleaned up.", labelled, false},
		"Finalizers": {"A finalizer is.", holder, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := newCluster(), &shelf{fails: forbidden}
				c.put(t, parent)
				report, err := c.engineWith(s.house(false)).Settle(t.Context(), families(t, tc.text))
				if err != nil || (report.Unkept != nil) != tc.unkept {
					t.Errorf("%s err %v, unkept: %v", tc.reason, err, report.Unkept)
				}
				if len(report.Failures) > 0 {
					t.Errorf("%s\nwhat waits for the inventory is told besides why it cannot be written: %v", tc.reason, report.Failures)
				}
				if n := strings.Count(c.log.String(), "housekeeping is not done"); n != 1 {
					t.Errorf("it was logged %d times:\n%s", n, c.log.String())
				}
			})
		})
	}
}
