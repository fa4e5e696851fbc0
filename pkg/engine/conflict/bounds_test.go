package conflict

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// undo has a script undo the rule a in an object, so many times.
func undo(tracker *Tracker, object Object, times int) {
	version := 0
	next := func() string {
		version++
		return strconv.Itoa(version)
	}
	for range times {
		w := Write{
			Watched: object, Target: object, UID: "u", Found: next(), Left: next(),
			Fields: []Field{{Rule: rule("a"), Path: replicas, Shown: replicas, Before: 0, After: 1, Answered: 1}},
		}
		tracker.Begin(object)
		tracker.Record(w)
	}
}

// TestRemembersSoMany holds that what is remembered is bounded, and that what is written
// once makes no room for itself where something is contested.
func TestRemembersSoMany(t *testing.T) {
	clock := testingclock.NewFakeClock(start)
	tracker := newTracker(clock, 10, 5)
	undo(tracker, target, Repeats+1)
	for i := range 1000 {
		undo(tracker, named(strconv.Itoa(i)), 1)
	}
	if n := tracker.recent.len(); n > 10 {
		t.Errorf("%d objects are remembered, want at most 10", n)
	}
	if n := len(tracker.Conflicts()); n != 1 {
		t.Errorf("%d contests", n)
	}
	for i := range 20 {
		clock.Step(1)
		undo(tracker, named("contested-"+strconv.Itoa(i)), Repeats+1)
	}
	var names []string
	for _, c := range tracker.Conflicts() {
		names = append(names, c.Target.Name)
	}
	want := []string{"contested-15", "contested-16", "contested-17", "contested-18", "contested-19"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the last ones stay (-want +got):\n%s", diff)
	}
	if n := len(tracker.news); n > 5 {
		t.Errorf("%d objects have news that nobody asks for", n)
	}
}

// TestRemembersWhatIsUsed holds that an object stays that is written to again.
func TestRemembersWhatIsUsed(t *testing.T) {
	tracker := newTracker(testingclock.NewFakeClock(start), 10, 5)
	version := 0
	for i := range 100 {
		version += 2
		tracker.Begin(target)
		tracker.Record(Write{
			Watched: target, Target: target, UID: "u", Found: strconv.Itoa(version), Left: strconv.Itoa(version + 1),
			Fields: []Field{{Rule: rule("a"), Path: replicas, Shown: replicas, Before: 0, After: 1, Answered: 1}},
		})
		undo(tracker, named(strconv.Itoa(2*i)), 1)
		undo(tracker, named(strconv.Itoa(2*i+1)), 1)
	}
	if n := len(tracker.Conflicts()); n != 1 {
		t.Errorf("%d contests", n)
	}
}

// TestRemembersSoMuch holds that neither fields nor sides nor answers pile up in an object.
func TestRemembersSoMuch(t *testing.T) {
	tests := map[string]struct {
		reason string
		write  func(i int) Write
	}{
		"Fields": {reason: "A rule writes ever new fields.", write: func(i int) Write {
			return Write{Target: target, Found: "1", Left: "2", Fields: []Field{{Rule: rule("a"), Path: plan.Path{"data", strconv.Itoa(i)}}}}
		}},
		"ManyFields": {reason: "A rule writes many fields at once.", write: func(i int) Write {
			out := Write{Target: target, Found: "1", Left: "2"}
			for j := range 200 {
				out.Fields = append(out.Fields, Field{Rule: rule("a"), Path: plan.Path{"data", fmt.Sprint(i, j)}})
			}
			return out
		}},
		"Sides": {reason: "It is written to for ever other objects.", write: func(i int) Write {
			return Write{Watched: named(strconv.Itoa(i)), Target: target, Found: "1", Left: "2", Fields: []Field{{Rule: rule("a"), Path: replicas}}}
		}},
		"Answers": {reason: "Answers come in an order that leads nowhere, as one is outstanding for ever.", write: func(i int) Write {
			return Write{Target: target, Found: strconv.Itoa(2 * i), Left: strconv.Itoa(2*i + 1), Fields: []Field{{Rule: rule("a"), Path: replicas}}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := NewTracker(testingclock.NewFakeClock(start))
			tracker.Begin(target)
			for i := range 100 {
				tracker.Begin(target)
				tracker.Record(tc.write(i))
			}
			l := tracker.peek(target)
			if len(l.fields) > maxFields || len(l.states) > maxStates || len(l.answered) > maxAnswered || l.pending != 1 {
				t.Errorf("%s %d fields, %d states, %d answers, %d pending", tc.reason, len(l.fields), len(l.states), len(l.answered), l.pending)
			}
			for _, f := range l.fields {
				if len(f.efforts) > maxSides {
					t.Errorf("%s %d sides of %s", tc.reason, len(f.efforts), f.path)
				}
			}
		})
	}
}

// TestConcurrent holds that all workers may use it at the same time, and that each contest
// is told once.
func TestConcurrent(t *testing.T) {
	tracker := NewTracker(testingclock.NewFakeClock(start))
	const objects = 20
	news := make([]int, objects)
	var workers sync.WaitGroup
	for i := range objects {
		object := named(strconv.Itoa(i))
		workers.Go(func() {
			for j := range 50 {
				tracker.Suspects(rule("a"), object)
				tracker.Begin(object)
				tracker.Basis([]Input{{Object: object, UID: "u", Version: strconv.Itoa(j)}, {Object: target, UID: "u", Version: "1"}}, false, start)
				tracker.Record(Write{
					Watched: object, Target: object, UID: "u", Found: strconv.Itoa(2 * j), Left: strconv.Itoa(2*j + 1),
					Fields: []Field{{Rule: rule("a"), Path: replicas, Shown: replicas, After: 1, Answered: 1, Before: 0}},
				})
				tracker.Held(rule("a"), object)
				news[i] += len(tracker.News(object))
			}
		})
		workers.Go(func() {
			for range 50 {
				tracker.Conflicts()
				tracker.Of(rule("a"), object)
				tracker.Begin(target)
				tracker.End(target)
				tracker.Gone(source)
				tracker.Forget(func(r plan.Rule) bool { return r == rule("b") })
			}
		})
	}
	workers.Wait()
	for i, n := range news {
		if n != 1 {
			t.Errorf("object %d: told %d times", i, n)
		}
	}
	if n := len(tracker.Conflicts()); n != objects {
		t.Errorf("%d contests", n)
	}
}
