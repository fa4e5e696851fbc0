package breaker

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestHolds holds for how long a rule is held back, with and without a change.
func TestHolds(t *testing.T) {
	tests := map[string]struct {
		reason  string
		setback guard.Failure
		times   int
		after   time.Duration // since the last attempt
		version string        // that it sees now; "1" is that of the attempts
		held    bool
		next    string // the next attempt, if it fails again now
	}{
		"Same":          {"Nothing has changed.", hopeless, 9, time.Minute, "1", true, "5m0s"},
		"Changed":       {"It has, and nothing of the past counts.", hopeless, 9, time.Minute, "2", false, "10s"},
		"Just":          {"That is soon enough.", hopeless, 9, Respite, "2", false, "10s"},
		"Soon":          {"It has just been tried.", hopeless, 9, Respite - 1, "2", true, "5m0s"},
		"NotIsolated":   {"Somebody else says when.", failed, 3, 0, "1", false, "never"},
		"Asked":         {"The API server has said when.", asking(failed, time.Minute), 3, 30 * time.Second, "1", true, "1m0s"},
		"AskedChanged":  {"That goes for whatever is sent.", asking(failed, time.Minute), 3, 30 * time.Second, "2", true, "1m0s"},
		"AskedOver":     {"The time has come.", asking(failed, time.Minute), 3, time.Minute, "1", false, "1m0s"},
		"Futile":        {"Nobody asks without a reason.", futile, 1, 0, "1", false, "never"},
		"FutileChanged": {"It may be otherwise now.", futile, 1, 0, "2", false, "never"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.fails(asking(guard.Failure{Err: errEarlier, Cause: guard.Passing}, time.Second), 1)
			w.fails(tc.setback, tc.times)
			w.clock.Step(tc.after)
			held, err := w.Holds(named("a"), one, tc.version)
			if held != tc.held || held != errors.Is(err, errRefused) {
				t.Errorf("%s held: %v, %v", tc.reason, held, err)
			}
			w.Fail(named("a"), one, tc.setback, tc.version)
			if got := w.in(w.Next(named("a"))); got != tc.next {
				t.Errorf("%s next in %s, want %s", tc.reason, got, tc.next)
			}
			if held, err := w.Holds(named("a"), two, "1"); held || err != nil {
				t.Errorf("a rule that has not failed is held: %v, %v", held, err)
			}
			if held, err := w.Holds(named("b"), one, "1"); held || err != nil {
				t.Errorf("another object is held: %v, %v", held, err)
			}
		})
	}
}

// TestBusy holds that a change that comes too soon is not forgotten, and that an object
// which changes all the time is not tried all the time.
func TestBusy(t *testing.T) {
	w := newWorld()
	w.fails(hopeless, 9)
	tries := 0
	for i := range 600 {
		w.clock.Step(100 * time.Millisecond)
		version := strings.Repeat("x", i)
		if w.holds(version) {
			if next := w.Next(named("a")); next.Sub(w.clock.Now()) > Respite {
				t.Fatalf("it waits %s after a change", w.in(next))
			}
			continue
		}
		tries++
		w.Fail(named("a"), one, hopeless, version)
	}
	if tries != 6 {
		t.Errorf("tried %d times in a minute of changes, want 6", tries)
	}
}

// TestEcho holds that what was written besides is no change, and that what others have
// written is.
func TestEcho(t *testing.T) {
	tests := map[string]struct {
		reason string
		echo   [2]string
		sees   string
		held   bool
	}{
		"Own":     {"It sees what was written.", [2]string{"1", "2"}, "2", true},
		"Foreign": {"Somebody has written after that.", [2]string{"1", "2"}, "3", false},
		"Old":     {"It sees less than that.", [2]string{"1", "2"}, "1", false},
		"Between": {"Somebody had written before.", [2]string{"2", "3"}, "3", false},
		"Not":     {"The write was decided by something else.", [2]string{"2", "3"}, "1", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.fails(hopeless, 9)
			w.Echo(named("a"), tc.echo[0], tc.echo[1])
			w.Echo(named("b"), "1", "9")
			w.clock.Step(time.Minute)
			if held := w.holds(tc.sees); held != tc.held {
				t.Errorf("%s held: %v", tc.reason, held)
			}
		})
	}
}

// TestNext holds when an object is to be looked at for the sake of one of its rules.
func TestNext(t *testing.T) {
	tests := map[string]struct {
		reason string
		happen func(w world)
		want   string
	}{
		"Nothing": {"Nothing fails.", func(world) {}, "never"},
		"First":   {"The first that is to be tried.", func(w world) { w.Fail(named("a"), two, asking(failed, 3*time.Second), "1") }, "3s"},
		"Last":    {"Others come later.", func(w world) { w.Fail(named("a"), two, asking(failed, time.Minute), "1") }, "10s"},
		"Never":   {"Others come never.", func(w world) { w.Fail(named("a"), two, futile, "1") }, "10s"},
		"Now":     {"It is due.", func(w world) { w.clock.Step(Respite) }, "0s"},
		"InTheWay": {
			"It is past due as something else is in the way, so there is no hurry.",
			func(w world) { w.clock.Step(Respite + 1) }, "5m0s",
		},
		"Past": {
			"What is not in quarantine is somebody else's, once the time has come.",
			func(w world) {
				w.Release(named("a"), func(plan.Rule) bool { return true })
				w.Fail(named("a"), two, asking(failed, time.Second), "1")
				w.clock.Step(time.Second + 1)
			}, "never",
		},
		"Changed": {"A change was seen.", func(w world) {
			w.fails(hopeless, 5)
			w.clock.Step(time.Second)
			w.holds("2")
		}, "9s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if name != "Nothing" {
				w.fails(hopeless, 1)
			}
			tc.happen(w)
			if got := w.in(w.Next(named("a"))); got != tc.want {
				t.Errorf("%s next in %s, want %s", tc.reason, got, tc.want)
			}
			if got := w.in(w.Next(named("b"))); got != "never" {
				t.Errorf("another object is to be looked at in %s", got)
			}
		})
	}
}

// TestRests holds how long an object is left alone that could not be looked at.
func TestRests(t *testing.T) {
	tests := map[string]struct {
		reason   string
		rule     plan.Rule
		setbacks []guard.Failure
		after    time.Duration
		want     time.Duration
	}{
		"Never":     {"It has not failed.", all, nil, 0, 0},
		"OneRule":   {"It was looked at.", one, slices.Repeat([]guard.Failure{hopeless}, 3), 0, 0},
		"Asked":     {"The API server says when.", all, []guard.Failure{asking(failed, time.Minute)}, time.Second, 59 * time.Second},
		"First":     {"It has just been put in quarantine.", all, []guard.Failure{hopeless}, time.Second, 9 * time.Second},
		"Any":       {"Whoever asks may know of a change.", all, slices.Repeat([]guard.Failure{hopeless}, 9), time.Second, 9 * time.Second},
		"Over":      {"It may be looked at.", all, slices.Repeat([]guard.Failure{hopeless}, 9), Respite, 0},
		"LongSince": {"It may have been for long.", all, slices.Repeat([]guard.Failure{hopeless}, 9), time.Minute, 0},
		"Passes":    {"It makes sense sooner.", all, []guard.Failure{hopeless, asking(passing, 3*time.Second)}, time.Second, 2 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for _, s := range tc.setbacks {
				w.Fail(named("a"), tc.rule, s, "")
			}
			w.clock.Step(tc.after)
			if got := w.rests("a"); got != tc.want {
				t.Errorf("%s it rests %s, want %s", tc.reason, got, tc.want)
			}
			if got := w.rests("b"); got != 0 {
				t.Errorf("another object rests %s", got)
			}
		})
	}
}

// TestRelease holds that what does not fail any more is forgotten, and told of if it was in quarantine.
func TestRelease(t *testing.T) {
	every := func(plan.Rule) bool { return true }
	w := newWorld()
	for range 2 {
		w.Fail(named("a"), two, hopeless, "1")
		w.Fail(named("b"), two, hopeless, "1")
	}
	w.Fail(named("a"), all, failed, "1")
	w.fails(hopeless, 2)
	if got := w.Release(named("a"), func(plan.Rule) bool { return false }); got != nil || w.Len() != 2 {
		t.Errorf("all of them fail still, but %v is told of", got)
	}
	if got := w.Release(named("c"), every); got != nil {
		t.Errorf("%v of an object for which nothing failed", got)
	}
	if diff := cmp.Diff([]string{one.String()}, w.Release(named("a"), func(rule plan.Rule) bool { return rule != two })); diff != "" {
		t.Errorf("what was in quarantine is told of alone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[plan.Rule]int{two: 2}, Counts(w.List())); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if got := w.fails(hopeless, 2); got == nil {
		t.Error("it fails again, and is not told of again")
	}
	if c, _ := w.Of(named("a"), one); c.Attempts != 2 {
		t.Errorf("it begins anew, but it has failed %d times", c.Attempts)
	}
	if diff := cmp.Diff([]string{one.String(), two.String()}, w.Release(named("a"), every)); diff != "" {
		t.Errorf("in order (-want +got):\n%s", diff)
	}
	if got := w.Release(named("b"), every); len(got) != 1 || w.Len() != 0 || len(Counts(w.List())) != 0 || w.Has(named("a")) {
		t.Errorf("%d objects are remembered in the end, %v are counted", w.Len(), Counts(w.List()))
	}
}

// TestConcurrent holds that all workers may use it at the same time, and that each case is
// told of once.
func TestConcurrent(t *testing.T) {
	w := newWorld()
	const objects, rounds = 20, 50
	var told, ended [objects]int
	var workers sync.WaitGroup
	for i := range objects {
		key := named(strconv.Itoa(i))
		workers.Go(func() {
			for range rounds {
				_, _ = w.Holds(key, one, "2")
				if w.Fail(key, one, failed, "1") {
					told[i]++
				}
				w.Echo(key, "1", "2")
				w.Next(key)
				w.rests(key.Name)
			}
			ended[i] = len(w.Release(key, func(plan.Rule) bool { return true }))
		})
		workers.Go(func() {
			for range rounds {
				w.List()
				Counts(w.List())
				w.Of(key, one)
				w.Has(key)
				w.Len()
			}
		})
	}
	workers.Wait()
	for i := range objects {
		if told[i] != 1 || ended[i] != 1 {
			t.Errorf("object %d: told of %d times, and of its end %d times", i, told[i], ended[i])
		}
	}
	if w.Len() != 0 || len(Counts(w.List())) != 0 {
		t.Errorf("%d objects are remembered in the end, %v are counted", w.Len(), Counts(w.List()))
	}
}

// TestFinish holds which attempts say how a circuit goes on: not one that only waits, although it has looked.
func TestFinish(t *testing.T) {
	tests := map[string]struct {
		reason     string
		carriedOut bool
		outcome    guard.Outcome
		fails      bool // afterwards
		state      guard.State
	}{
		"Waits": {"It is not known yet.", false, guard.Outcome{State: guard.Waiting, Looked: true}, true, guard.Waiting},
		"Done":  {"It does not fail any more.", true, guard.Outcome{Looked: true}, false, guard.Settled},
		"Again": {
			"It is tried slowly.", true,
			guard.Outcome{State: guard.Retry, Looked: true, Failures: []guard.Failure{{Rules: []plan.Rule{one}, Err: errRefused, Cause: guard.Hopeless}}},
			true, guard.Settled,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.fails(hopeless, 1)
			a := &guard.Attempt{Key: named("a"), CarriedOut: tc.carriedOut}
			a.Read = func() []guard.Input { return nil }
			check, _ := w.Begin(a)
			check.Finish(&tc.outcome)
			if _, fails := w.Of(named("a"), one); fails != tc.fails || tc.outcome.State != tc.state {
				t.Errorf("%s fails: %v, state %d", tc.reason, fails, tc.outcome.State)
			}
		})
	}
}
