package dependencies_test

import (
	"strconv"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/dependencies"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestFewAreCompared counts what the benchmarks time: however many ask, an object
// is compared with the question that it answers and with a few more at most.
func TestFewAreCompared(t *testing.T) {
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			index := dependencies.NewIndex[key]()
			for i := range 2000 {
				index.Ask(asker(i), form.ask(i))
			}
			if compared := index.Compared(pods, pod("1")); compared < 1 || compared > 5 {
				t.Errorf("%d questions are compared", compared)
			}
		})
	}
}

// TestFewAreComparedAfterChanges has askers come and go, which must not gather
// those that stay at a label that all have in common.
func TestFewAreComparedAfterChanges(t *testing.T) {
	index := dependencies.NewIndex[key]()
	for i := range 4000 {
		index.Keep(asker(i), three(i))
		if i >= 100 {
			index.Forget(asker(i - 50))
		}
	}
	if compared := index.Compared(pods, pod("1")); compared > 8 {
		t.Errorf("%d questions are compared", compared)
	}
}

// TestShared has one question of many askers compared once, in whatever order its
// selections are named.
func TestShared(t *testing.T) {
	index := dependencies.NewIndex[key]()
	for i := range 1000 {
		from := []plan.Selection{pods, podsInA}
		if i%2 == 0 {
			from = []plan.Selection{podsInA, pods, podsInA}
		}
		index.Ask(asker(i), plan.Read{From: from, By: plan.ByLabels, Labels: "app=app-0"})
	}
	for _, from := range []plan.Selection{pods, podsInA} {
		if compared := index.Compared(from, pod("1")); compared != 1 {
			t.Errorf("%d questions are compared", compared)
		}
		if got := index.Concerned(from, pod("1"), pod("2")); len(got) != 1000 {
			t.Errorf("%d askers are concerned", len(got))
		}
	}
}

// TestManyQuestions has one asker with many questions, as a rule that makes a
// child for each of a list.
func TestManyQuestions(t *testing.T) {
	index := dependencies.NewIndex[key]()
	var questions []plan.Read
	for i := range 5000 {
		questions = append(questions, byName("namespace", "pod-"+strconv.Itoa(i)))
	}
	index.Keep(asker(0), questions)
	index.Keep(asker(0), questions[:1])
	if got := index.Concerned(pods, nil, pod("1")); len(got) != 1 {
		t.Errorf("%d askers are concerned", len(got))
	}
	index.Keep(asker(0), questions[1:])
	if got := index.Concerned(pods, nil, pod("1")); got != nil {
		t.Errorf("concerned by what is not asked any more: %v", got)
	}
	index.Forget(asker(0))
	if got := index.Asking(pods); got != nil {
		t.Errorf("%d askers are left", len(got))
	}
}
