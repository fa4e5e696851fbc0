package limit_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

var (
	one   = plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "one"}
	two   = plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "two"}
	alien = plan.Rule{Kind: "ClusterRuleSet", Set: "other", Name: "alien"}
	start = time.Date(2026, 1, 1, 12, 0, 0, 5, time.FixedZone("far", 3600))
)

// world is limits with a clock, and the numbers of objects that rules watch.
type world struct {
	*limit.Limits
	clock *clocktesting.FakeClock

	mu       sync.Mutex
	objects  map[plan.Rule]int
	unlisted bool
	counts   int // how often was counted
}

func newWorld(rules ...limit.Rule) *world {
	w := &world{clock: clocktesting.NewFakeClock(start), objects: map[plan.Rule]int{}}
	w.Limits = limit.New(w.clock, func(rule plan.Rule) (int, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.counts++
		return w.objects[rule], !w.unlisted
	})
	w.Follow(rules, true)
	return w
}

// reserve returns the answer for a rule.
func (w *world) reserve(rule plan.Rule, object types.UID) limit.Answer {
	return w.Reserve([]plan.Rule{rule}, object)[rule]
}

// write has a rule write for an object, as it may.
func (w *world) write(t *testing.T, rule plan.Rule, object types.UID) {
	t.Helper()
	if answer := w.reserve(rule, object); answer != limit.Granted {
		t.Fatalf("%s may not write for %s: %d", rule, object, answer)
	}
	w.Settle([]plan.Rule{rule}, object, true)
}

func limited(id plan.Rule, most int) limit.Rule {
	return limit.Rule{ID: id, Digest: "first", Limits: spec.Limits{Objects: most, Per: 10 * time.Minute}}
}

func share(id plan.Rule, percent float64) limit.Rule {
	return limit.Rule{ID: id, Digest: "first", Limits: spec.Limits{Percent: percent, Per: 10 * time.Minute}}
}

// TestSlides holds what counts, and for how long.
func TestSlides(t *testing.T) {
	type step struct {
		wait   time.Duration
		object types.UID
		idle   bool // the write has no effect
		want   limit.Answer
	}
	tests := map[string]struct {
		reason string
		steps  []step
	}{
		"Distinct": {
			reason: "An object counts once, however often it is written for.",
			steps:  []step{{object: "a"}, {object: "a"}, {object: "b"}, {object: "a"}, {object: "b"}},
		},
		"Passed": {
			reason: "One more object than it may is too many.",
			steps:  []step{{object: "a"}, {object: "b"}, {object: "c", want: limit.Paused}, {object: "a", want: limit.Paused}},
		},
		"Slides": {
			reason: "What was long ago does not count, to the moment.",
			steps:  []step{{object: "a"}, {wait: 5 * time.Minute, object: "b"}, {wait: 5 * time.Minute, object: "c"}},
		},
		"NotYet": {
			reason: "A moment before, it does.",
			steps:  []step{{object: "a"}, {wait: 5 * time.Minute, object: "b"}, {wait: 5*time.Minute - 1, object: "c", want: limit.Paused}},
		},
		"Renewed": {
			reason: "The last write for an object is what counts.",
			steps: []step{
				{object: "a"},
				{object: "b"},
				{wait: 5 * time.Minute, object: "a"},
				{wait: 5 * time.Minute, object: "c"},
				{object: "d", want: limit.Paused},
			},
		},
		"Ineffective": {
			reason: "What changes nothing is no damage.",
			steps:  []step{{object: "a", idle: true}, {object: "b", idle: true}, {object: "c", idle: true}, {object: "d"}, {object: "e"}},
		},
		"IneffectiveAgain": {
			reason: "It does not renew what counts either.",
			steps:  []step{{object: "a"}, {object: "b"}, {wait: 9 * time.Minute, object: "a", idle: true}, {wait: time.Minute, object: "c"}, {object: "d"}},
		},
		"Backwards": {
			reason: "A clock that goes back forgets nothing.",
			steps:  []step{{object: "a"}, {object: "b"}, {wait: -time.Hour, object: "c", want: limit.Paused}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(limited(one, 2))
			for i, step := range tc.steps {
				w.clock.SetTime(w.clock.Now().Add(step.wait))
				got := w.reserve(one, step.object)
				if got != step.want {
					t.Fatalf("%s step %d: got %d, want %d", tc.reason, i, got, step.want)
				}
				if got == limit.Granted {
					w.Settle([]plan.Rule{one}, step.object, !step.idle)
				}
			}
		})
	}
}

// TestPauses holds what a pause says, and that it is told once.
func TestPauses(t *testing.T) {
	w := newWorld(share(one, 10), limited(two, 1))
	w.objects[one] = 25
	w.write(t, one, "a")
	w.write(t, one, "b")
	if len(w.Fresh())+len(w.All()) > 0 || w.Unsaved() {
		t.Fatal("it is paused before its limit")
	}
	w.clock.Step(time.Minute)
	w.objects[one] = 26
	w.reserve(one, "c")
	w.reserve(one, "d")
	want := []limit.Pause{{
		Rule: one, Digest: "first", Since: time.Date(2026, 1, 1, 11, 1, 0, 0, time.UTC),
		Objects: 2, Of: 26, Limit: "10%", Per: "10m",
	}}
	if diff := cmp.Diff(want, w.All()); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]limit.Pause{want, nil}, [][]limit.Pause{w.Fresh(), w.Fresh()}); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if !w.Unsaved() {
		t.Error("it is to be stored")
	}
	w.clock.Step(24 * time.Hour)
	if got := w.reserve(one, "a"); got != limit.Paused {
		t.Errorf("it has resumed by itself: %d", got)
	}
	if got := w.May(one); got != limit.Paused {
		t.Errorf("it may hold objects: %d", got)
	}
	w.write(t, two, "a")
	if got := w.May(two); got != limit.Granted {
		t.Errorf("the other is held back as well: %d", got)
	}
}

// TestConsent holds that all of them is no limit, and costs nothing.
func TestConsent(t *testing.T) {
	w := newWorld(share(one, 100))
	for i := range 100 {
		w.write(t, one, types.UID(fmt.Sprint(i)))
	}
	if w.counts > 0 || len(w.All()) > 0 {
		t.Errorf("counted %d times, paused %v", w.counts, w.All())
	}
}

// TestShareOfWhatIsThere holds that a share is of the objects that there are now.
func TestShareOfWhatIsThere(t *testing.T) {
	w := newWorld(share(one, 10))
	w.objects[one] = 10
	w.write(t, one, "a")
	w.objects[one] = 20
	w.write(t, one, "b")
	w.objects[one] = 30 // At the same moment.
	w.write(t, one, "c")
	counted := w.counts
	for range 100 {
		w.write(t, one, "c")
	}
	if w.counts != counted {
		t.Errorf("counted %d times for an object that counts already", w.counts-counted)
	}
	w.objects[one] = 40
	w.unlisted = true
	w.write(t, one, "d")
	if got := w.reserve(one, "e"); got != limit.Uncounted || len(w.All()) > 0 {
		t.Errorf("while not all is listed the answer is %d, paused %v; want it to wait", got, w.All())
	}
	w.unlisted = false
	if got := w.reserve(one, "e"); got != limit.Paused {
		t.Errorf("got %d, want a pause now that all is listed", got)
	}
}

// TestUnlistedNumber holds that a number is no share.
func TestUnlistedNumber(t *testing.T) {
	w := newWorld(limited(one, 1))
	w.unlisted = true
	w.write(t, one, "a")
	if got := w.reserve(one, "b"); got != limit.Paused {
		t.Errorf("got %d, want a pause", got)
	}
}

// TestCountsSeldom holds that objects are not counted for every write.
func TestCountsSeldom(t *testing.T) {
	w := newWorld(share(one, 50))
	w.objects[one] = 1000
	for i := range 400 {
		w.write(t, one, types.UID(fmt.Sprint(i)))
	}
	if w.counts != 1 {
		t.Errorf("counted %d times at one moment", w.counts)
	}
	w.clock.Step(time.Second)
	w.write(t, one, "more")
	if w.counts != 2 {
		t.Errorf("counted %d times, want the objects counted again after a second", w.counts)
	}
}

// TestNumberCountsNothing holds that only a share needs to know how many objects there are,
// but for what a pause says.
func TestNumberCountsNothing(t *testing.T) {
	w := newWorld(limited(one, 3))
	w.objects[one] = 7
	for _, object := range []types.UID{"a", "b", "c"} {
		w.write(t, one, object)
	}
	if w.counts != 0 {
		t.Errorf("counted %d times", w.counts)
	}
	w.reserve(one, "d")
	if got, _ := w.Paused(one); got.Of != 7 {
		t.Errorf("the pause is %+v", got)
	}
}

// TestUnderWay holds that what is being written for counts until it is known not to.
func TestUnderWay(t *testing.T) {
	w := newWorld(limited(one, 2))
	w.write(t, one, "a")
	if got := w.reserve(one, "b"); got != limit.Granted {
		t.Fatalf("got %d", got)
	}
	if got := w.reserve(one, "c"); got != limit.Busy || len(w.All()) > 0 {
		t.Errorf("got %d, paused %v; want it to wait", got, w.All())
	}
	if got := w.reserve(one, "b"); got != limit.Granted {
		t.Errorf("got %d, want a second request for the same object", got)
	}
	w.Settle([]plan.Rule{one}, "b", false)
	if got := w.reserve(one, "c"); got != limit.Busy {
		t.Errorf("got %d, want it to wait for the other request", got)
	}
	w.Settle([]plan.Rule{one}, "b", false)
	w.write(t, one, "c")
	if got := w.reserve(one, "b"); got != limit.Paused {
		t.Errorf("got %d, want a pause", got)
	}
}

// TestTogether holds that a request of several rules is sent for all or none, and that
// each is paused for itself.
func TestTogether(t *testing.T) {
	w := newWorld(limited(one, 1), limited(two, 2))
	both := []plan.Rule{one, two}
	if got := w.Reserve(both, "a"); got != nil {
		t.Fatalf("got %v", got)
	}
	w.Settle(both, "a", true)
	for range 2 { // The refused request takes no room of the other.
		if diff := cmp.Diff(map[plan.Rule]limit.Answer{one: limit.Paused}, w.Reserve(both, "b")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	w.write(t, two, "c")
	if diff := cmp.Diff(map[plan.Rule]limit.Answer{one: limit.Paused, two: limit.Paused}, w.Reserve(both, "d")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStranger holds that a rule of which nothing is known waits: its limits are about to
// be.
func TestStranger(t *testing.T) {
	w := newWorld()
	if got := w.reserve(one, "a"); got != limit.Unknown {
		t.Errorf("got %d", got)
	}
	if got := w.May(one); got != limit.Unknown {
		t.Errorf("got %d", got)
	}
	w.Settle([]plan.Rule{one}, "a", true)
	if _, paused := w.Paused(one); paused {
		t.Error("it is paused")
	}
}

// TestConcurrent holds that workers together stay within the limit, and that the rule
// pauses at it and not before.
func TestConcurrent(t *testing.T) {
	const most, objects = 50, 400
	w := newWorld(limited(one, most))
	var mu sync.Mutex
	wrote := map[types.UID]bool{}
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for i := 0; i < objects; {
				object := types.UID(fmt.Sprint(worker, "-", i))
				switch w.reserve(one, object) {
				case limit.Granted:
					effective := i%3 == 0
					if effective {
						mu.Lock()
						wrote[object] = true
						mu.Unlock()
					}
					w.Settle([]plan.Rule{one}, object, effective)
					i++
				case limit.Busy: // It is tried again.
				case limit.Paused:
					return
				default:
					t.Error("an answer that cannot be")
					return
				}
			}
		})
	}
	workers.Wait()
	if len(wrote) != most {
		t.Errorf("wrote for %d objects, want %d", len(wrote), most)
	}
	if all := w.All(); len(all) != 1 || all[0].Objects != most {
		t.Errorf("pauses: %+v", all)
	}
	if fresh := w.Fresh(); len(fresh) != 1 {
		t.Errorf("told %d times", len(fresh))
	}
}
