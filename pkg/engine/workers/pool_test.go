package workers_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const size = 4

var (
	slow   = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "slow"}
	quick  = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "quick"}
	first  = plan.Rule{Set: "s", Name: "first"}
	second = plan.Rule{Set: "s", Name: "second"}
)

// pass lets virtual time go by.
func pass(d time.Duration) { <-time.After(d) }

// work is what a pool is given: calls, in order. It is safe for concurrent use.
type work struct {
	jobs chan func(ctx context.Context)
	// most is how many worked at the same time, without those who wait.
	mu       sync.Mutex
	at, most int // guarded by mu
}

// run starts a pool that works until the returned function is called, which reports how
// many were at work at the same time at most.
func run(t *testing.T) (*workers.Pool, *work, func() int) {
	t.Helper()
	c, w := workers.New(size), &work{jobs: make(chan func(context.Context), 10_000)}
	var finished sync.WaitGroup
	finished.Go(func() {
		c.Run(t.Context(), func(ctx context.Context) bool {
			job, more := <-w.jobs
			if more {
				job(ctx)
			}
			return more
		})
	})
	return c, w, func() int {
		close(w.jobs)
		finished.Wait()
		return w.most
	}
}

// busy takes some time that is no call.
func (w *work) busy(d time.Duration) func(context.Context) {
	return func(context.Context) {
		w.mu.Lock()
		w.at++
		w.most = max(w.most, w.at)
		w.mu.Unlock()
		pass(d)
		w.mu.Lock()
		w.at--
		w.mu.Unlock()
	}
}

// TestSubstitutes holds that those who wait cost no place, and that only as many work as
// there are places.
func TestSubstitutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w, stop := run(t)
		answer := make(chan struct{})
		for range size {
			w.jobs <- func(ctx context.Context) {
				workers.Call(ctx, workers.Purpose{GVR: slow}, func() { <-answer })
			}
		}
		pass(workers.Moment / 2)
		var done atomic.Int32
		w.jobs <- func(context.Context) { done.Add(1) }
		synctest.Wait()
		if done.Load() != 0 {
			t.Error("more are at work than there are places, before a moment has passed")
		}
		pass(workers.Moment)
		if done.Load() != 1 {
			t.Error("nobody works although those with a place only wait")
		}
		for range 10 * size {
			w.jobs <- w.busy(time.Second)
		}
		synctest.Wait()
		close(answer)
		pass(time.Minute)
		if c.Crowded(workers.Purpose{GVR: slow}) {
			t.Error("it is crowded although all answers are there")
		}
		for range 10 * size {
			w.jobs <- w.busy(time.Second)
		}
		w.mu.Lock()
		w.most = 0
		w.mu.Unlock()
		pass(time.Minute)
		if got := stop(); got != size {
			t.Errorf("%d worked at the same time when all were back, want %d", got, size)
		}
	})
}

// TestCrowded holds how many may wait for what.
func TestCrowded(t *testing.T) {
	times := func(n int, rules ...plan.Rule) []workers.Purpose {
		var out []workers.Purpose
		for range n {
			out = append(out, workers.Purpose{GVR: slow, Rules: rules})
		}
		return out
	}
	tests := map[string]struct {
		reason  string
		waiting []workers.Purpose
		asked   workers.Purpose
		want    bool
	}{
		"Nobody":     {"There is room.", nil, workers.Purpose{GVR: slow, Rules: []plan.Rule{first}}, false},
		"AlmostFull": {"There is room for one.", times(size-1, first), workers.Purpose{GVR: slow, Rules: []plan.Rule{first}}, false},
		"SameRule":   {"A rule that is slow there waits.", times(size, first), workers.Purpose{GVR: slow, Rules: []plan.Rule{first}}, true},
		"OtherRule":  {"Another rule goes on at the same resource.", times(size, first), workers.Purpose{GVR: slow, Rules: []plan.Rule{second}}, false},
		"Joined":     {"A joined request is one of the slow rule.", times(size, first), workers.Purpose{GVR: slow, Rules: []plan.Rule{second, first}}, true},
		"WasJoined": {
			"It may have been for the other rule that it was slow.",
			append(times(size, first, second), times(size, second)...),
			workers.Purpose{GVR: slow, Rules: []plan.Rule{first}},
			false,
		},
		"StillJoined":   {"Nor does it go on together.", times(size, first, second), workers.Purpose{GVR: slow, Rules: []plan.Rule{first, second}}, true},
		"OtherResource": {"A resource that is slow is so for itself.", times(size, first), workers.Purpose{GVR: quick, Rules: []plan.Rule{first}}, false},
		"NoRule":        {"A read goes on.", times(size, first), workers.Purpose{GVR: slow}, false},
		"Resource": {
			"Where all rules are slow, it is the resource.",
			slices.Concat(times(size, first), times(size, second), times(2*size)),
			workers.Purpose{GVR: slow},
			true,
		},
		"ResourceOtherwise": {
			"Others are not concerned.",
			slices.Concat(times(size, first), times(size, second), times(2*size)),
			workers.Purpose{GVR: quick, Rules: []plan.Rule{first, second}},
			false,
		},
		"Reads": {"Reads without an answer count.", times(4 * size), workers.Purpose{GVR: slow, Rules: []plan.Rule{first}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, w, stop := run(t)
				answer := make(chan struct{})
				for _, purpose := range tc.waiting {
					w.jobs <- func(ctx context.Context) { workers.Call(ctx, purpose, func() { <-answer }) }
				}
				pass(10 * workers.Moment)
				if got := c.Crowded(tc.asked); got != tc.want {
					t.Errorf("%s Crowded is %v", tc.reason, got)
				}
				close(answer)
				synctest.Wait()
				if c.Crowded(tc.asked) {
					t.Error("it is crowded although all answers are there")
				}
				stop()
			})
		})
	}
}

// TestCallsTogether holds that one who waits for several answers waits once.
func TestCallsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w, stop := run(t)
		purpose := workers.Purpose{GVR: slow, Rules: []plan.Rule{first}}
		w.jobs <- func(ctx context.Context) {
			var calls sync.WaitGroup
			for i := range 4 * size {
				calls.Go(func() {
					workers.Call(ctx, purpose, func() { pass(10*time.Second + time.Duration(i)*time.Second) })
				})
			}
			calls.Wait()
		}
		pass(5 * time.Second)
		if c.Crowded(purpose) {
			t.Error("one who waits for many answers crowds")
		}
		var done atomic.Int32
		for range size {
			w.jobs <- func(ctx context.Context) { workers.Call(ctx, purpose, func() { done.Add(1); pass(time.Hour) }) }
		}
		pass(5 * time.Second)
		if done.Load() != size || !c.Crowded(purpose) {
			t.Errorf("%d others have begun, want %d and no room after that", done.Load(), size)
		}
		stop()
	})
}

// TestIsBounded holds that those who wait for ever do not become ever more.
func TestIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w, stop := run(t)
		var begun atomic.Int32
		answer := make(chan struct{})
		for i := range 1000 {
			gvr := slow
			gvr.Version = string(rune('a' + i))
			w.jobs <- func(ctx context.Context) {
				workers.Call(ctx, workers.Purpose{GVR: gvr}, func() { begun.Add(1); <-answer })
			}
		}
		pass(time.Hour)
		if got := begun.Load(); got != 16*size {
			t.Errorf("%d wait, want 16 for each place", got)
		}
		close(answer)
		stop()
		if got := begun.Load(); got != 1000 {
			t.Errorf("%d of 1000 were done in the end", got)
		}
	})
}

// TestPanicComesBack holds that one whose call panics is back.
func TestPanicComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w, stop := run(t)
		purpose := workers.Purpose{GVR: slow, Rules: []plan.Rule{first}}
		for range 2 * size {
			w.jobs <- func(ctx context.Context) {
				defer func() { _ = recover() }()
				workers.Call(ctx, purpose, func() { pass(time.Minute); panic("poisoned") })
			}
		}
		pass(time.Hour)
		if c.Crowded(purpose) {
			t.Error("those who panicked are still away")
		}
		for range 10 * size {
			w.jobs <- w.busy(time.Second)
		}
		if got := stop(); got != size {
			t.Errorf("%d work at the same time, want %d", got, size)
		}
	})
}

// TestOutside holds that somebody else's call is just done.
func TestOutside(t *testing.T) {
	done := false
	workers.Call(t.Context(), workers.Purpose{GVR: slow}, func() { done = true })
	if !done {
		t.Error("it was not done")
	}
}

// TestAdmit holds that an operation does not wait where many do for the like, unless the engine settles.
func TestAdmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w, stop := run(t)
		o := plan.Operation{Rules: []plan.Rule{first}, Target: plan.Object{GVR: slow}}
		admit := func(settling bool) *guard.Delay {
			check, rests := p.Begin(&guard.Attempt{Settling: settling})
			if !rests.IsZero() {
				t.Errorf("an object rests until %s", rests)
			}
			return check.Admit(t.Context(), o)
		}
		if delay := admit(false); delay != nil {
			t.Errorf("there is room, and yet %v", delay.Err)
		}
		answer := make(chan struct{})
		for range size {
			w.jobs <- func(ctx context.Context) { workers.Call(ctx, workers.PurposeOf(o), func() { <-answer }) }
		}
		pass(2 * workers.Moment)
		if delay := admit(false); delay == nil || !errors.Is(delay.Err, workers.ErrCrowded) || !delay.Retry {
			t.Errorf("it is crowded, and yet %v", delay)
		}
		if delay := admit(true); delay != nil {
			t.Errorf("an engine that settles does not wait: %v", delay.Err)
		}
		close(answer)
		stop()
	})
}
