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
	// calm is how long after a look the next one follows, at least; at most it is a minute.
	calm   = 54 * time.Second
	jitter = 0.1
	// troubled is the same while something may be put right at any moment.
	troubled = 15 * time.Second
	// gather is how long after being told to one looks, since reasons come in crowds.
	gather = 2 * time.Second
	// apart is how far apart looks are that one is told to.
	apart = 5 * time.Second
)

// Asker finds out what an account may do: a [Reviewer].
type Asker interface {
	Review(ctx context.Context, permissions []plan.Permission) (Finding, error)
}

// Watcher keeps asking about one account. Its methods may be called concurrently, and
// none of them waits for an answer.
type Watcher struct {
	asker   Asker
	clock   clock.Clock
	changed func(Verdict)

	needed chan struct{} // there are other permissions to ask for
	told   chan struct{} // there is a reason to look soon

	mu          sync.Mutex
	permissions []plan.Permission // guarded by mu; the slice is not changed
}

// NewWatcher returns a watcher that calls changed, from Run, each time that the verdict
// is another one, and for the first.
func NewWatcher(asker Asker, clock clock.Clock, changed func(Verdict)) *Watcher {
	return &Watcher{asker: asker, clock: clock, changed: changed, needed: make(chan struct{}, 1), told: make(chan struct{}, 1)}
}

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
// often while something is wrong, and when there is a reason to.
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
		w.rest(ctx, began, next.troubled())
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
func (w *Watcher) rest(ctx context.Context, began time.Time, inTrouble bool) {
	pause := wait.Jitter(calm, jitter)
	if inTrouble {
		pause = troubled
	}
	due := w.clock.Now().Add(pause)
	told := w.told
	for {
		timer := w.clock.NewTimer(due.Sub(w.clock.Now()))
		select {
		case <-ctx.Done():
		case <-w.needed:
		case <-timer.C():
		case <-told:
			told = nil // The next look is soon, whatever else happens.
			timer.Stop()
			due = earlier(due, later(w.clock.Now().Add(gather), began.Add(apart)))
			continue
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
