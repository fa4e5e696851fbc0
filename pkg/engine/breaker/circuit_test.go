package breaker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// TestFail holds when a rule is put in quarantine, and when it is tried again.
func TestFail(t *testing.T) {
	tests := map[string]struct {
		reason   string
		setbacks []guard.Failure
		isolated []int // which of the setbacks put it in quarantine
		known    bool
		attempts int
		next     string
	}{
		"Once":     {"Somebody else says when to try again.", []guard.Failure{failed}, nil, true, 1, "never"},
		"Hopeless": {"The answer is final, so there is no hurry; but it is the first.", []guard.Failure{hopeless}, nil, true, 1, "10s"},
		"Again":    {"The answer is the same.", []guard.Failure{hopeless, hopeless}, []int{2}, true, 2, "20s"},
		"Later":    {"Now it is final.", []guard.Failure{failed, failed, hopeless, hopeless}, []int{4}, true, 4, "20s"},
		"Nearly":   {"It is not too often yet.", slices.Repeat([]guard.Failure{failed}, 7), nil, true, 7, "never"},
		"TooOften": {"It is too often.", slices.Repeat([]guard.Failure{failed}, 8), []int{8}, true, 8, "10s"},
		"ToldOnce": {"It is told once.", slices.Repeat([]guard.Failure{failed}, 10), []int{8}, true, 10, "40s"},
		"Ceiling":  {"Waiting has an end.", slices.Repeat([]guard.Failure{hopeless}, 100), []int{2}, true, 100, "5m0s"},
		"Futile":   {"It does not get better with time.", []guard.Failure{futile, futile}, []int{1}, true, 2, "never"},
		"Passes":   {"It is for nothing of the object's.", slices.Repeat([]guard.Failure{passing}, 20), nil, false, 0, "never"},
		"Asked": {
			"The API server says how long to wait.",
			[]guard.Failure{asking(failed, time.Minute)},
			nil, true, 1, "1m0s",
		},
		"PassesAsked": {
			"A server that is overloaded says so, too, and that counts as no attempt.",
			slices.Repeat([]guard.Failure{asking(passing, 7*time.Second)}, 20),
			nil, true, 0, "7s",
		},
		"Between": {
			"What passes does not count among what fails.",
			slices.Concat(slices.Repeat([]guard.Failure{failed}, 7), slices.Repeat([]guard.Failure{passing}, 3)),
			nil, true, 7, "never",
		},
		"AskedSooner": {
			"Nobody has it tried sooner than it would be.",
			[]guard.Failure{asking(hopeless, time.Second)},
			nil,
			true, 1, "10s",
		},
		"AskedLater": {
			"Nor is anybody asked before the time.",
			[]guard.Failure{asking(hopeless, time.Hour)},
			nil,
			true, 1, "1h0m0s",
		},
		"PassesInQuarantine": {
			"Nobody has looked at what was tried, so it is tried as soon as that makes sense, and waits no longer for it later.",
			[]guard.Failure{hopeless, passing, asking(passing, 3*time.Second), hopeless},
			[]int{4},
			true, 2, "20s",
		},
		"PassesAtOnce": {"That may be now.", []guard.Failure{hopeless, passing}, nil, true, 1, "0s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			var isolated []int
			for i, s := range tc.setbacks {
				for range w.fails(s, 1) {
					isolated = append(isolated, i+1)
				}
			}
			if diff := cmp.Diff(tc.isolated, isolated); diff != "" {
				t.Errorf("%s put in quarantine by setback (-want +got):\n%s", tc.reason, diff)
			}
			c, known := w.Of(named("a"), one)
			if known != tc.known || w.Has(named("a")) != tc.known {
				t.Fatalf("%s known: %v, %v", tc.reason, known, c)
			}
			if c.Attempts != tc.attempts || c.Open != (tc.isolated != nil) || w.in(c.Next) != tc.next {
				t.Errorf("%s %d attempts, in quarantine %v, next in %s; want %d and %s",
					tc.reason, c.Attempts, c.Open, w.in(c.Next), tc.attempts, tc.next)
			}
			if got := w.in(w.Next(named("a"))); got != tc.next {
				t.Errorf("%s the object is to be looked at in %s, want %s", tc.reason, got, tc.next)
			}
		})
	}
}

// TestSlower holds how a rule is tried ever more slowly that goes on failing.
func TestSlower(t *testing.T) {
	w := newWorld()
	var waits []string
	for range 8 {
		w.fails(hopeless, 1)
		next := w.Next(named("a"))
		waits = append(waits, w.in(next))
		w.clock.SetTime(next.Add(-time.Nanosecond))
		if !w.holds("1") {
			t.Errorf("it is not held until %s", next)
		}
		w.clock.SetTime(next)
		if w.holds("1") {
			t.Errorf("it is held at %s", next)
		}
	}
	if diff := cmp.Diff([]string{"10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s", "5m0s"}, waits); diff != "" {
		t.Errorf("it waits (-want +got):\n%s", diff)
	}
}

// TestForget holds that nothing is remembered of an object that is forgotten, and that its circuits close.
func TestForget(t *testing.T) {
	w := newWorld()
	w.fails(hopeless, 2)
	w.Fail(named("b"), one, hopeless, "1")
	w.Forget(named("a"))
	if w.Has(named("a")) || !w.Has(named("b")) || w.List() != nil {
		t.Errorf("of a forgotten object is remembered %v", w.List())
	}
	if diff := cmp.Diff([]string{one.String()}, w.closed.of["a"]); diff != "" {
		t.Errorf("out of quarantine (-want +got):\n%s", diff)
	}
}

// TestRetriesAreSpread says that a thousand objects that begin to fail together are not
// tried again together, neither the first time nor later.
func TestRetriesAreSpread(t *testing.T) {
	t.Parallel()
	const objects, parts = 1000, 10
	w := worldOf(rand.N[time.Duration])
	for round, most := range []time.Duration{Respite, 2 * Respite, 4 * Respite} {
		var counts [parts]int
		for i := range objects {
			key := named(fmt.Sprint("object-", i))
			w.Fail(key, one, hopeless, "")
			wait := w.Next(key).Sub(start)
			if wait < most/2 || wait > most {
				t.Fatalf("round %d: %v waits %s, want from %s to %s", round, key, wait, most/2, most)
			}
			counts[min(int((wait-most/2)*parts/(most/2)), parts-1)]++
		}
		for part, n := range counts {
			if n > 2*objects/parts {
				t.Errorf("round %d: %d of %d objects are tried in part %d of %d", round, n, objects, part, parts)
			}
		}
	}
}
