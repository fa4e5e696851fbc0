package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

// busy has all that may come in some order or other: several caches of one resource,
// related objects that many ask for, children that are made together, orphans, Events,
// time and retries.
const busy = atLeastThree + labelled + `
  - name: children
    watch: widgets
    actions: [{apply: {resource: items, owned: false, prune: true, manifest: {metadata: {name: "${object.metadata.name}-child"}}}}]
  - name: many
    watch: others
    with: {found: {resource: tagged, matchLabels: {of: "${object.metadata.name}"}}}
    when: len(found) < 4
    actions:
    - forEach: {i: "${1..4-len(found)}"}
      create: {in: found, manifest: {metadata: {generateName: "${object.metadata.name}-", labels: {tag: "yes", of: "${object.metadata.name}"}}}}
  - name: counts
    watch: gadgets
    with: {others: {resource: widgets, all: true}, made: {resource: tagged, all: true}}
    actions: [{patch: {merge: {spec: {widgets: "${len(others)}", made: "${len(made)}"}}}}]
  - name: lasting
    watch: widgets
    when: object.spec.size == 3
    for: 5s
    actions:
    - patch: {merge: {spec: {rested: true}}}
    - event: {reason: Rested, message: "it has been ${object.spec.size}"}
`

// play has a scenario of several objects happen on a cluster.
func play(t *testing.T, set *rules.Set, order queue.Order) *driver {
	t.Helper()
	const widget = `{metadata: {namespace: ns, name: %s, labels: {other: %q}}, spec: {size: %d}}`
	c := newCluster()
	gone := []string{"gone0", "gone1", "gone2", "gone3"} // Their children are orphans.
	for _, name := range gone {
		c.put(t, fmt.Sprintf(widget, name, "no", 9))
	}
	drive(t, c, order, set).drain(t)
	c.restart()
	for _, name := range gone {
		c.remove(name)
	}
	for i := range 4 {
		c.put(t, fmt.Sprintf(widget, fmt.Sprintf("w%d", i), []string{"no", "yes"}[i%2], i))
		c.put(t, fmt.Sprintf(`{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: g%d}, spec: {}}`, i))
	}
	fails := map[string]int{"w0": 2, "w2": 9, "g1": 3}
	c.answer = func(operation plan.Operation) *write.Result {
		if fails[operation.Target.Name]--; fails[operation.Target.Name] >= 0 {
			return &write.Result{Class: write.Unreachable, Err: errRefused}
		}
		return nil
	}
	d := drive(t, c, order, set)
	d.drain(t)
	d.pass(t, 10*time.Minute)
	c.remove("w1")
	c.drop(engine.Key{GVR: gadgets, Namespace: "ns", Name: "g3"})
	d.drain(t)
	for _, name := range []string{"w2", "w3"} {
		c.put(t, fmt.Sprintf(widget, name, "yes", 1))
	}
	d.engine.SetRules(set)
	d.drain(t)
	d.pass(t, time.Hour)
	return d
}

// trace is all that can be seen of what an engine did, in order.
func (d *driver) trace() string {
	var out []string
	for _, operation := range d.writes {
		out = append(out, fmt.Sprintf("%s %s %s %s %s", operation.Type, operation.Target, operation.Target.ResourceVersion, operation.Subresource, text(operation.Body)))
	}
	return strings.Join(slices.Concat(out, d.events, d.decided), "\n")
}

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestPredictable holds that the same happens each time, in the same order.
func TestPredictable(t *testing.T) {
	set := families(t, busy)
	for _, order := range []queue.Order{queue.FIFO, queue.Reversed} {
		var first string
		for i := range 15 { // make test-long runs the test four times.
			got := play(t, set, order).trace()
			if i == 0 {
				first = got
			}
			if diff := cmp.Diff(strings.Split(first, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Fatalf("order %d: run %d is unlike the first (-first +this):\n%s", order, i, diff)
			}
		}
	}
}

// TestOrderDoesNotMatter holds that rules that do not depend on the order come to the
// same in both, on different ways.
func TestOrderDoesNotMatter(t *testing.T) {
	set := families(t, busy)
	one, other := play(t, set, queue.FIFO), play(t, set, queue.Reversed)
	if one.trace() == other.trace() {
		t.Error("both orders do the same, so they show nothing")
	}
	if diff := cmp.Diff(one.state(), other.state()); diff != "" {
		t.Errorf("the objects in the end (-FIFO +reversed):\n%s", diff)
	}
	slices.Sort(one.events)
	slices.Sort(other.events)
	if diff := cmp.Diff(one.events, other.events); diff != "" {
		t.Errorf("the Events (-FIFO +reversed):\n%s", diff)
	}
	if len(one.state()) != 21 || len(one.events) < 6 {
		t.Errorf("there are %d objects and %d Events, want others", len(one.state()), len(one.events))
	}
}

// state is what is stored, without what depends on the order: versions, and names that
// were made up.
func (d *driver) state() []string {
	var out []string
	for key, object := range d.stored {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text(object)), &fields); err != nil {
			panic(err)
		}
		metadata, _ := fields["metadata"].(map[string]any)
		maps.DeleteFunc(metadata, func(field string, _ any) bool {
			return field == "uid" || field == "resourceVersion" || field == "name" && metadata["generateName"] != nil
		})
		out = append(out, key.GVR.Resource+" "+text(fields))
	}
	slices.Sort(out)
	return out
}

// TestSentInOrder holds that what a rule creates is sent one after the other.
func TestSentInOrder(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	sending, most := 0, 0
	c.answer = func(plan.Operation) *write.Result {
		sending++ // The race detector tells if it is not alone.
		most = max(most, sending)
		return nil
	}
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		sending--
		return result
	}
	d := drive(t, c, queue.FIFO, families(t, `
  - name: many
    watch: widgets
    with: {found: {resource: tagged, all: true}}
    when: len(found) < 40
    actions:
    - forEach: {i: "${1..40-len(found)}"}
      create: {in: found, manifest: {metadata: {generateName: "x-", labels: {tag: "yes"}}, spec: {number: "${i}"}}}
`))
	d.drain(t)
	var numbers []string
	for _, operation := range c.writes {
		body, _ := operation.Body.(map[string]any)
		numbers = append(numbers, text(body["spec"]))
	}
	want := make([]string, 40)
	for i := range want {
		want[i] = fmt.Sprintf(`{"number":%d}`, i+1)
	}
	if diff := cmp.Diff(want, numbers); diff != "" || most != 1 {
		t.Errorf("%d at the same time; in order (-want +got):\n%s", most, diff)
	}
}
