package limit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
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

// answer is what a rule is told that wants to write.
type answer int

const (
	granted answer = iota
	busy
	uncounted
	unknown
	paused
)

func answerOf(delay *guard.Delay) answer {
	if delay == nil {
		return granted
	}
	if _, is := errors.AsType[*limit.PausedError](delay.Err); is {
		return paused
	}
	return map[error]answer{limit.ErrBusy: busy, limit.ErrUncounted: uncounted, limit.ErrUnknown: unknown}[delay.Err]
}

// world is limits with a clock, and the numbers of objects that rules watch. It implements [limit.Host].
type world struct {
	*limit.Guard
	clock *clocktesting.FakeClock
	rules []guard.Limited

	mu       sync.Mutex
	fresh    []limit.Pause // that have come
	resumed  []plan.Rule   // rules that have their objects looked at again
	objects  map[plan.Rule]int
	unlisted bool
	counts   int // how often was counted
	saves    int // how often something was to be stored
}

func newWorld(rules ...guard.Limited) *world {
	w := newShared(nil, clocktesting.NewFakeClock(start))
	w.rules = rules
	w.Follow(byID(rules), setsOf(rules), true)
	return w
}

// newShared returns a world whose engine shares the limits with others, or is alone where these are nil, and follows no rules.
func newShared(limits *limit.Limits, clock *clocktesting.FakeClock) *world {
	w := &world{clock: clock, objects: map[plan.Rule]int{}}
	w.Guard = limit.NewGuard(limits, w.clock, w, w, slog.New(slog.DiscardHandler))
	return w
}

func setsOf(rules []guard.Limited) map[plan.Rule]bool {
	out := map[plan.Rule]bool{}
	for _, rule := range rules {
		out[rule.ID.OfSet()] = true
	}
	return out
}

func byID(rules []guard.Limited) map[plan.Rule]guard.Limited {
	out := map[plan.Rule]guard.Limited{}
	for _, rule := range rules {
		out[rule.ID] = rule
	}
	return out
}

// Watched implements [limit.Caches].
func (w *world) Watched(selections []plan.Selection) (objects int, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts++
	for _, selection := range selections {
		objects += w.objects[watcher(selection)]
	}
	return objects, !w.unlisted
}

// HasTakenOver implements [limit.Caches].
func (w *world) HasTakenOver([]plan.Selection) bool { return true }

// LookAt implements [limit.Host].
func (w *world) LookAt([]guard.Key) {}

// LookAgain implements [limit.Host].
func (w *world) LookAgain(selections []plan.Selection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, selection := range selections {
		w.resumed = append(w.resumed, watcher(selection))
	}
}

// Save implements [limit.Host].
func (w *world) Save() {
	w.Unsaved() // The lock is free.
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saves++
}

// Paused implements [limit.Host].
func (w *world) Paused(pause limit.Pause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = append(w.fresh, pause)
}

// watching has a rule watch objects of its own.
func watching(rule guard.Limited) guard.Limited {
	rule.Watches = []plan.Selection{{Namespace: rule.ID.Set, LabelSelector: rule.ID.Name}}
	return rule
}

// watcher is the rule that watches them.
func watcher(selection plan.Selection) plan.Rule {
	return plan.Rule{Kind: "ClusterRuleSet", Set: selection.Namespace, Name: selection.LabelSelector}
}

// follow has the world follow rules, and returns those that resume.
func (w *world) follow(known bool, rules ...guard.Limited) []plan.Rule {
	return w.resuming(func() { w.Follow(byID(rules), setsOf(rules), known) })
}

// ask has rules asked to resume from now on, and returns those that do.
func (w *world) ask(asked func(plan.Rule) bool) []plan.Rule {
	all := slices.Clone(w.rules)
	for i := range all {
		all[i].Asked = asked(all[i].ID)
	}
	return w.follow(true, all...)
}

// store returns what is to be stored in place of what is, of sets that have no objects.
func (w *world) store(stored map[plan.Rule]limit.Stored, gone func(plan.Rule) bool) map[plan.Rule]limit.Stored {
	return w.Store(stored, noObjects, gone)
}

// learn has the world learn what is stored of sets that have no objects, and returns the rules that resume.
func (w *world) learn(stored map[plan.Rule]limit.Stored, read func(plan.Rule) bool) []plan.Rule {
	return w.resuming(func() { w.Learn(stored, noObjects, read, w.Started()) })
}

func noObjects(plan.Rule) (asks, known bool) { return false, false }

func (w *world) resuming(do func()) []plan.Rule {
	w.mu.Lock()
	w.resumed = nil
	w.mu.Unlock()
	do()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.resumed
}

// take returns the pauses that have come since it was last called.
func (w *world) take() []limit.Pause {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.fresh
	w.fresh = nil
	return out
}

// pauseOf returns the pause of a rule, and whether it is paused.
func (w *world) pauseOf(rule plan.Rule) (limit.Pause, bool) {
	for _, pause := range w.All() {
		if pause.Rule == rule {
			return pause, true
		}
	}
	return limit.Pause{}, false
}

// check begins an attempt for an object.
func (w *world) check(object types.UID, limited ...plan.Rule) guard.Check {
	all := &guard.Rules{Limited: map[plan.Rule]guard.Limited{}}
	for _, rule := range limited {
		all.Limited[rule] = guard.Limited{}
	}
	check, _ := w.Begin(&guard.Attempt{Key: guard.Key{Name: string(object)}, Rules: all, Evaluation: guard.Evaluation{UID: object}})
	return check
}

// reserve returns the answer for rules that want to write for an object in one request.
func (w *world) reserve(object types.UID, together ...plan.Rule) answer {
	return answerOf(w.check(object, together...).Admit(context.Background(), plan.Operation{Type: plan.Apply, Rules: together}))
}

// hold returns the answer for a rule that wants to put its finalizer on an object.
func (w *world) hold(rule plan.Rule) answer {
	return answerOf(w.check("held", rule).Admit(context.Background(), plan.Operation{
		Type: plan.Merge, Rules: []plan.Rule{rule},
		Changes: []plan.Change{{Rule: rule, Path: plan.Path{"metadata", "finalizers"}, After: []any{rule.Finalizer()}}},
	}))
}

// settle says what became of a write that was granted.
func (w *world) settle(object types.UID, effective bool, together ...plan.Rule) {
	w.check(object, together...).Observe(
		guard.Operation{Admitted: plan.Operation{Type: plan.Apply, Rules: together}}, guard.Answer{Effective: effective})
}

// write has a rule write for an object, as it may.
func (w *world) write(t *testing.T, rule plan.Rule, object types.UID) {
	t.Helper()
	if answer := w.reserve(object, rule); answer != granted {
		t.Fatalf("%s may not write for %s: %d", rule, object, answer)
	}
	w.settle(object, true, rule)
}

func limited(id plan.Rule, most int) guard.Limited {
	return watching(guard.Limited{ID: id, Digest: "first", Limits: spec.Limits{Share: spec.Share{Objects: most}, Per: 10 * time.Minute}})
}

func share(id plan.Rule, percent float64) guard.Limited {
	return watching(guard.Limited{ID: id, Digest: "first", Limits: spec.Limits{Share: spec.Share{Percent: percent}, Per: 10 * time.Minute}})
}

// TestSlides holds what counts, and for how long.
func TestSlides(t *testing.T) {
	type step struct {
		wait   time.Duration
		object types.UID
		idle   bool // the write has no effect
		want   answer
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
			steps:  []step{{object: "a"}, {object: "b"}, {object: "c", want: paused}, {object: "a", want: paused}},
		},
		"Slides": {
			reason: "What was long ago does not count, to the moment.",
			steps:  []step{{object: "a"}, {wait: 5 * time.Minute, object: "b"}, {wait: 5 * time.Minute, object: "c"}},
		},
		"NotYet": {
			reason: "A moment before, it does.",
			steps:  []step{{object: "a"}, {wait: 5 * time.Minute, object: "b"}, {wait: 5*time.Minute - 1, object: "c", want: paused}},
		},
		"Renewed": {
			reason: "The last write for an object is what counts.",
			steps: []step{
				{object: "a"},
				{object: "b"},
				{wait: 5 * time.Minute, object: "a"},
				{wait: 5 * time.Minute, object: "c"},
				{object: "d", want: paused},
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
			steps:  []step{{object: "a"}, {object: "b"}, {wait: -time.Hour, object: "c", want: paused}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(limited(one, 2))
			for i, step := range tc.steps {
				w.clock.SetTime(w.clock.Now().Add(step.wait))
				got := w.reserve(step.object, one)
				if got != step.want {
					t.Fatalf("%s step %d: got %d, want %d", tc.reason, i, got, step.want)
				}
				if got == granted {
					w.settle(step.object, !step.idle, one)
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
	if len(w.take())+len(w.All()) > 0 || w.Unsaved() {
		t.Fatal("it is paused before its limit")
	}
	w.clock.Step(time.Minute)
	w.objects[one] = 26
	w.reserve("c", one)
	w.reserve("d", one)
	want := []limit.Pause{{
		Rule: one, Pause: v1alpha1.Pause{
			Rule: "one", Digest: "first", Since: metav1.NewTime(time.Date(2026, 1, 1, 11, 1, 0, 0, time.UTC)),
			Objects: 2, Of: 26, Limit: "10%", Per: "10m",
		},
	}}
	if diff := cmp.Diff(want, w.All()); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]limit.Pause{want, nil}, [][]limit.Pause{w.take(), w.take()}); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if !w.Unsaved() || w.saves != 1 {
		t.Errorf("it is to be stored, and that is said %d times", w.saves)
	}
	w.clock.Step(24 * time.Hour)
	if got := w.reserve("a", one); got != paused {
		t.Errorf("it has resumed by itself: %d", got)
	}
	if got := w.hold(one); got != paused {
		t.Errorf("it may hold objects: %d", got)
	}
	w.write(t, two, "a")
	if got := w.hold(two); got != granted {
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
	if got := w.reserve("e", one); got != uncounted || len(w.All()) > 0 {
		t.Errorf("while not all is listed the answer is %d, paused %v; want it to wait", got, w.All())
	}
	w.unlisted = false
	if got := w.reserve("e", one); got != paused {
		t.Errorf("got %d, want a pause now that all is listed", got)
	}
}

// TestUnlistedNumber holds that a number is no share.
func TestUnlistedNumber(t *testing.T) {
	w := newWorld(limited(one, 1))
	w.unlisted = true
	w.write(t, one, "a")
	if got := w.reserve("b", one); got != paused {
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
	w.reserve("d", one)
	if got, _ := w.pauseOf(one); got.Of != 7 {
		t.Errorf("the pause is %+v", got)
	}
}

// TestUnderWay holds that what is being written for counts until it is known not to.
func TestUnderWay(t *testing.T) {
	w := newWorld(limited(one, 2))
	w.write(t, one, "a")
	if got := w.reserve("b", one); got != granted {
		t.Fatalf("got %d", got)
	}
	if got := w.reserve("c", one); got != busy || len(w.All()) > 0 {
		t.Errorf("got %d, paused %v; want it to wait", got, w.All())
	}
	if got := w.reserve("b", one); got != granted {
		t.Errorf("got %d, want a second request for the same object", got)
	}
	w.settle("b", false, one)
	if got := w.reserve("c", one); got != busy {
		t.Errorf("got %d, want it to wait for the other request", got)
	}
	w.settle("b", false, one)
	w.write(t, one, "c")
	if got := w.reserve("b", one); got != paused {
		t.Errorf("got %d, want a pause", got)
	}
}

// TestTogether holds that a request of several rules is sent for all or none, and that
// each is paused for itself.
func TestTogether(t *testing.T) {
	w := newWorld(limited(one, 1), limited(two, 2))
	if got := w.reserve("a", one, two); got != granted {
		t.Fatalf("got %d", got)
	}
	w.settle("a", true, one, two)
	for range 2 { // The refused request takes no room of the other.
		if got := w.reserve("b", one, two); got != paused {
			t.Errorf("got %d", got)
		}
	}
	if pauses := w.take(); len(pauses) != 1 || pauses[0].Rule != one {
		t.Errorf("told of %v, want only the one that is at its limit", pauses)
	}
	w.write(t, two, "c")
	if got := w.reserve("d", one, two); got != paused {
		t.Errorf("got %d", got)
	}
	if pauses := w.take(); len(pauses) != 1 || pauses[0].Rule != two || len(w.All()) != 2 {
		t.Errorf("told of %v, paused %v", pauses, w.All())
	}
}

// TestStranger holds that a rule of which nothing is known waits: its limits are about to
// be.
func TestStranger(t *testing.T) {
	w := newWorld()
	if got := w.reserve("a", one); got != unknown {
		t.Errorf("got %d", got)
	}
	if got := w.hold(one); got != unknown {
		t.Errorf("got %d", got)
	}
	w.settle("a", true, one)
	if _, paused := w.pauseOf(one); paused {
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
				switch w.reserve(object, one) {
				case granted:
					effective := i%3 == 0
					if effective {
						mu.Lock()
						wrote[object] = true
						mu.Unlock()
					}
					w.settle(object, effective, one)
					i++
				case busy: // It is tried again.
				case paused:
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
	if fresh := w.take(); len(fresh) != 1 {
		t.Errorf("told %d times", len(fresh))
	}
}

// broken panics when objects are counted, once.
type broken struct{ *world }

func (broken) Watched([]plan.Selection) (int, bool) { panic("a mistake of ours") }
func (broken) HasTakenOver([]plan.Selection) bool   { panic("a mistake of ours") }

// TestPanic holds that nothing stays locked after a panic, which the engine contains.
func TestPanic(t *testing.T) {
	w := newWorld()
	w.Guard = limit.NewGuard(nil, w.clock, broken{w}, w, slog.New(slog.DiscardHandler))
	w.follow(true, share(one, 10))
	func() {
		defer func() { _ = recover() }()
		w.reserve("a", one)
	}()
	done := make(chan struct{})
	go func() { w.All(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		t.Error("the guard is locked for ever, and with it all workers")
	}
}
