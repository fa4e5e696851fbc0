package limit_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// process has two engines that share their limits. The first one runs all sets at the start.
type process struct {
	*limit.Limits
	from, to *world
}

// newProcess returns one whose first engine follows rules.
func newProcess(rules ...guard.Limited) *process {
	limits, clock := limit.NewLimits(), clocktesting.NewFakeClock(start)
	p := &process{limits, newShared(limits, clock), newShared(limits, clock)}
	p.assign(p.from)
	p.from.follow(true, rules...)
	return p
}

// assign has an engine run the set from now on, nil for none.
func (p *process) assign(to *world) {
	runs := map[plan.Rule]*limit.Guard{one.OfSet(): nil, alien.OfSet(): p.from.Guard}
	if to != nil {
		runs[one.OfSet()] = to.Guard
	}
	p.Assign(runs)
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
		then   answer                       // where it wants to write for more
	}{
		"Nothing":  {reason: "It has not begun.", free: 3, then: paused},
		"Unstored": {reason: "They count.", before: func(t *testing.T, w *world) { written(t, w, "a", "b") }, free: 1, then: paused},
		"Left": {
			reason: "So they do if it has gone over to other rules.", before: func(t *testing.T, w *world) { written(t, w, "a", "b") }, leaves: true, free: 1, then: paused,
		},
		"UnderWay": {reason: "It may still take effect.", before: func(_ *testing.T, w *world) { w.reserve("a", one) }, free: 0, then: busy},
		"Settled": {
			reason: "It has taken effect since.", before: func(_ *testing.T, w *world) { w.reserve("a", one) }, leaves: true,
			after: func(_ *testing.T, w *world) { w.settle("a", true, one) }, free: 2, then: paused,
		},
		"Refused": {
			reason: "It has not.", before: func(_ *testing.T, w *world) { w.reserve("a", one) }, leaves: true,
			after: func(_ *testing.T, w *world) { w.settle("a", false, one) }, free: 3, then: paused,
		},
		"Old": {
			reason: "The window has gone by.", before: func(t *testing.T, w *world) { written(t, w, "a") }, leaves: true,
			after: func(_ *testing.T, w *world) { w.clock.Step(time.Hour) }, free: 3, then: paused,
		},
		"Paused": {
			reason: "It stays paused.",
			before: func(t *testing.T, w *world) {
				written(t, w, "a", "b", "c")
				w.reserve("d", one)
			},
			then: paused,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProcess(limited(one, 3))
			check := func(do func(*testing.T, *world)) {
				if do != nil {
					do(t, p.from)
				}
			}
			check(tc.before)
			if tc.leaves {
				p.assign(nil)
				p.from.follow(true)
			}
			check(tc.after)
			for _, to := range []*world{p.to, p.from, nil, p.to} { // It goes back before that engine knows it, and away again.
				p.assign(to)
			}
			p.to.follow(false, limited(one, 3))
			p.from.follow(true, limited(one, 3)) // Rules from before, which were about to take effect.
			if got := p.from.reserve("x", one); got != unknown {
				t.Errorf("%s The engine before writes: %d", tc.reason, got)
			}
			p.to.learn(p.to.store(nil, nobody), everything)
			free, last := 0, granted
			for _, object := range []types.UID{"x", "y", "z", "more"} {
				if last = p.to.reserve(object, one); last == granted {
					p.to.settle(object, true, one)
					free++
				}
				p.to.learn(p.to.store(nil, nobody), everything)
			}
			if free != tc.free || last != tc.then {
				t.Errorf("%s It writes for %d objects, want %d; then %d, want %d", tc.reason, free, tc.free, last, tc.then)
			}
		})
	}
}

// TestMovedIsToBeStored holds that what was not stored by the engine before is by the next one, before the rule writes for more.
func TestMovedIsToBeStored(t *testing.T) {
	p := newProcess(limited(one, 3))
	p.from.write(t, one, "a")
	stored := p.from.store(nil, nobody)
	p.from.write(t, one, "b")
	p.assign(p.to)
	p.to.follow(false, limited(one, 3))
	p.from.learn(stored, everything) // An answer to the engine before, which has no effect any more.
	p.to.learn(stored, everything)
	if got := p.to.reserve("c", one); got != busy || !p.to.Unsaved() || p.from.Unsaved() {
		t.Errorf("got %d, unsaved %t and %t; want it to wait until b is stored", got, p.to.Unsaved(), p.from.Unsaved())
	}
	stored = p.to.store(stored, nobody)
	p.to.learn(stored, everything)
	p.to.write(t, one, "c")
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
		p := newProcess(limited(one, 1))
		p.from.write(t, one, "a")
		p.from.reserve("b", one)
		p.assign(p.to)
		p.to.follow(false, rule)
		asks := func(plan.Rule) (asks, known bool) { return true, true }
		p.to.Learn(nil, asks, everything, p.to.Started())
		p.to.Learn(p.to.Store(nil, asks, nobody), asks, everything, p.to.Started())
		return p.to
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
			p := newProcess(limited(one, 3), limited(alien, 1))
			w := p.from
			w.write(t, one, "a")
			w.reserve("b", one)
			p.assign(nil)
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
			p.assign(w)
			between(w) // Rules from before, which were about to take effect.
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

// TestBeginsAnew holds that a rule is another one once its set is gone, or had it no longer, and that nothing is remembered of it.
func TestBeginsAnew(t *testing.T) {
	tests := map[string]struct {
		reason string
		do     func(p *process)
	}{
		"Gone": {"The set is.", func(p *process) { p.Assign(nil) }},
		"GoneWhileNoneRunsIt": {"The set is, before it came to the next engine.", func(p *process) {
			p.assign(nil)
			p.from.follow(true)
			p.Assign(nil)
		}},
		"GoneAndOlderRules": {"Rules from before take effect just after.", func(p *process) {
			p.Assign(nil)
			p.from.follow(true, limited(one, 1), limited(two, 1))
		}},
		"WithoutTheRule": {"The set has it no longer.", func(p *process) {
			p.assign(p.to)
			p.to.follow(true, limited(two, 1))
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProcess(limited(one, 1), limited(two, 1))
			p.from.write(t, one, "a")
			p.from.reserve("b", one)
			tc.do(p)
			p.assign(p.to)
			p.to.follow(false, limited(one, 1), limited(two, 1))
			if got := p.to.reserve("b", one); got != unknown {
				t.Errorf("%s Before the inventory is read: %d", tc.reason, got)
			}
			p.to.learn(nil, everything)
			if got := p.to.reserve("b", one); got != granted {
				t.Errorf("%s Got %d", tc.reason, got)
			}
		})
	}
}

// TestMovesAfterItResumed holds that what is stored of a pause does not count any more, though the end of the pause could not be stored.
func TestMovesAfterItResumed(t *testing.T) {
	p := newProcess(limited(one, 1))
	stored := p.from.exhaust(t, one)
	asks := func(plan.Rule) (asks, known bool) { return true, true }
	p.from.Store(stored, asks, nobody)
	p.assign(p.to)
	p.to.follow(false, limited(one, 1))
	p.to.Learn(stored, asks, everything, p.to.Started())
	if next := p.to.Store(stored, asks, nobody)[one]; next.Pause != nil || len(next.Counts) > 0 || !next.Answered {
		t.Errorf("to be stored: %+v", next)
	}
	p.to.write(t, one, "b")
}

// TestComesBackFromNone holds that what is stored of a set is kept that is gone for a moment, before its engine goes over to rules without it.
func TestComesBackFromNone(t *testing.T) {
	for name, between := range map[string]func(w *world){
		"AtOnce":       func(*world) {},
		"AfterItsLast": func(w *world) { w.follow(true, limited(one, 1)) }, // Rules that were about to take effect.
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(limited(one, 1))
			stored := p.from.exhaust(t, one)
			p.Assign(nil)
			between(p.from)
			p.assign(p.from)
			if kept := p.from.store(stored, nobody); len(kept) != 1 {
				t.Errorf("what is stored is dropped: %v", kept)
			}
			p.from.follow(false, limited(one, 1))
			p.from.learn(stored, everything)
			if got := p.from.reserve("b", one); got != paused {
				t.Errorf("got %d, want it paused", got)
			}
		})
	}
}

// TestObservedBeforeItIsKnown holds that a write counts, and is stored, of which the answer comes before it is known what is stored of the rule.
func TestObservedBeforeItIsKnown(t *testing.T) {
	rule := limited(one, 3)
	w := newWorld()
	w.follow(false, rule)
	w.learn(nil, everything)
	w.write(t, one, "a")
	stored := w.store(nil, nobody)
	w.learn(stored, everything)
	w.reserve("b", one)
	w.follow(false)       // The rule is taken out,
	w.follow(false, rule) // and put back.
	w.settle("b", true, one)
	w.learn(w.store(stored, nobody), everything)
	if !w.Unsaved() {
		t.Error("it is not to be stored")
	}
	if counts := w.store(stored, nobody)[one].Counts; len(counts) != 1 || len(counts[0].Objects) != 2*len(stored[one].Counts[0].Objects) {
		t.Errorf("stored %v, want two objects", counts)
	}
}

// TestLearnsOfTheSameTime holds that an engine learns nothing from an inventory that it began to read before it ran the set.
func TestLearnsOfTheSameTime(t *testing.T) {
	p := newProcess(limited(one, 1))
	stored := p.from.exhaust(t, one)
	p.Assign(nil)
	began := p.to.Started()
	p.assign(p.to)
	p.to.follow(false, limited(one, 1))
	p.to.Learn(nil, noObjects, everything, began)
	if got := p.to.reserve("b", one); got != unknown {
		t.Errorf("got %d, want it to wait", got)
	}
	p.to.learn(stored, everything)
	if got := p.to.reserve("b", one); got != paused {
		t.Errorf("got %d, want it paused", got)
	}
}

// TestObservedLate holds that an object counts of which the engine before learns only now that it has written for it.
func TestObservedLate(t *testing.T) {
	rule := limited(one, 5)
	p := newProcess(rule)
	p.from.reserve("a", one)
	p.assign(p.to)
	p.to.follow(false, rule)
	p.from.settle("a", true, one)
	p.to.learn(p.to.store(nil, nobody), everything)
	if got := p.to.store(nil, nobody)[one]; len(got.Counts) != 1 {
		t.Errorf("stored: %+v", got)
	}
}
