package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Verdict is what is known of an account.
type Verdict struct {
	Finding // the last one
	// Known is false as long as nothing could be found out about the account, or about
	// the one that has replaced it.
	Known bool
	// Recreated says that this look found another account under the name than the one
	// that was known before. What was read as that one is not to be used any more.
	Recreated bool
	// Unknown is why the API server could not be asked. The rest is what was known before.
	Unknown error
}

// after is the verdict that a review leads to; last is the UID of the account that was
// there last.
func (v Verdict) after(finding Finding, err error, last types.UID) Verdict {
	recreated := last != "" && finding.UID != "" && finding.UID != last
	switch {
	case err == nil:
		return Verdict{Finding: finding, Known: true, Recreated: recreated}
	case recreated:
		return Verdict{Finding: Finding{UID: finding.UID}, Recreated: true, Unknown: err}
	default:
		v.Recreated, v.Unknown = false, err
		return v
	}
}

// troubled reports whether something may be put right at any moment.
func (v Verdict) troubled() bool {
	return v.Account != nil || len(v.Missing) > 0 || v.Unknown != nil
}

// same reports whether nobody need be told. Why the API server cannot be asked is often
// said in other words.
func (v Verdict) same(other Verdict) bool {
	return v.Known == other.Known && v.UID == other.UID && fmt.Sprint(v.Account) == fmt.Sprint(other.Account) &&
		(v.Unknown == nil) == (other.Unknown == nil) &&
		slices.Equal(v.Missing, other.Missing) && slices.Equal(v.Reviewed, other.Reviewed)
}

// Intervals say when a [Watcher] looks at its account.
type Intervals struct {
	// Calm is how long after a look the next one is due; up to a tenth is added at random.
	Calm time.Duration
	// Troubled is the same while something may be put right at any moment.
	Troubled time.Duration
	// Standby is the same for a replica that waits for the lease; up to a tenth is added at random.
	Standby time.Duration
	// Latest is how long after the last look the next one is made, at least, whatever the pace.
	Latest time.Duration
	// Gather is how long after [Watcher.Look] one looks, since reasons come in crowds.
	Gather time.Duration
	// Apart is how far apart looks are that [Watcher.Look] asks for.
	Apart time.Duration
}

// DefaultIntervals notice within two minutes that a right is taken away.
func DefaultIntervals() Intervals {
	return Intervals{
		Calm: 54 * time.Second, Troubled: 15 * time.Second, Standby: 10 * time.Minute, Latest: 104 * time.Second,
		Gather: 2 * time.Second, Apart: 5 * time.Second,
	}
}

const jitter = 0.1

// Asker finds out what an account may do: a [Reviewer].
type Asker interface {
	Review(ctx context.Context, permissions []plan.Permission) (Finding, error)
}

// A process makes so many looks at once, and then one in each interval. Each takes two
// requests, mostly, so there are ten in a second.
const (
	looksAtOnce = 50
	interval    = 200 * time.Millisecond
)

// NewPace returns what spreads the looks of all watchers of a process.
func NewPace() *rate.Limiter { return rate.NewLimiter(rate.Every(interval), looksAtOnce) }

// Watcher keeps asking about one account. Its methods may be called concurrently, and
// none of them waits for an answer.
type Watcher struct {
	asker   Asker
	pace    *rate.Limiter
	every   Intervals
	clock   clock.Clock
	changed func(Verdict)

	needed chan struct{} // there are other permissions to ask for
	told   chan struct{} // there is a reason to look soon
	leads  chan struct{} // closed once the process leads

	mu          sync.Mutex
	permissions []plan.Permission // guarded by mu; the slice is not changed
}

// NewWatcher returns a watcher that calls changed, from Run, each time that the verdict
// is another one, and for the first. The pace is that of all watchers, see [NewPace]. Without intervals it
// has the [DefaultIntervals].
func NewWatcher(asker Asker, pace *rate.Limiter, intervals Intervals, clock clock.Clock, changed func(Verdict)) *Watcher {
	return &Watcher{
		asker: asker, pace: pace, every: cmp.Or(intervals, DefaultIntervals()), clock: clock, changed: changed,
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
		finding, interrupted, err := w.look(ctx, began.Sub(answered) < w.every.Calm)
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
func (w *Watcher) look(ctx context.Context, interruptible bool) (_ Finding, interrupted bool, _ error) {
	drain(w.needed)
	drain(w.told)
	w.mu.Lock()
	permissions := w.permissions
	w.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var found Finding
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err = w.asker.Review(ctx, permissions)
	}()
	var needed <-chan struct{} // Never.
	if interruptible {
		needed = w.needed
	}
	select {
	case <-done:
	case <-needed:
		interrupted = true
		stop()
		<-done
	}
	return found, interrupted, err
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
	pause := wait.Jitter(w.every.Standby, jitter)
	if verdict.Unknown != nil {
		pause = w.every.Troubled
	}
	due, until := ended.Add(pause), ended.Add(pause+w.every.Latest)
	for taken := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-w.needed:
			return
		case <-leads:
			leads = nil
			if pause = wait.Jitter(w.every.Calm, jitter); verdict.troubled() {
				pause = w.every.Troubled
			}
			due, until, taken = earlier(due, ended.Add(pause)), w.clock.Now().Add(wait.Jitter(w.every.Latest, jitter/2)), false
		case <-told:
			told = nil // The next look is soon, whatever else happens.
			due = earlier(due, later(w.clock.Now().Add(w.every.Gather), began.Add(w.every.Apart)))
		case <-w.clock.After(due.Sub(w.clock.Now())):
			if taken {
				return
			}
			taken, told = true, nil
			now := w.clock.Now() // A timer tells when it was due, and the limiter would count a moment from before twice.
			turn := w.pace.ReserveN(now, 1)
			if due = now.Add(turn.DelayFrom(now)); due.After(until) { // It is late, so it is made in any case.
				turn.CancelAt(now)
				due = until
			}
			if !due.After(now) {
				return
			}
		}
	}
}

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
