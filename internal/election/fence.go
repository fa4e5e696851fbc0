package election

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ErrFenced is why a request was not sent: the lease had not been renewed in
// time. Nothing of the request has left the process.
var ErrFenced = errors.New("not sent: the lease was not renewed in time")

// ErrCutOff is why a request was given up: the lease was not renewed in time
// while the request was under way. Whether it was carried out is not known.
var ErrCutOff = errors.New("given up while under way: the lease was not renewed in time")

// Fence knows until when writes may be sent: from the moment just before the
// last successful renewal was sent, for the renew deadline. It is closed at
// first. Its methods may be called concurrently, and those of a nil Fence let
// everything pass.
type Fence struct {
	deadline time.Duration
	clock    clock.Clock

	mu    sync.Mutex
	since time.Time     // of the last renewal; meaningless while closed; guarded by mu
	shut  chan struct{} // closed by close; nil while the fence is closed; guarded by mu
}

// NewFence returns a closed fence, which a [Candidate] opens. The deadline is
// the renew deadline of the election.
func NewFence(deadline time.Duration) *Fence {
	return &Fence{deadline: deadline, clock: clock.RealClock{}}
}

// Left is for how long writes may still be sent if the lease is not renewed
// again; 0 if none may.
func (f *Fence) Left() time.Duration {
	left, _ := f.look()
	return left
}

// look also returns what is closed if the fence is closed before that.
func (f *Fence) look() (left time.Duration, shut <-chan struct{}) {
	if f == nil {
		return math.MaxInt64, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut == nil {
		return 0, nil
	}
	return max(0, f.deadline-elapsed(f.since, f.clock.Now())), f.shut
}

// elapsed is the longer of what the two clocks say. The monotonic one goes on
// while a process is stopped, but not while a machine sleeps or is moved; the
// wall clock may be set. One that is set forward refuses writes until the next
// renewal, which is better than one too many.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// renewed opens the fence, or leaves it open for longer.
func (f *Fence) renewed(sent time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = sent
	if f.shut == nil {
		f.shut = make(chan struct{})
	}
}

// close refuses everything until the next renewal.
func (f *Fence) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut != nil {
		close(f.shut)
		f.shut = nil
	}
}

// bound returns a context that is canceled with [ErrCutOff] once the fence is
// closed. Renewals prolong it. The function must be called in the end.
func (f *Fence) bound(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		for left, shut := f.look(); left > 0; left, shut = f.look() {
			timer := f.clock.NewTimer(left)
			select {
			case <-timer.C():
			case <-shut:
			case <-ctx.Done():
			}
			timer.Stop()
			if ctx.Err() != nil {
				return
			}
		}
		cancel(ErrCutOff)
	}()
	return ctx, func() { cancel(nil) }
}
