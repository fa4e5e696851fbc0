package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestSettle(t *testing.T) {
	tests := map[string]struct {
		reason   string
		rules    string
		objects  int
		answer   func(plan.Operation) *write.Result
		unlisted error
		want     string
	}{
		"Nothing": {reason: "No objects, nothing to do.", rules: atLeastThree, want: "0 written, 0 simulated"},
		"Writes":  {reason: "Every object is written once.", rules: atLeastThree + labelled, objects: 20, want: "20 written, 0 simulated"},
		"DryRun": {
			reason: "A dry run settles too.", rules: atLeastThree, objects: 2, want: "0 written, 2 simulated",
			answer: func(operation plan.Operation) *write.Result {
				return &write.Result{Class: write.Simulated, Object: operation.Predicted}
			},
		},
		"Refused": {
			reason: "A refused write is a failure, reported once.", rules: atLeastThree, objects: 1,
			answer: func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} },
			want:   "0 written, 0 simulated\na: refused",
		},
		"RefusedTogether": {
			reason: "A refused request that was joined from two rules is split before it is given up.",
			rules:  atLeastThree + labelled, objects: 1,
			answer: func(operation plan.Operation) *write.Result {
				if operation.Rules[0].Name == "at-least-three" {
					return &write.Result{Class: write.Terminal, Err: errRefused}
				}
				return nil
			},
			want: "1 written, 0 simulated\na: refused",
		},
		"FailsFirst": {
			reason: "What succeeds in the end is no failure.",
			rules:  atLeastThree, objects: 1,
			answer: failures(3),
			want:   "1 written, 0 simulated",
		},
		"Withheld": {
			reason: "A rule that is never let through is a failure.", objects: 1,
			rules: atLeastThree + `
  - name: at-least-five
    watch: widgets
    when: object.spec.size < 3
    actions: [{patch: {merge: {spec: {size: 5}}}}]
  - name: five-for-ever
    watch: widgets
    actions: [{patch: {merge: {spec: {five: true}}}}]
  - name: six-for-ever
    watch: widgets
    actions: [{patch: {merge: {spec: {five: false}}}}]
`,
			want: "1 written, 0 simulated\na: spec.five is decided by rule set/five-for-ever, which comes first",
		},
		"Restless": {
			reason: "Rules that undo themselves are told, not followed for ever.", objects: 1,
			rules: `
  - name: counts
    watch: widgets
    actions: [{patch: {merge: {spec: {size: "${object.spec.size + 1}"}}}}]
`,
			want: "20 written, 0 simulated\na: it does not settle: after 20 rounds of writes its rules still want something else: spec.size of widgets.example.com ns/a: rule set/counts undoes itself",
		},
		"Overloaded": {
			reason: "An API server that keeps asking for patience is not waited for for ever.", rules: atLeastThree, objects: 1,
			answer: func(plan.Operation) *write.Result {
				return &write.Result{Class: write.Overloaded, Err: errRefused, RetryAfter: time.Second}
			},
			want: "0 written, 0 simulated\na: refused",
		},
		"Unreachable": {
			reason: "What may get better is tried a few times.", rules: atLeastThree, objects: 1,
			answer: func(plan.Operation) *write.Result { return &write.Result{Class: write.Unreachable, Err: errRefused} },
			want:   "0 written, 0 simulated\na: refused",
		},
		"RuleFails": {
			reason: "A rule that cannot be evaluated is a failure.", objects: 1,
			rules: `
  - name: broken
    watch: widgets
    when: object.spec.none > 1
    actions: [{event: {reason: R, message: m}}]
`,
			want: "0 written, 0 simulated\na: rules.yaml:13:11: spec.rules[0].when: object.spec.none is absent, and > wants a number; ?? gives a default: (object.spec.none ?? 0)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.answer = tc.answer
				names := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
				for _, name := range names[:tc.objects] {
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %q}, spec: {size: 1}}`, name))
				}
				report, err := c.engine().Settle(t.Context(), load(t, tc.rules))
				if err != nil {
					t.Fatal(err)
				}
				got := fmt.Sprintf("%d written, %d simulated", report.Written, report.Simulated)
				for _, failure := range report.Failures {
					got += fmt.Sprintf("\n%s: %v", failure.Key.Name, failure.Err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestSettleAtItsLimit holds that an object that comes to rest with the last
// write allowed is settled, although a write without effect is still wanted.
func TestSettleAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 0, defaulted: 1}}`)
		c.answer = func(operation plan.Operation) *write.Result {
			body, _ := operation.Body.(map[string]any)
			fields, _ := body["spec"].(map[string]any)
			delete(fields, "defaulted") // as the API server defaults it again
			if len(fields) == 0 {
				return &write.Result{Class: write.Unchanged, Object: c.get("a")}
			}
			return nil
		}
		report, err := c.engine().Settle(t.Context(), load(t, `
  - name: counts
    watch: widgets
    when: object.spec.size < 20
    actions: [{patch: {merge: {spec: {size: "${object.spec.size + 1}"}}}}]
  - name: undefaults
    watch: widgets
    actions: [{patch: {merge: {spec: {defaulted: null}}}}]
`))
		if err != nil || report.Written != 20 || len(report.Failures) != 0 {
			t.Errorf("err %v, %d written, failures %v; want 20 writes and no failure", err, report.Written, report.Failures)
		}
	})
}

// TestSettleWaitsForTheEcho holds that a write whose echo is late may still
// lead to something, although another write of the same object was refused.
func TestSettleWaitsForTheEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.lagging = true
		c.put(t, small)
		c.answer = func(operation plan.Operation) *write.Result {
			if operation.Subresource == "status" {
				return &write.Result{Class: write.Terminal, Err: errRefused}
			}
			go func() {
				pass(5 * time.Millisecond)
				c.see(keyOf(c.get("a")))
			}()
			return nil
		}
		report, err := c.engine().Settle(t.Context(), load(t, `
  - name: first
    watch: widgets
    actions: [{patch: {merge: {spec: {a: 1}}}}]
  - name: refused
    watch: widgets
    actions: [{patch: {subresource: status, merge: {status: {a: 1}}}}]
  - name: follows
    watch: widgets
    when: object.spec.a == 1
    actions: [{patch: {merge: {spec: {b: 1}}}}]
`))
		if err != nil || report.Written != 2 || len(report.Failures) != 1 {
			t.Errorf("err %v, %d written, failures %v; want both rules to act and the refused one to be told", err, report.Written, report.Failures)
		}
	})
}

// TestSettleWaitsUntilItIsTold holds that settling does not end while a cache shows what was written, and has not told it yet: others,
// such as rules that watch the object in another version, may have something to do then.
func TestSettleWaitsUntilItIsTold(t *testing.T) {
	const here = `
  - name: here
    watch: widgets
    with: {it: {resource: items, name: it}}
    when: it?.spec?.size != 5
    actions: [{patch: {target: it, merge: {spec: {size: 5}}}}]
`
	const (
		deletes = `
  - name: here
    watch: widgets
    with: {it: {resource: items, name: it}}
    when: it != nil
    actions: [{delete: {target: it}}]
`
		untags = `
  - name: here
    watch: widgets
    with: {it: {resource: items, name: it}}
    when: it?.metadata?.labels?.tag == "yes"
    actions:
    - patch: {target: it, merge: {metadata: {labels: {tag: "${nil}"}}}}
`
	)
	missing := func(lookup string) string {
		return `
  - name: there
    watch: gadgets
    with: {them: {resource: ` + lookup + `}}
    when: len(them) == 0 && object.spec?.more != 1
    actions: [{patch: {merge: {spec: {more: 1}}}}]
`
	}
	for name, tc := range map[string]struct {
		reason, rules string
		writes        int
	}{
		"Reads": {"A rule reads the object.", here + `
  - name: there
    watch: gadgets
    with: {it: {resource: items, name: it}}
    when: it?.spec?.size == 5 && it?.spec?.more != 1
    actions: [{patch: {target: it, merge: {spec: {more: 1}}}}]
`, 2},
		"Watches": {"A rule watches it.", here + `
  - name: there
    watch: items
    when: object.spec.size == 5 && object.spec?.more != 1
    actions: [{patch: {merge: {spec: {more: 1}}}}]
`, 2},
		"Deleted":        {"A rule has read what is gone.", deletes + missing(`items, all: true`), 2},
		"DeletedByLabel": {"It has found it by a label.", deletes + missing(`items, matchLabels: {tag: "yes"}`), 2},
		"Unselected":     {"The object is in the cache no more.", untags + missing(`tagged, all: true`), 2},
		"Unmatched":      {"It is in the cache, and has the label no more.", untags + missing(`items, matchLabels: {tag: "yes"}`), 2},
		"Twice": {"It is written once more, when the cache shows the first write already.", untags + `
    - patch: {target: it, subresource: status, merge: {status: {done: true}}}
` + missing(`items, matchLabels: {tag: "yes"}`), 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := families(t, tc.rules)
				c := newCluster()
				c.lagging = true
				c.put(t, small)
				c.put(t, `{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: b}}`)
				c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: it, labels: {tag: "yes"}}, spec: {size: 1}}`)
				c.after = func(operation plan.Operation, result write.Result) write.Result {
					go func() {
						pass(5 * time.Millisecond)
						c.see(engine.Key{GVR: operation.Target.GVR, Namespace: "ns", Name: operation.Target.Name})
					}()
					pass(10 * time.Millisecond) // The caches show it before it is answered.
					return result
				}
				c.untold = func(informer.Key) {
					c.touch() // Whoever wrote it looks again.
					pass(time.Second)
				}
				report, err := c.engine().Settle(t.Context(), set)
				if err != nil || report.Written != tc.writes || len(report.Failures) > 0 {
					t.Errorf("%s err %v, %d written, failures %v; want both rules to act", tc.reason, err, report.Written, report.Failures)
				}
				pass(time.Minute) // What is not told yet.
			})
		})
	}
}

// TestSettleGivesUpOnALostEcho holds that a watch that stays silent is told.
func TestSettleGivesUpOnALostEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.lagging = true
		c.put(t, small)
		report, err := c.engine().Settle(t.Context(), load(t, atLeastThree))
		if err != nil || report.Written != 1 || len(report.Failures) != 1 {
			t.Errorf("err %v, report %+v; want one write and the silent watch as a failure", err, report)
		}
	})
}

// cacheSyncTimeout is that of engines that do not wait for ever.
const cacheSyncTimeout = 2 * time.Minute

// failures answers as an API server that cannot be reached for a while.
func failures(n int) func(plan.Operation) *write.Result {
	return func(plan.Operation) *write.Result {
		if n--; n >= 0 {
			return &write.Result{Class: write.Unreachable, Err: errRefused}
		}
		return nil
	}
}

func TestSettleReportsWhatCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.tune = func(o *engine.Options) { o.CacheSyncTimeout = cacheSyncTimeout }
		set := load(t, labelled)
		key := set.Selections()[0]
		c.unsynced[key] = true
		e := c.engine()
		go func() {
			for range 20 { // However often it is tried.
				pass(time.Second)
				c.handler.Troubled(key, errRefused)
			}
		}()
		began := time.Now()
		report, err := e.Settle(t.Context(), set)
		if err != nil || !report.TimedOut || len(report.Unlisted) != 1 || report.Unlisted[0].Key != key || !errors.Is(report.Unlisted[0].Err, errRefused) {
			t.Errorf("err %v, report %+v, want the one cache that cannot be listed", err, report)
		}
		if took := time.Since(began); took != cacheSyncTimeout {
			t.Errorf("it took %s", took)
		}
	})
}

// TestSettleReportsWhatIsNotAnswered holds that a list without an answer ends, too.
func TestSettleReportsWhatIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.tune = func(o *engine.Options) { o.CacheSyncTimeout = cacheSyncTimeout }
		set := load(t, labelled)
		key := set.Selections()[0]
		c.unsynced[key] = true
		report, err := c.engine().Settle(t.Context(), set)
		if err != nil || !report.TimedOut || len(report.Unlisted) != 1 || report.Unlisted[0].Key != key {
			t.Errorf("err %v, report %+v, want the one cache that is not listed", err, report)
		}
	})
}

// TestSettleWithCachesOfOthers holds that settling does not end before all is queued, where nothing has to be listed: the rules
// before have only asked for what is watched now.
func TestSettleWithCachesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, newItem("a", ""))
		e := c.engine()
		e.SetRules(families(t, fmt.Sprintf(looking, `name: "a"`, "found?.spec.x == 1")))
		report, err := e.Settle(t.Context(), families(t, `
  - name: marks
    watch: items
    actions: [{patch: {merge: {metadata: {labels: {marked: "yes"}}}}}]
`))
		if err != nil || report.Written != 1 {
			t.Errorf("err %v, report %+v; want one write", err, report)
		}
	})
}

// TestSettleWaitsToCleanUp holds that who settles does not give the housekeeping up while
// there is something to list or to look at, however long that takes.
func TestSettleWaitsToCleanUp(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		delay  func(c *cluster)
	}{
		"List": {"A long list is given up elsewhere.", func(c *cluster) {
			c.unsynced[otherWidgets] = true
			time.AfterFunc(10*time.Minute, func() { c.sync(otherWidgets) })
		}},
		"Object": {"So is what is tried again.", func(c *cluster) {
			tries := 0
			c.answer = from("heir", func() *write.Result {
				if tries++; tries > 2 {
					return nil
				}
				return &write.Result{Class: write.Overloaded, Err: errRefused, RetryAfter: time.Minute}
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.put(t, parent)
				s := remembering(t, families(t, pruned))
				tc.delay(c)
				report, err := c.engineWith(s.house(false)).Settle(t.Context(), families(t, heir))
				if err != nil || report.Unkept != nil || len(report.Failures) > 0 {
					t.Errorf("%s\nerr %v, report %+v", tc.reason, err, report)
				}
				if diff := cmp.Diff([]string{prunedText}, s.asked()); diff != "" {
					t.Errorf("%s\nswept (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}
