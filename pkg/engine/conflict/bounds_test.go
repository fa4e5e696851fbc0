package conflict

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// undo has a script undo the rule a in an object, so many times.
func undo(conflicts *Guard, object Object, times int) {
	version := 0
	next := func() string {
		version++
		return strconv.Itoa(version)
	}
	for range times {
		w := written{
			watched: object, target: object, uid: "u", found: next(), left: next(), basis: &basis{},
			fields: []field{{rule: rule("a"), path: replicas, shown: replicas, before: 0, after: 1, answered: 1}},
		}
		conflicts.begin(object)
		conflicts.answer(object, &w)
	}
}

// TestRemembersSoMany holds that what is remembered is bounded, and that what is written
// once makes no room for itself where something is contested.
func TestRemembersSoMany(t *testing.T) {
	clock := testingclock.NewFakeClock(start)
	conflicts := newGuard(clock)
	conflicts.maxHistories = 10
	undo(conflicts, target, Repeats+1)
	for i := range 1000 {
		undo(conflicts, named(strconv.Itoa(i)), 1)
	}
	if n := len(conflicts.histories) - 1; n > 10 { // Besides the one in conflict.
		t.Errorf("%d objects are remembered, want at most 10", n)
	}
	if n := len(conflicts.Conflicts()); n != 1 {
		t.Errorf("%d contests", n)
	}
	for i := range 100 {
		clock.Step(1)
		undo(conflicts, named("contested-"+strconv.Itoa(i)), Repeats+1)
	}
	var names []string
	for _, c := range conflicts.Conflicts() {
		names = append(names, c.Target.Name)
	}
	var want []string
	for i := 60; i < 100; i++ {
		want = append(want, "contested-"+strconv.Itoa(i))
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the last ones stay (-want +got):\n%s", diff)
	}
	if n := len(conflicts.news); n > 40 {
		t.Errorf("%d objects have news that nobody asks for", n)
	}
}

// TestRemembersWhatIsUsed holds that an object stays that is written to again.
func TestRemembersWhatIsUsed(t *testing.T) {
	conflicts := newGuard(testingclock.NewFakeClock(start))
	conflicts.maxHistories = 10
	version := 0
	for i := range 100 {
		version += 2
		conflicts.begin(target)
		conflicts.answer(target, &written{
			watched: target, target: target, uid: "u", found: strconv.Itoa(version), left: strconv.Itoa(version + 1), basis: &basis{},
			fields: []field{{rule: rule("a"), path: replicas, shown: replicas, before: 0, after: 1, answered: 1}},
		})
		undo(conflicts, named(strconv.Itoa(2*i)), 1)
		undo(conflicts, named(strconv.Itoa(2*i+1)), 1)
	}
	if n := len(conflicts.Conflicts()); n != 1 {
		t.Errorf("%d contests", n)
	}
}

// TestRemembersSoMuch holds that neither what sides do to fields nor answers pile up in an object.
func TestRemembersSoMuch(t *testing.T) {
	tests := map[string]struct {
		reason string
		write  func(i int) *written
	}{
		"Fields": {reason: "A rule writes ever new fields.", write: func(i int) *written {
			return &written{basis: &basis{}, target: target, found: "1", left: "2", fields: []field{{rule: rule("a"), path: plan.Path{"data", strconv.Itoa(i)}}}}
		}},
		"ManyFields": {reason: "A rule writes many fields at once.", write: func(i int) *written {
			out := &written{basis: &basis{}, target: target, found: "1", left: "2"}
			for j := range 200 {
				out.fields = append(out.fields, field{rule: rule("a"), path: plan.Path{"data", fmt.Sprint(i, j)}})
			}
			return out
		}},
		"Sides": {reason: "It is written to for ever other objects.", write: func(i int) *written {
			return &written{basis: &basis{}, watched: named(strconv.Itoa(i)), target: target, found: "1", left: "2", fields: []field{{rule: rule("a"), path: replicas}}}
		}},
		"Answers": {reason: "Answers come in an order that leads nowhere, as one is outstanding for ever.", write: func(i int) *written {
			return &written{basis: &basis{}, target: target, found: strconv.Itoa(2 * i), left: strconv.Itoa(2*i + 1), fields: []field{{rule: rule("a"), path: replicas}}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			conflicts := newGuard(testingclock.NewFakeClock(start))
			conflicts.begin(target)
			for i := range 100 {
				conflicts.begin(target)
				conflicts.answer(target, tc.write(i))
			}
			h := conflicts.histories[target]
			if len(h.efforts) > maxEfforts || len(h.states) > maxStates || len(h.answered) > maxAnswered || h.pending != 1 {
				t.Errorf("%s %d efforts, %d states, %d answers, %d pending", tc.reason, len(h.efforts), len(h.states), len(h.answered), h.pending)
			}
		})
	}
}

// TestConcurrent holds that all workers may use it at the same time, and that each contest
// is told once.
func TestConcurrent(t *testing.T) {
	conflicts := newGuard(testingclock.NewFakeClock(start))
	const objects = 20
	news := make([]int, objects)
	var workers sync.WaitGroup
	for i := range objects {
		object := named(strconv.Itoa(i))
		workers.Go(func() {
			for j := range 50 {
				conflicts.suspects([]plan.Rule{rule("a")}, object)
				conflicts.begin(object)
				read := []guard.Input{{Object: object, UID: "u", Version: strconv.Itoa(j)}, {Object: target, UID: "u", Version: "1"}}
				conflicts.answer(object, &written{
					basis:   &basis{read: read},
					watched: object, target: object, uid: "u", found: strconv.Itoa(2 * j), left: strconv.Itoa(2*j + 1),
					fields: []field{{rule: rule("a"), path: replicas, shown: replicas, after: 1, answered: 1, before: 0}},
				})
				held(conflicts, rule("a"), object)
				news[i] += len(conflicts.untold(object))
			}
		})
		workers.Go(func() {
			for range 50 {
				conflicts.Conflicts()
				conflicts.begin(target)
				conflicts.answer(target, nil)
				conflicts.Forget(keyOf(source))
				conflicts.Follow([]*rules.Rule{{ID: rule("b")}})
			}
		})
	}
	workers.Wait()
	for i, n := range news {
		if n != 1 {
			t.Errorf("object %d: told %d times", i, n)
		}
	}
	if n := len(conflicts.Conflicts()); n != objects {
		t.Errorf("%d contests", n)
	}
}
