package limit_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// move has a set go to another engine.
func move(from, to *world) {
	limit.Leave(one.OfSet(), from.Guard)
	limit.Move(one.OfSet(), from.Guard, to.Guard)
}

// TestMove holds that a rule that goes to another engine writes for no more objects than one that stays, and keeps its pause, whatever of
// that is stored.
func TestMove(t *testing.T) {
	written := func(t *testing.T, w *world, objects ...types.UID) {
		for _, object := range objects {
			w.write(t, one, object)
		}
	}
	tests := map[string]struct {
		reason string
		before func(t *testing.T, w *world) // by the engine before
		leaves bool                         // it has been given other rules
		after  func(t *testing.T, w *world) // by then
		free   int                          // for how many the next one may write, of three
	}{
		"Nothing":  {reason: "It has not begun.", free: 3},
		"Unstored": {reason: "They count.", before: func(t *testing.T, w *world) { written(t, w, "a", "b") }, free: 1},
		"Left":     {reason: "So they do if it has gone over to other rules.", before: func(t *testing.T, w *world) { written(t, w, "a", "b") }, leaves: true, free: 1},
		"UnderWay": {reason: "It may still take effect.", before: func(_ *testing.T, w *world) { w.reserve("a", one) }, free: 2},
		"Settled": {
			reason: "It has taken effect since.", before: func(_ *testing.T, w *world) { w.reserve("a", one) }, leaves: true,
			after: func(_ *testing.T, w *world) { w.settle("a", true, one) }, free: 2,
		},
		"Refused": {
			reason: "It has not.", before: func(_ *testing.T, w *world) { w.reserve("a", one) }, leaves: true,
			after: func(_ *testing.T, w *world) { w.settle("a", false, one) }, free: 3,
		},
		"Old": {
			reason: "The window has gone by.", before: func(t *testing.T, w *world) { written(t, w, "a") }, leaves: true,
			after: func(_ *testing.T, w *world) { w.clock.Step(time.Hour) }, free: 3,
		},
		"Paused": {
			reason: "It stays paused.",
			before: func(t *testing.T, w *world) {
				written(t, w, "a", "b", "c")
				w.reserve("d", one)
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			from := newWorld(limited(one, 3))
			check := func(do func(*testing.T, *world)) {
				if do != nil {
					do(t, from)
				}
			}
			check(tc.before)
			if tc.leaves {
				limit.Leave(one.OfSet(), from.Guard)
				from.follow(true)
			}
			check(tc.after)
			to := newWorld()
			for range 2 { // It goes back before that engine knows it, and away again.
				move(from, to)
				move(to, from)
			}
			move(from, to)
			to.follow(false, limited(one, 3))
			if got := to.reserve("x", one); got != unknown {
				t.Errorf("%s before the inventory is read: %d", tc.reason, got)
			}
			to.learn(nil, everything)
			free := 0
			for _, object := range []types.UID{"x", "y", "z", "more"} {
				if to.reserve(object, one) == granted {
					to.settle(object, true, one)
					free++
				}
				to.learn(to.store(nil, nobody), everything)
			}
			if pause, paused := to.pauseOf(one); free != tc.free || !paused {
				t.Errorf("%s it writes for %d objects, want %d; paused: %t, %v", tc.reason, free, tc.free, paused, pause)
			}
		})
	}
}

// TestMovedIsToBeStored holds that what was not stored by the engine before is by the next one, before the rule writes for more.
func TestMovedIsToBeStored(t *testing.T) {
	from := newWorld(limited(one, 3))
	from.write(t, one, "a")
	stored := from.store(nil, nobody)
	from.write(t, one, "b")
	to := newWorld()
	move(from, to)
	to.follow(false, limited(one, 3))
	to.learn(stored, everything)
	if got := to.reserve("c", one); got != busy || !to.Unsaved() {
		t.Errorf("got %d, unsaved %t; want it to wait until b is stored", got, to.Unsaved())
	}
	stored = to.store(stored, nobody)
	to.learn(stored, everything)
	to.write(t, one, "c")
	third := newWorld()
	third.follow(false, limited(one, 3))
	third.learn(stored, everything)
	third.write(t, one, "x")
	if got := third.reserve("y", one); got == granted {
		t.Error("b is not stored")
	}
}

// TestMovedPause holds that users cannot have looked at a pause that is not stored, and that one of another rule does not count.
func TestMovedPause(t *testing.T) {
	next := func(t *testing.T, rule guard.Limited) *world {
		from, w := newWorld(limited(one, 1)), newWorld()
		from.write(t, one, "a")
		from.reserve("b", one)
		move(from, w)
		w.follow(false, rule)
		asks := func(plan.Rule) (asks, known bool) { return true, true }
		w.Learn(nil, asks, everything)
		w.Learn(w.Store(nil, asks, nobody), asks, everything)
		return w
	}
	if pause, paused := next(t, limited(one, 1)).pauseOf(one); !paused || !pause.Asked {
		t.Errorf("paused %t, asked before %t", paused, pause.Asked)
	}
	if pause, paused := next(t, changed(limited(one, 1))).pauseOf(one); paused {
		t.Errorf("another rule is paused: %v", pause)
	}
}

// TestComesBack holds that nothing is lost of a rule whose set was about to go to another engine, whatever rules that follows meanwhile.
func TestComesBack(t *testing.T) {
	for name, between := range map[string]func(w *world){
		"Without": func(w *world) { w.follow(true, limited(alien, 1)) },
		"Still":   func(w *world) { w.follow(true, limited(one, 3), limited(alien, 1)) },
		"Both": func(w *world) {
			w.follow(true, limited(one, 3), limited(alien, 1))
			w.follow(true, limited(alien, 1))
		},
		"Neither": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(limited(one, 3), limited(alien, 1))
			w.write(t, one, "a")
			w.reserve("b", one)
			limit.Leave(one.OfSet(), w.Guard)
			stored := map[plan.Rule]limit.Stored{one: {Pause: &v1alpha1.Pause{Rule: "one", Digest: "first"}}}
			keeps := func() {
				if kept := w.store(stored, nobody); len(kept) != 1 {
					t.Errorf("what is stored is dropped: %v", kept)
				}
			}
			keeps()
			between(w)
			keeps()
			if got := w.reserve("c", one); got != unknown {
				t.Errorf("it writes: %d", got)
			}
			w.settle("b", true, one)
			limit.Move(one.OfSet(), w.Guard, w.Guard)
			keeps()
			w.follow(false, limited(one, 3), limited(alien, 1))
			if resumed := w.learn(nil, everything); !w.Unsaved() || len(resumed) != 0 {
				t.Errorf("it is not to be stored, or resumes: %v", resumed)
			}
			w.learn(w.store(nil, nobody), everything)
			w.write(t, one, "c")
			if got := w.reserve("d", one); got != paused {
				t.Errorf("got %d, want it paused", got)
			}
		})
	}
}

// TestMovesWithoutARule holds that a rule which its set has no longer begins anew where it comes back.
func TestMovesWithoutARule(t *testing.T) {
	from, to := newWorld(limited(one, 1), limited(two, 1)), newWorld()
	from.write(t, one, "a")
	from.reserve("b", one)
	move(from, to)
	to.follow(false, limited(two, 1))
	to.learn(nil, everything)
	to.follow(false, limited(one, 1), limited(two, 1))
	to.learn(nil, everything)
	to.write(t, one, "b")
}

// TestMovesAfterItResumed holds that what is stored of a pause does not count any more, though the end of the pause could not be stored.
func TestMovesAfterItResumed(t *testing.T) {
	from, stored := exhausted(t, limited(one, 1))
	asks := func(plan.Rule) (asks, known bool) { return true, true }
	from.Store(stored, asks, nobody)
	to := newWorld()
	move(from, to)
	to.follow(false, limited(one, 1))
	to.Store(stored, asks, nobody)
	to.Learn(stored, asks, everything)
	if next := to.Store(stored, asks, nobody)[one]; next.Pause != nil || len(next.Counts) > 0 || !next.Answered {
		t.Errorf("to be stored: %+v", next)
	}
	to.write(t, one, "b")
}
