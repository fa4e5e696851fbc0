package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	atLeastThree = `
  - name: at-least-three
    watch: widgets
    when: object.spec.size < 3
    actions:
    - patch: {merge: {spec: {size: 3}}}
    - event: {reason: Grown, message: "was ${object.spec.size}"}
`
	labelled = `
  - name: labelled
    watch: widgets
    actions:
    - patch: {merge: {metadata: {labels: {seen: "yes"}}}}
`
	small = `{metadata: {namespace: ns, name: a}, spec: {size: 1}}`
	// smallOther is selected by both resources.
	smallOther = `{metadata: {namespace: ns, name: a, labels: {other: "yes"}}, spec: {size: 1}}`
)

func TestSettles(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, atLeastThree+labelled, func(t *testing.T, e *engine.Engine) {
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v, want 3", got)
		}
		if len(c.writes) != 1 || len(c.writes[0].Rules) != 2 {
			t.Errorf("want both rules in one write, have %d writes: %+v", len(c.writes), c.writes)
		}
		c.put(t, `{metadata: {namespace: ns, name: a, labels: {seen: "yes"}}, spec: {size: 3, unrelated: true}}`)
		c.touch()
		e.SetRules(load(t, atLeastThree+labelled))
		pass(time.Hour)
		if len(c.writes) != 1 {
			t.Errorf("an unrelated change, a repeated event or a reload caused a write: %+v", c.writes[1:])
		}
	})
}

func TestWaitsForItsOwnWrites(t *testing.T) {
	c := newCluster()
	c.lagging = true
	c.put(t, small)
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		for range 10 {
			c.touch()
			pass(time.Minute)
		}
		if c.count() != 1 {
			t.Errorf("wrote %d times before the caches had seen the first write", c.count())
		}
		c.see(keyOf(c.get("a")))
		synctest.Wait()
		if c.count() != 1 {
			t.Errorf("wrote %d times although the first write had settled it", c.count())
		}
		c.put(t, small)
		synctest.Wait()
		if c.count() != 2 {
			t.Errorf("wrote %d times, want a second write after the object was changed back", c.count())
		}
	})
}

func TestConflictLeadsToAFreshEvaluation(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	first := true
	c.answer = func(plan.Operation) *write.Result {
		if first {
			first = false
			// Somebody else is faster, with a value that needs no repair.
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 7, theirs: true}}`)
		}
		return nil
	}
	run(t, c, atLeastThree+labelled, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		want := map[string]any{"size": int64(7), "theirs": true}
		if diff := cmp.Diff(want, c.get("a")["spec"]); diff != "" {
			t.Errorf("their change was not kept (-want +got):\n%s", diff)
		}
		if len(c.events) > 0 {
			t.Errorf("an Event tells of a write that was never made: %v", c.events)
		}
		if last := c.writes[len(c.writes)-1]; len(last.Rules) != 1 || last.Rules[0].Name != "labelled" {
			t.Errorf("the second plan is not a fresh one: %+v", last)
		}
	})
}

// TestLaggingCacheDoesNotSpeakForItsSelector holds that a rule does not act on
// an object that has left its selector, while its own cache has yet to see it.
func TestLaggingCacheDoesNotSpeakForItsSelector(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a, labels: {seen: "yes"}}, spec: {size: 1}}`)
	text := labelled + strings.ReplaceAll(atLeastThree, "watch: widgets", "watch: others")
	selections := load(t, text).Selections()
	c.views = map[informer.Key]map[string]any{
		selections[len(selections)-1]: decode(t,
			`{metadata: {namespace: ns, name: a, uid: uid-of-a, resourceVersion: "1", labels: {other: "yes"}}, spec: {size: 1}}`),
	}
	c.version = 10
	c.put(t, `{metadata: {namespace: ns, name: a, labels: {seen: "yes"}}, spec: {size: 1}}`)
	run(t, c, text, func(t *testing.T, _ *engine.Engine) {
		if c.count() != 0 {
			t.Errorf("wrote %+v to an object that has opted out", c.writes)
		}
	})
}

func TestPanicIsContained(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, `{metadata: {namespace: ns, name: b}, spec: {size: 1}}`)
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Target.Name == "a" {
			panic("poisoned")
		}
		return nil
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if got := size(c, "b"); got != int64(3) {
			t.Errorf("the other object has size %v", got)
		}
		if got := c.count(); got < 5 {
			t.Errorf("tried %d times, want the poisoned object to be tried again", got)
		}
	})
}

func TestUnsyncedIsNotEmpty(t *testing.T) {
	c := newCluster()
	c.put(t, smallOther)
	text := labelled + strings.ReplaceAll(atLeastThree, "watch: widgets", "watch: others")
	selections := load(t, text).Selections()
	others := selections[len(selections)-1]
	c.unsynced[others] = true
	run(t, c, text, func(t *testing.T, _ *engine.Engine) {
		if c.count() != 1 || c.writes[0].Rules[0].Name != "labelled" {
			t.Errorf("want only the rule whose cache has synced to act: %+v", c.writes)
		}
		c.mu.Lock()
		delete(c.unsynced, others)
		c.mu.Unlock()
		c.handler.Synced(others)
		synctest.Wait()
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v: the rule did not act after its cache had synced", got)
		}
	})
}

// TestFirstList holds that objects of a list that is under way are queued once it is complete, and not as each of them comes.
func TestFirstList(t *testing.T) {
	c := newCluster()
	c.unsynced[allWidgets] = true
	e := driven(t, c, atLeastThree)
	for _, name := range []string{"a", "b", "c"} {
		c.put(t, widgetWith(name, 0))
	}
	if n := e.Queued(); n != 0 {
		t.Errorf("%d are queued", n)
	}
	c.sync(allWidgets)
	if n := e.Queued(); n != 3 {
		t.Errorf("%d are queued, want 3", n)
	}
	drain(t, e)
	c.put(t, widgetWith("d", 0))
	if n := e.Queued(); n != 1 {
		t.Errorf("%d are queued, want the one that has come since", n)
	}
}

func TestIneffectiveWriteIsNotRepeated(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Unchanged, Object: c.get("a")}
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, unrelated: true}}`)
		pass(time.Hour)
		if c.count() != 1 {
			t.Errorf("wrote %d times, want one", c.count())
		}
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`)
		synctest.Wait()
		if c.count() != 2 {
			t.Errorf("wrote %d times: another value is another write", c.count())
		}
	})
}

func TestRefusedRuleDoesNotHoldBackOthers(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(operation plan.Operation) *write.Result {
		for _, rule := range operation.Rules {
			if rule.Name == "at-least-three" {
				return &write.Result{Class: write.Terminal, Err: errRefused}
			}
		}
		return nil
	}
	run(t, c, atLeastThree+labelled, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		labels := (&unstructured.Unstructured{Object: c.get("a")}).GetLabels()
		if diff := cmp.Diff(map[string]string{"seen": "yes"}, labels); diff != "" {
			t.Errorf("the rule that shared the refused request did not act (-want +got):\n%s", diff)
		}
	})
}

// TestRefusedActionHoldsBackItsRuleOnly holds the same for a rule that shares a
// later request with a rule whose earlier one was refused.
func TestRefusedActionHoldsBackItsRuleOnly(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Subresource == "status" {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
	run(t, c, `
  - name: refused
    watch: widgets
    actions:
    - patch: {subresource: status, merge: {status: {a: 1}}}
    - patch: {merge: {spec: {a: 1}}}
  - name: other
    watch: widgets
    actions: [{patch: {merge: {spec: {b: 1}}}}]
`, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if got := spec(c, "a"); got["a"] != nil || got["b"] != int64(1) {
			t.Errorf("the spec is %v, want the other rule's b and not the refused rule's a", got)
		}
	})
}

func TestFailedActionStopsTheRule(t *testing.T) {
	const twoSteps = `
  - name: two-steps
    watch: widgets
    actions:
    - patch: {subresource: status, merge: {status: {a: 1}}}
    - patch: {merge: {spec: {b: 1}}}
    - event: {reason: Done, message: both}
`
	c := newCluster()
	c.put(t, small)
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Subresource == "status" {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
	run(t, c, twoSteps, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if got := spec(c, "a")["b"]; got != nil || len(c.wished()) > 0 {
			t.Errorf("the rule went on after its first action had failed: b is %v, events %v", got, c.wished())
		}
	})
}

func TestRequestsOfOnePlanChain(t *testing.T) {
	const chain = `
  - name: chain
    watch: widgets
    actions:
    - patch: {merge: {spec: {b: 1}}}
    - patch: {subresource: status, merge: {status: {a: 1}}}
    - event: {reason: Done, message: both}
`
	c := newCluster()
	c.lagging = true
	c.put(t, small)
	run(t, c, chain, func(t *testing.T, _ *engine.Engine) {
		if c.count() != 2 || c.writes[1].Target.ResourceVersion == c.writes[0].Target.ResourceVersion {
			t.Errorf("want the second request to carry the version of the first: %+v", c.writes)
		}
		if diff := cmp.Diff([]string{"Done both"}, c.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestRunFinishesWritesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, small)
		begun := make(chan struct{})
		c.answer = func(plan.Operation) *write.Result {
			close(begun)
			pass(10 * time.Second)
			return nil
		}
		e := c.engine()
		e.SetRules(load(t, atLeastThree))
		ctx, cancel := context.WithCancel(t.Context())
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			e.Run(ctx)
		}()
		<-begun
		cancel()
		<-finished
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v: the write under way was cut short", got)
		}
	})
}

func TestRulesAreSwappedAsAWhole(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, labelled, func(t *testing.T, e *engine.Engine) {
		e.SetRules(load(t, atLeastThree))
		synctest.Wait()
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v: the new rules did not act on an object that is there already", got)
		}
		e.SetRules(&rules.Set{})
		before := c.count()
		c.put(t, small)
		synctest.Wait()
		if c.count() != before || len(c.wanted) != 0 {
			t.Errorf("rules that were taken away still act, or still want %v", c.wanted)
		}
	})
}

// TestForgets holds that nothing is remembered of what nobody watches.
func TestForgets(t *testing.T) {
	c := newCluster()
	c.lagging = true
	c.put(t, small)
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		e.SetRules(&rules.Set{})
		pass(time.Second)
		c.locked(func() { // As if it were restored from a backup.
			key := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
			c.stored[key] = merged(c.stored[key], map[string]any{
				"metadata": map[string]any{"resourceVersion": "1"}, "spec": map[string]any{"size": 1},
			})
			c.version = 1
		})
		e.SetRules(load(t, atLeastThree))
		synctest.Wait()
		if c.count() < 2 {
			t.Errorf("wrote %d times: what was written before the rules were taken away is still waited for", c.count())
		}
	})
}
