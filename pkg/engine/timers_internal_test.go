package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// added are the objects that are queued, and when.
type added struct {
	workqueue.TypedDelayingInterface[Key]
	at map[string]time.Duration // after noon, by the clock of the wall
	in func() time.Duration
}

func (a *added) AddAfter(key Key, wait time.Duration) { a.at[key.Name] = a.in() + max(wait, 0) }

// TestTimers holds when objects are queued of which time alone changes what rules want. Moments are after noon.
func TestTimers(t *testing.T) {
	type step struct {
		set  map[string]time.Duration // negative to remove
		pass time.Duration
		want map[string]time.Duration // what was queued, and for when
		left int
	}
	tests := map[string]struct {
		reason string
		steps  []step
	}{
		"Soon": {
			"It is left to the queue.",
			[]step{{set: map[string]time.Duration{"a": time.Minute, "b": 1}, want: map[string]time.Duration{"a": time.Minute, "b": 1}}},
		},
		"Past": {
			"What is due already is queued at once.",
			[]step{
				{pass: time.Hour},
				{set: map[string]time.Duration{"a": time.Second}, want: map[string]time.Duration{"a": time.Hour}},
			},
		},
		"FarAhead": {
			"Nobody is told before its last minute.",
			[]step{
				{set: map[string]time.Duration{"a": 3*time.Minute + time.Second, "b": 2 * time.Minute}, left: 2},
				{pass: time.Minute, want: map[string]time.Duration{"b": 2 * time.Minute}, left: 1},
				{pass: time.Minute, left: 1},
				{pass: time.Minute, want: map[string]time.Duration{"a": 3*time.Minute + time.Second}},
			},
		},
		"Moved": {
			"There is one moment of each object, the last that was set.",
			[]step{
				{set: map[string]time.Duration{"a": time.Hour}, left: 1},
				{set: map[string]time.Duration{"a": 2 * time.Minute}, left: 1},
				{pass: time.Minute, want: map[string]time.Duration{"a": 2 * time.Minute}},
				{pass: 2 * time.Hour},
			},
		},
		"Removed": {
			"Nobody is told of it.",
			[]step{
				{set: map[string]time.Duration{"a": time.Hour}, left: 1},
				{set: map[string]time.Duration{"a": -1, "never": -1}},
				{pass: 2 * time.Hour},
			},
		},
		"SetAhead": {
			"What the clock jumps over is noticed within a minute.",
			[]step{
				{set: map[string]time.Duration{"a": time.Hour, "b": 2 * time.Hour}, left: 2},
				{pass: 3 * time.Hour, want: map[string]time.Duration{"a": 3 * time.Hour, "b": 3 * time.Hour}},
			},
		},
		"SetBack": {
			"What it jumps back from waits for its moment.",
			[]step{
				{pass: 3 * time.Hour},
				{set: map[string]time.Duration{"a": 3*time.Hour + 2*time.Minute}, left: 1},
				{pass: -3 * time.Hour, left: 1},
				{pass: 3 * time.Hour, left: 1},
				{pass: time.Minute, want: map[string]time.Duration{"a": 3*time.Hour + 2*time.Minute}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(noon)
			queued := &added{in: func() time.Duration { return clock.Since(noon) }}
			c := &core{options: Options{Clock: clock}, timers: timers{of: map[Key]time.Time{}}}
			c.queue.clock, c.TypedDelayingInterface = clock, queued
			for i, step := range tc.steps {
				queued.at = nil
				if step.want != nil {
					queued.at = map[string]time.Duration{}
				}
				for name, after := range step.set {
					moment := noon.Add(after)
					if after < 0 {
						moment = time.Time{}
					}
					c.setTimer(Key{Name: name}, moment)
				}
				clock.SetTime(clock.Now().Add(step.pass))
				if step.pass != 0 {
					c.queueDue()
				}
				if diff := cmp.Diff(step.want, queued.at); diff != "" {
					t.Errorf("%s\nstep %d (-want +got):\n%s", tc.reason, i, diff)
				}
				if left := len(c.timers.all()); left != step.left {
					t.Errorf("%s\nstep %d: %d moments are left, want %d", tc.reason, i, left, step.left)
				}
			}
		})
	}
}
