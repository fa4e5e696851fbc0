package engine

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// alarms are what timers tell.
type alarms struct {
	mu    sync.Mutex
	waits map[string]time.Duration
}

func (a *alarms) due(key Key, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits[key.Name] = wait
}

// take returns what was told since the last time.
func (a *alarms) take() map[string]time.Duration {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	out := maps.Clone(a.waits)
	clear(a.waits)
	return out
}

// ticking runs timers by a clock that stands still.
func ticking(t *testing.T, body func(t *testing.T, timers *timers, clock *clocktesting.FakeClock, alarms *alarms)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var all timers
		clock, told := clocktesting.NewFakeClock(noon), &alarms{waits: map[string]time.Duration{}}
		ctx, cancel := context.WithCancel(t.Context())
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			all.run(ctx, clock, told.due)
		}()
		synctest.Wait()
		body(t, &all, clock, told)
		cancel()
		<-finished
	})
}

func at(name string) Key { return Key{Name: name} }

func TestTimers(t *testing.T) {
	type step struct {
		set  map[string]time.Duration // after noon, negative to remove
		pass time.Duration
		told []string
	}
	tests := map[string]struct {
		reason string
		steps  []step
		left   int
	}{
		"EarliestFirst": {
			reason: "Each at its moment.",
			steps: []step{
				{set: map[string]time.Duration{"b": 2 * time.Second, "a": time.Second, "c": 3 * time.Second}, told: []string{}},
				{pass: time.Second, told: []string{"a"}},
				{pass: time.Second, told: []string{"b"}},
				{pass: time.Second, told: []string{"c"}},
			},
		},
		"NotBefore": {
			reason: "Not a moment too early.",
			steps: []step{
				{set: map[string]time.Duration{"a": time.Second}, pass: time.Second - 1, told: []string{}},
				{pass: 1, told: []string{"a"}},
			},
		},
		"EarlierWins": {
			reason: "What is set while it sleeps wakes it.",
			steps: []step{
				{set: map[string]time.Duration{"a": 50 * time.Second}, told: []string{}},
				{set: map[string]time.Duration{"b": 2 * time.Second}, told: []string{}},
				{pass: 2 * time.Second, told: []string{"b"}},
				{pass: 48 * time.Second, told: []string{"a"}},
			},
		},
		"Moved": {
			reason: "There is one moment of each object, the last that was set.",
			steps: []step{
				{set: map[string]time.Duration{"a": 10 * time.Second}, told: []string{}},
				{set: map[string]time.Duration{"a": 5 * time.Second}, told: []string{}},
				{pass: 5 * time.Second, told: []string{"a"}},
				{set: map[string]time.Duration{"a": 7 * time.Second}, told: []string{}},
				{set: map[string]time.Duration{"a": 20 * time.Second}, pass: 5 * time.Second, told: []string{}},
				{pass: 10 * time.Second, told: []string{"a"}},
				{pass: time.Minute, told: []string{}},
			},
		},
		"Removed": {
			reason: "Nobody is told of it.",
			steps: []step{
				{set: map[string]time.Duration{"a": time.Second, "b": 2 * time.Second}, told: []string{}},
				{set: map[string]time.Duration{"a": -1}, pass: 2 * time.Second, told: []string{"b"}},
				{set: map[string]time.Duration{"never": -1}, pass: time.Minute, told: []string{}},
			},
		},
		"Past": {
			reason: "What is due already is told at once.",
			steps:  []step{{pass: time.Minute, told: []string{}}, {set: map[string]time.Duration{"a": 59 * time.Second}, told: []string{"a"}}},
		},
		"Together": {
			reason: "All that are due.",
			steps: []step{
				{set: map[string]time.Duration{"a": time.Second, "b": time.Second, "c": 2 * time.Second}, told: []string{}},
				{pass: time.Second, told: []string{"a", "b"}},
			},
			left: 1,
		},
		"FarAhead": {
			reason: "It naps in between.",
			steps: []step{
				{set: map[string]time.Duration{"a": 3 * time.Minute}, told: []string{}},
				{pass: time.Minute, told: []string{}},
				{pass: time.Minute, told: []string{}},
				{pass: time.Minute, told: []string{"a"}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ticking(t, func(t *testing.T, timers *timers, clock *clocktesting.FakeClock, alarms *alarms) {
				for i, step := range tc.steps {
					for name, after := range step.set {
						moment := noon.Add(after)
						if after < 0 {
							moment = time.Time{}
						}
						timers.set(at(name), moment)
					}
					synctest.Wait()
					clock.Step(step.pass)
					want := map[string]time.Duration{}
					for _, name := range step.told {
						want[name] = 0
					}
					if diff := cmp.Diff(want, alarms.take()); diff != "" {
						t.Errorf("%s\nstep %d (-want +got):\n%s", tc.reason, i, diff)
					}
				}
				if len(timers.of) != tc.left || len(timers.queue) != tc.left {
					t.Errorf("%s\n%d and %d moments are left, want %d", tc.reason, len(timers.of), len(timers.queue), tc.left)
				}
			})
		})
	}
}

// TestTimersAndAClockThatIsSet holds that what a clock jumps over is spread, and that
// what it jumps back from waits for its moment.
func TestTimersAndAClockThatIsSet(t *testing.T) {
	ticking(t, func(t *testing.T, timers *timers, clock *clocktesting.FakeClock, alarms *alarms) {
		for i := range 100 {
			timers.set(at(fmt.Sprint(i)), noon.Add(time.Hour+time.Duration(i)*time.Millisecond))
		}
		synctest.Wait()
		clock.Step(3 * time.Hour)
		told := alarms.take()
		distinct := map[time.Duration]bool{}
		for name, wait := range told {
			if wait < 0 || wait >= overdue {
				t.Errorf("%s is to wait for %s", name, wait)
			}
			distinct[wait] = true
		}
		if len(told) != 100 || len(distinct) < 90 {
			t.Errorf("told of %d objects at %d moments, want 100, spread", len(told), len(distinct))
		}

		timers.set(at("a"), noon.Add(3*time.Hour+time.Minute))
		synctest.Wait()
		clock.SetTime(noon)
		for range 3 * 60 {
			clock.Step(time.Minute)
			if told := alarms.take(); len(told) > 0 {
				t.Fatalf("told of %v, %s early", told, noon.Add(3*time.Hour+time.Minute).Sub(clock.Now()))
			}
		}
		clock.Step(time.Minute)
		if told := alarms.take(); len(told) != 1 || told["a"] != 0 {
			t.Errorf("told of %v, want a, at once", told)
		}
	})
}

// TestTimersWhileManySet is for the race detector.
func TestTimersWhileManySet(t *testing.T) {
	ticking(t, func(t *testing.T, timers *timers, clock *clocktesting.FakeClock, alarms *alarms) {
		var setters sync.WaitGroup
		for i := range 8 {
			setters.Go(func() {
				for j := range 200 {
					key := at(fmt.Sprint(j % 50))
					timers.set(key, noon.Add(time.Duration(i*j%70)*time.Second))
					if j%7 == 0 {
						timers.set(key, time.Time{})
					}
				}
			})
		}
		setters.Wait()
		clock.Step(time.Minute + 10*time.Second)
		alarms.take()
		clock.Step(time.Minute)
		alarms.take()
		if len(timers.of) != 0 || len(timers.queue) != 0 {
			t.Errorf("%d and %d moments are left", len(timers.of), len(timers.queue))
		}
	})
}
