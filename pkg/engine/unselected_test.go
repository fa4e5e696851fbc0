package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// makes makes an item of a selector, as OPTIONS say, and tells it.
const makes = `
  - name: makes
    watch: widgets
    actions:
    - apply: {resource: RESOURCE, owned: false, OPTIONS, manifest: {metadata: {name: child, labels: {tag: "yes"}}, spec: {of: "${object.metadata.name}"}}}
    - event: {reason: Made, message: it is there}
`

func making(resource, options string) string {
	return strings.NewReplacer("RESOURCE", resource, "OPTIONS", options).Replace(makes)
}

const notSelected = "NotOurs items ns/child is there already, and is not among what resources.%s selects; " +
	"write another name, or widen what is selected"

// hiddenChild is an item that no selector shows, made by the rule for the widget a.
func hiddenChild(more string) string {
	set := plan.Rule{Kind: "ClusterRuleSet", Set: "set"}.SetID()
	return newItem("child", fmt.Sprintf(`labels: {dyncontroller.dev/set: %s, dyncontroller.dev/rule: makes, dyncontroller.dev/owner-uid: uid-of-a%s`, set, more))
}

// TestUnselected holds what becomes of an apply where an object that no selection shows
// has the name, while another rule goes on.
func TestUnselected(t *testing.T) {
	const untouched = "of <nil>, tag <nil>, adopted <nil>"
	refused := []string{fmt.Sprintf(notSelected, "tagged")}
	tests := map[string]struct {
		reason            string
		resource, options string
		there             string
		writes            int // to items, in an hour
		events            []string
		logged            int // lines about a rule that did not act
		child             string
	}{
		"Refused": {
			reason: "It is somebody else's, and told once.", resource: "tagged", options: "prune: true",
			there: newItem("child", ""), events: refused, logged: 1, child: untouched,
		},
		"AdoptIsRefused": {
			reason: "What is taken over must be seen.", resource: "tagged", options: "adopt: true",
			there: newItem("child", ""), events: refused, logged: 1, child: untouched,
		},
		"OfAnotherOwner": {
			reason: "The rule made it for another object.", resource: "tagged", options: "prune: true",
			there: strings.ReplaceAll(hiddenChild("}"), "uid-of-a", "uid-of-b"), events: refused, logged: 1, child: untouched,
		},
		"Kept": {
			reason: "Whatever exists is left alone, silently.", resource: "tagged", options: "existing: Keep",
			there: newItem("child", ""), events: []string{"Made it is there"}, child: untouched,
		},
		"OursIsKept": {
			reason: "Our own too.", resource: "tagged", options: "existing: Keep",
			there: hiddenChild("}"), events: []string{"Made it is there"}, child: untouched,
		},
		"Healed": {
			reason: "Somebody took a label away from our own.", resource: "tagged", options: "prune: true",
			there: hiddenChild("}"), writes: 1, events: []string{"Made it is there"}, child: "of a, tag yes, adopted <nil>",
		},
		"HealedAdopted": {
			reason: "It stays marked as adopted, so that it is not deleted some day.", resource: "tagged", options: "prune: true",
			there: hiddenChild(`}, annotations: {dyncontroller.dev/adopted: "true"}`), writes: 1, events: []string{"Made it is there"}, child: "of a, tag yes, adopted true",
		},
		"CannotBeHealed": {
			reason: "What hides it is nothing that the rule writes.", resource: "calm", options: "prune: true",
			there: hiddenChild(`, stormy: "yes"}`), events: []string{fmt.Sprintf(notSelected, "calm")}, logged: 1, child: untouched,
		},
		"Nothing": {
			reason: "There is none.", resource: "tagged", options: "prune: true",
			writes: 1, events: []string{"Made it is there"}, child: "of a, tag yes, adopted <nil>",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			if tc.there != "" {
				c.put(t, tc.there)
			}
			runWith(t, c, engine.Housekeeping{}, families(t, making(tc.resource, tc.options)+labelled), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				if n := c.writesTo(item("child")); n != tc.writes {
					t.Errorf("%s\n%d writes to it, want %d", tc.reason, n, tc.writes)
				}
				if n := len(c.taken); n > 1 {
					t.Errorf("%s\n%d requests to make it were refused, want one after which it is looked for first", tc.reason, n)
				}
				if got := at(c.get("a"), "metadata", "labels", "seen"); got != "yes" {
					t.Errorf("%s\nthe other rule did not act", tc.reason)
				}
				if diff := cmp.Diff(tc.events, c.events); diff != "" {
					t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
				}
				if n := strings.Count(c.log.String(), "level=WARN"); n != tc.logged {
					t.Errorf("%s\n%d warnings, want %d:\n%s", tc.reason, n, tc.logged, c.log.String())
				}
				child := c.of(item("child"))
				is := fmt.Sprintf("of %v, tag %v, adopted %v", at(child, "spec", "of"), at(child, "metadata", "labels", "tag"),
					at(child, "metadata", "annotations", plan.AdoptedAnnotation))
				if is != tc.child {
					t.Errorf("%s\nit is %s, want %s", tc.reason, is, tc.child)
				}
			})
		})
	}
}

// at is the value at a path of an object, nil where there is none.
func at(object map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	return value
}

// writesTo counts the writes to an object, without requests to make it that were refused as it was there.
func (c *cluster) writesTo(key engine.Key) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := -len(c.taken)
	for _, operation := range c.writes {
		if target := operation.Target; target.GVR == key.GVR && target.Name == key.Name {
			n++
		}
	}
	return n
}

// TestUnselectedIsRead holds that what has the name is read when the API server has refused to make it, that nothing is told where it
// cannot be read, and that who sees everything does not ask.
func TestUnselectedIsRead(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, newItem("child", ""))
	c.liveOK = func() error { return errRefused }
	runWith(t, c, engine.Housekeeping{}, families(t, making("tagged", "prune: true")), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if n := c.writesTo(item("child")); n > 0 || len(c.wished()) > 0 {
			t.Errorf("%d writes, events %v", n, c.wished())
		}
		c.drop(item("child"))
		c.locked(func() { c.liveOK, c.gets = nil, 0 })
		pass(time.Hour)
		if n := c.writesTo(item("child")); n != 1 {
			t.Errorf("%d writes and %d reads", n, c.gets)
		}
	})
	c = newCluster()
	c.put(t, small)
	runWith(t, c, engine.Housekeeping{}, families(t, making("items", "prune: true")), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if n := c.count(); n != 1 || c.gets > 0 {
			t.Errorf("%d writes and %d reads of what the look-up would have shown", n, c.gets)
		}
	})
}

// TestUnselectedAmbiguous holds that what has the name is looked for before the next request where nobody knows what became of one.
func TestUnselectedAmbiguous(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, newItem("child", ""))
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Type != plan.Apply {
			return nil
		}
		return &write.Result{Class: write.Ambiguous, Err: errRefused}
	}
	runWith(t, c, engine.Housekeeping{}, families(t, making("tagged", "prune: true")), func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if n := c.writesTo(item("child")); n != 1 {
			t.Errorf("%d requests, want one", n)
		}
		if diff := cmp.Diff([]string{fmt.Sprintf(notSelected, "tagged")}, c.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestUnselectedOrLate holds that what a cache has not shown yet is not taken for what no
// selection shows.
func TestUnselectedOrLate(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	set := families(t, making("tagged", "prune: true"))
	synctest.Test(t, func(t *testing.T) {
		e := c.engine()
		c.prepare(set.Selections(), set.Related())
		c.frozen[taggedItems] = true
		c.lateItem(t, "child", tagged)
		stop := start(t, e, set)
		defer stop()
		pass(time.Minute)
		if n := c.writesTo(item("child")); n > 0 || len(c.events) > 0 {
			t.Errorf("%d writes, events %v", n, c.events)
		}
		c.thaw(taggedItems)
		pass(time.Minute)
		want := []string{"NotOurs items ns/child is there already, and was not made by the ClusterRuleSet set; write another name, or adopt: true to take it over"}
		if diff := cmp.Diff(want, c.events); diff != "" || c.writesTo(item("child")) > 0 {
			t.Errorf("%d writes, events (-want +got):\n%s", c.writesTo(item("child")), diff)
		}
	})
}

// TestUnselectedSettles holds that who settles counts a refusal as a failure, and what is
// kept as done.
func TestUnselectedSettles(t *testing.T) {
	for options, want := range map[string]int{"prune: true": 1, "existing: Keep": 0} {
		t.Run(options, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, newItem("child", ""))
			set := families(t, making("tagged", options))
			synctest.Test(t, func(t *testing.T) {
				report, err := c.engine().Settle(t.Context(), set)
				if err != nil || len(report.Failures) != want || report.Written > 0 {
					t.Errorf("%+v, %v; want %d failures", report, err, want)
				}
			})
		})
	}
}
