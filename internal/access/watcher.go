package access

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// calm is how long after a look the next one is due, at least; at most it is a minute.
	calm   = 54 * time.Second
	jitter = 0.1
	// troubled is the same while something may be put right at any moment.
	troubled = 15 * time.Second
	// seldom is the same for a replica that waits for the lease.
	seldom = 10 * time.Minute
	// latest is how long after the last look the next one is made, at least, whatever the pace.
	// A right that is taken away is noticed within two minutes.
	latest = 104 * time.Second
	// gather is how long after being told to one looks, since reasons come in crowds.
	gather = 2 * time.Second
	// apart is how far apart looks are that one is told to.
	apart = 5 * time.Second
)

// Asker finds out what an account may do: a [Reviewer].
type Asker interface {
	Review(ctx context.Context, permissions []plan.Permission) (Finding, error)
}

// Pace spreads the looks of all watchers of a process. It is safe for concurrent use; the
// zero value is ready.
type Pace struct {
	mu   sync.Mutex
	next time.Time // before which all looks are taken; guarded by mu
}

// A process makes so many looks at once, and then one in each interval. Each takes two
// requests, mostly, so there are ten in a second.
const (
	looksAtOnce = 50
	interval    = 200 * time.Millisecond
)

// take returns when the next look may be made. It is not later than until, when it is made
// in any case.
func (p *Pace) take(now, until time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := later(p.next, now.Add(-looksAtOnce*interval))
	if at.After(until) {
		return until
	}
	p.next = at.Add(interval)
	return later(at, now)
}

// Watcher keeps asking about one account. Its methods may be called concurrently, and
// none of them waits for an answer.
type Watcher struct {
	asker   Asker
	pace    *Pace
	clock   clock.Clock
	changed func(Verdict)

	needed chan struct{} // there are other permissions to ask for
	told   chan struct{} // there is a reason to look soon
	leads  chan struct{} // closed once the process leads

	mu          sync.Mutex
	permissions []plan.Permission // guarded by mu; the slice is not changed
}

// NewWatcher returns a watcher that calls changed, from Run, each time that the verdict
// is another one, and for the first. The pace is that of all watchers.
func NewWatcher(asker Asker, pace *Pace, clock clock.Clock, changed func(Verdict)) *Watcher {
	return &Watcher{
		asker: asker, pace: pace, clock: clock, changed: changed,
		needed: make(chan struct{}, 1), told: make(chan struct{}, 1), leads: make(chan struct{}),
	}
}

// Lead says that the process leads from now on. It is called once, at most.
func (w *Watcher) Lead() { close(w.leads) }

// Need replaces the permissions that are asked for, and has them asked for at once. Where
// they are the same, nothing happens.
func (w *Watcher) Need(permissions []plan.Permission) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Equal(w.permissions, permissions) {
		return
	}
	w.permissions = slices.Clone(permissions)
	signal(w.needed)
}

// Look has the account looked at soon, as when a request was refused.
func (w *Watcher) Look() { signal(w.told) }

func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default: // It is to be seen to already.
	}
}

// Run looks at the account until the context is done: at once, about each minute, more
// often while something is wrong, and when there is a reason to. Where there are many
// accounts it takes longer, up to two minutes. A process that does not lead looks seldom.
func (w *Watcher) Run(ctx context.Context) {
	var verdict Verdict
	var last types.UID
	first := true
	answered := w.clock.Now()
	for ctx.Err() == nil {
		began := w.clock.Now()
		finding, interrupted, err := w.look(ctx, began.Sub(answered) < calm)
		if ctx.Err() != nil {
			return
		}
		if interrupted {
			continue
		}
		answered = w.clock.Now()
		next := verdict.after(finding, err, last)
		if next.UID != "" {
			last = next.UID
		}
		if first || !next.same(verdict) {
			w.changed(next)
		}
		first, verdict = false, next
		w.rest(ctx, began, next)
	}
}

// look asks once. It is interrupted where other permissions are needed meanwhile, unless
// the last answer is from long ago: who needs others all the time must not keep rights
// that were taken away.
func (w *Watcher) look(ctx context.Context, interruptible bool) (found Finding, interrupted bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	drain(w.needed)
	drain(w.told)
	w.mu.Lock()
	permissions := w.permissions
	w.mu.Unlock()
	type answer struct {
		Finding
		err error
	}
	answers := make(chan answer, 1)
	var needed <-chan struct{} // Never.
	if interruptible {
		needed = w.needed
	}
	go func() {
		found, err := w.asker.Review(ctx, permissions)
		answers <- answer{found, err}
	}()
	select {
	case a := <-answers:
		return a.Finding, false, a.err
	case <-needed:
		stop()
		<-answers
		return Finding{}, true, nil
	}
}

func drain(from <-chan struct{}) {
	select {
	case <-from:
	default:
	}
}

// rest waits until it is time to look again after the look that began then.
func (w *Watcher) rest(ctx context.Context, began time.Time, verdict Verdict) {
	ended := w.clock.Now()
	leads, told := w.leads, w.told
	pause := wait.Jitter(seldom, jitter)
	if verdict.Unknown != nil {
		pause = troubled
	}
	due, until := ended.Add(pause), ended.Add(pause+latest)
	for taken := false; ; {
		timer := w.clock.NewTimer(due.Sub(w.clock.Now()))
		select {
		case <-ctx.Done():
		case <-w.needed:
		case <-leads:
			leads = nil
			timer.Stop()
			if pause = wait.Jitter(calm, jitter); verdict.troubled() {
				pause = troubled
			}
			due, until, taken = earlier(due, ended.Add(pause)), w.clock.Now().Add(wait.Jitter(latest, jitter/2)), false
			continue
		case <-told:
			told = nil // The next look is soon, whatever else happens.
			timer.Stop()
			due = earlier(due, later(w.clock.Now().Add(gather), began.Add(apart)))
			continue
		case now := <-timer.C():
			if !taken {
				taken, told = true, nil
				if due = w.pace.take(now, until); due.After(now) {
					continue
				}
			}
		}
		timer.Stop()
		return
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
