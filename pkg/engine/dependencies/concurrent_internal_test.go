package dependencies

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestAtOnce has workers ask while events come in: whoever has asked is concerned
// from then on, whatever the others do to the questions that they share.
func TestAtOnce(t *testing.T) {
	const workers, rounds = 8, 200
	from := plan.Selection{GVR: gvr}
	byName := func(name string) plan.Read {
		return plan.Read{From: []plan.Selection{from}, By: plan.ByName, Names: []string{name}}
	}
	object := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	index := NewIndex[int]()
	var all sync.WaitGroup
	for worker := range workers {
		own := "own-" + strconv.Itoa(worker)
		check := func(name string, want bool) {
			if got := slices.Contains(index.Concerned(from, nil, object(name)), worker); got != want {
				t.Errorf("worker %d, %s: concerned is %v", worker, name, got)
			}
		}
		all.Go(func() {
			for range rounds {
				index.Ask(worker, byName("shared"))
				check("shared", true)
				index.Ask(worker, byName(own))
				check(own, true)
				index.Keep(worker, []plan.Read{byName(own)})
				check("shared", false)
				check(own, true)
				index.Asking(from)
				index.Forget(worker)
				check(own, false)
			}
		})
	}
	all.Wait()
	checkEmpty(t, index)
}

// TestForgetOfAll leaves nothing, in no form of questions, and the object that
// matched is nobody's any more.
func TestForgetOfAll(t *testing.T) {
	index := NewIndex[int]()
	from := []plan.Selection{{GVR: gvr}, {GVR: gvr, Namespace: "a"}, {GVR: gvr}}
	for i := range 100 {
		text := strconv.Itoa(i % 50) // Two ask the same.
		index.Keep(i, []plan.Read{
			{From: from, By: plan.ByAll, Namespace: "n-" + text},
			{From: from, By: plan.ByName, Names: []string{text, "x", text}},
			{From: from, By: plan.ByName},
			{From: from, By: plan.ByLabels, Labels: "a in (" + text + ",x,y)"},
			{From: from, By: plan.ByLabels, Labels: "!a-" + text},
			{From: from, By: plan.ByLabels, Labels: "wrong ("},
			{From: from, By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"spec", "f-" + text}, Value: i % 50}}},
			{From: from, By: plan.ByFields},
			{From: from, By: "magic"},
			{By: plan.ByAll},
		})
	}
	for i := range 100 {
		if len(index.questions) < 10 {
			t.Fatalf("%d questions are left of asker %d", len(index.questions), i)
		}
		index.Forget(i)
	}
	checkEmpty(t, index)
}
