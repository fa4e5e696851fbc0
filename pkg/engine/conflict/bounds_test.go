package conflict

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// undo has a script undo the rule a in an object, so many times.
func undo(conflicts *Guard, object Object, times int) {
	for i := range times {
		conflicts.record(&written{
			watched: object, target: object, uid: "u", found: strconv.Itoa(2 * i), left: strconv.Itoa(2*i + 1), basis: &basis{},
			fields: []field{{rule: rule("a"), path: replicas, shown: replicas, before: 0, after: 1, answered: 1}},
		})
	}
}

// TestRemembersSoMany holds that what is remembered is bounded, and that a rule which is slowed down stays so although
// others write to many objects.
func TestRemembersSoMany(t *testing.T) {
	clock := testingclock.NewFakeClock(start)
	conflicts := newGuard(clock)
	undo(conflicts, target, Repeats+1)
	for i := range 25 {
		held(conflicts, rule("a"), target)
		clock.Step(Interval)
		for j := range maxHistories + 1 {
			undo(conflicts, named(fmt.Sprint(i, j)), 1)
		}
		undo(conflicts, target, 1)
	}
	if n := conflicts.histories.Len(); n > maxHistories {
		t.Errorf("%d objects are remembered, want at most %d", n, maxHistories)
	}
	if all := conflicts.Conflicts(); len(all) != 1 || all[0].Target != target {
		t.Errorf("contests %v", told(all))
	}
	for i := range maxConflicts + 100 {
		undo(conflicts, named("contested-"+strconv.Itoa(i)), Repeats+1)
	}
	if n := len(conflicts.Conflicts()); n != maxConflicts {
		t.Errorf("%d contests, want %d", n, maxConflicts)
	}
}

// TestRemembersSoMuch holds that neither what sides do to fields nor how they left an object piles up.
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
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			conflicts := newGuard(testingclock.NewFakeClock(start))
			for i := range 1000 {
				conflicts.record(tc.write(i))
			}
			h := conflicts.history(target)
			if len(h.efforts) > maxEfforts || cap(h.efforts) > 4*maxEfforts || len(h.states) > maxStates {
				t.Errorf("%s %d efforts, room for %d, %d states", tc.reason, len(h.efforts), cap(h.efforts), len(h.states))
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
				conflicts.mu.Lock()
				conflicts.look([]plan.Rule{rule("a")}, object)
				news[i] += len(conflicts.record(&written{
					basis: basisOf(conflicts, nil,
						guard.Input{Object: object, UID: "u", Version: strconv.Itoa(j)}, guard.Input{Object: target, UID: "u", Version: "1"}),
					watched: object, target: object, uid: "u", found: strconv.Itoa(2 * j), left: strconv.Itoa(2*j + 1),
					fields: []field{{rule: rule("a"), path: replicas, shown: replicas, after: 1, answered: 1, before: 0}},
				}))
				conflicts.mu.Unlock()
				held(conflicts, rule("a"), object)
			}
		})
		workers.Go(func() {
			for range 50 {
				conflicts.Conflicts()
				conflicts.Forget(keyOf(source))
				conflicts.Follow(nil)
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
	conflicts.Follow([]*rules.Rule{{ID: rule("a")}})
	if n := len(conflicts.Conflicts()) + conflicts.histories.Len(); n != 0 {
		t.Errorf("%d are remembered of a rule that has changed", n)
	}
}

// TestMakesRoom holds that conflicts which are over keep no new one from being named, though nobody asks which there are.
func TestMakesRoom(t *testing.T) {
	clock := testingclock.NewFakeClock(start)
	conflicts := newGuard(clock)
	for i := range maxConflicts {
		undo(conflicts, named("contested-"+strconv.Itoa(i)), Repeats+1)
	}
	clock.Step(Window + 1)
	undo(conflicts, target, Repeats+1)
	if _, slowed := held(conflicts, rule("a"), target); !slowed {
		t.Error("the rule is not slowed down")
	}
}
