package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	typedcoordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clientretry "k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// ErrLost is why a leader ends that did not want to: it could not renew the
// lease in time, or somebody else has it. The process should end then, since what
// it knows may be out of date, and be started again.
var ErrLost = errors.New("the lease is lost")

// errBriefWatch keeps a candidate from asking without a pause.
var errBriefWatch = errors.New("the watch of the lease ended as soon as it had begun")

// attempts is how many requests one after the other fit into the renew deadline.
// The library takes two for a renewal whose answer was lost.
const attempts = 3

// Options describe an election. Lease > renew deadline > 1.2 * Retry > 0.
type Options struct {
	Namespace, Name string // of the Lease
	// Lease is how long the others wait for a leader that does not renew the lease,
	// in whole seconds. Retry is how long to wait between renewals, and after a
	// request that failed.
	Lease, Retry time.Duration
	// Fence is opened by renewals. Its deadline is the renew deadline.
	Fence *Fence
	Log   *slog.Logger
}

// Candidate takes part in an election. A nil one is its own leader.
type Candidate struct {
	options  Options
	identity string
	leases   typedcoordinationv1.LeaseInterface
	elector  *leaderelection.LeaderElector
	clock    clock.Clock
	log      *slog.Logger

	// The library tries to write the Lease once in each Run of its own, which letGo ends. Used by Run alone.
	letGo   func()
	started func(context.Context) // begins to lead
	held    bool
	failure error // why the attempt failed, nil where somebody else has the lease

	// What the Lease said last, nil before the first, and the moment at which it was first
	// seen to say so: the clocks of other processes do not matter. Used by Run alone, as are
	// the error that was logged last, and the pauses after errors.
	record  *resourcelock.LeaderElectionRecord
	seen    time.Time
	logged  string
	backoff wait.Backoff

	holder  atomic.Value // the identity that had the lease when it was last seen
	leading atomic.Bool
}

// New returns a candidate that takes part once it runs. Its requests have
// connections of their own, so that they are never queued behind others, and
// no limit on their rate.
func New(config *rest.Config, o Options) (*Candidate, error) {
	if o.Fence == nil {
		return nil, errors.New("preparing the election: there is no fence, which says how long a leader may write")
	}
	// With HTTP/1.1 a request that runs into its timeout closes its connection, so the next
	// one is not stuck on the same; and each that is under way has its own.
	own := rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	own.Dial, own.NextProtos = dialerOf(config), []string{"http/1.1"}
	own.QPS, own.Burst, own.RateLimiter = -1, -1, nil
	own.Timeout = 0 // It would bound watches too.
	client, err := typedcoordinationv1.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	c := &Candidate{
		options: o, identity: cmp.Or(host, "unknown") + "_" + uuid.NewString(),
		leases: client.Leases(o.Namespace), clock: clock.RealClock{}, log: o.Log.With("lease", o.Namespace+"/"+o.Name),
	}
	c.reset()
	c.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &lock{Candidate: c, Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: c.identity},
		}},
		Name: o.Name, LeaseDuration: o.Lease, RenewDeadline: o.Fence.deadline, RetryPeriod: o.Retry,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(term context.Context) { c.started(term) }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the election: %w", err)
	}
	return c, nil
}

// Identity is how the Lease names this candidate: the host, and what tells
// processes of one host apart.
func (c *Candidate) Identity() string { return c.identity }

// Holder is who had the lease when it was last seen; "" for nobody.
func (c *Candidate) Holder() string {
	holder, _ := c.holder.Load().(string)
	return holder
}

// IsLeader reports whether this candidate leads.
func (c *Candidate) IsLeader() bool { return c == nil || c.leading.Load() }

// Run waits for the lease, calls lead once it has it, and returns what lead
// returned, or nil if ctx ends before that. The lease is released after lead has
// returned, and renewed as long as it has not, whether ctx has ended or not.
//
// If the lease is lost, the context of lead ends with the cause [ErrLost], and Run
// returns that error once lead has returned. The lease is not released then. Run
// is called once.
func (c *Candidate) Run(ctx context.Context, lead func(context.Context) error) error {
	if c == nil {
		return lead(ctx)
	}
	ended := make(chan struct{})
	var result error
	c.started = func(term context.Context) {
		defer c.letGo()
		defer close(ended)
		if ctx.Err() != nil {
			return // We were asked to stop while the lease was on its way.
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		kept := context.AfterFunc(term, func() {
			c.resign()
			cancel(ErrLost)
			c.log.Error("lost the lease", "taken", c.Holder() != c.identity, "holder", c.Holder())
		})
		c.log.Info("leading", "identity", c.identity)
		if result = lead(ctx); !kept() {
			result = ErrLost
		}
	}
	for !c.held && ctx.Err() == nil {
		var holding context.Context
		holding, c.letGo = context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.Discard()))
		candidacy := context.AfterFunc(ctx, func() {
			if !c.IsLeader() {
				c.letGo()
			}
		})
		c.failure = nil
		c.elector.Run(holding)
		candidacy()
		c.letGo()
		if !c.held {
			c.rest(ctx, c.failure)
		}
	}
	if !c.held {
		return nil
	}
	<-ended
	c.resign()
	if !errors.Is(result, ErrLost) {
		c.release(ctx)
	}
	return result
}

// resign ends all writing.
func (c *Candidate) resign() {
	c.options.Fence.close()
	c.leading.Store(false)
}

// release lets the next leader start at once. Only our own holding is released:
// somebody may have taken the lease meanwhile.
func (c *Candidate) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.options.Fence.deadline)
	defer cancel()
	// The answer to the last renewal may not have been awaited, hence the conflicts.
	err := clientretry.RetryOnConflict(clientretry.DefaultRetry, func() error {
		lease, err := c.leases.Get(ctx, c.options.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != c.identity {
			c.saw(holder)
			return nil
		}
		// Other clients of the library expect it so: a second is the least that is valid.
		lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = new(""), new(int32(1)), new(metav1.NewMicroTime(c.clock.Now()))
		if _, err = c.leases.Update(ctx, lease, metav1.UpdateOptions{}); err == nil {
			c.saw("")
			c.log.Info("released the lease")
		}
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		c.log.Warn("could not release the lease, the next leader waits for it to expire", "err", err)
	}
}

// saw notes who has the lease.
func (c *Candidate) saw(holder string) {
	before, _ := c.holder.Swap(holder).(string)
	if before != holder && holder != "" && holder != c.identity && !c.IsLeader() {
		c.log.Info("waiting for the lease", "holder", holder)
	}
}

// lock is the Lease as the library sees it. The library calls its methods one after the other.
//
// A candidate tries to write it once: where that fails, letGo ends the library's loop,
// since that would sleep over the moment at which the lease is free. A leader opens the
// fence with each renewal.
type lock struct {
	*Candidate
	resourcelock.Interface
	acquired metav1.Time // when the lease was taken
}

// Identity implements [resourcelock.Interface].
func (l *lock) Identity() string { return l.identity }

// Get implements [resourcelock.Interface]. It returns to a candidate once the lease is free, and
// shows one that has expired as one that nobody holds: the library, which begins anew with
// each attempt, would wait for all of it again.
//
// The library alone would look every 1 to 2.2 retry periods: it would see a
// renewal, and then the end of the lease, late by up to that each. To keep within
// 2 s of the lease duration, the retry period would have to be 0.4 s, and each
// leader would write five times as often as is usual. A watch shows renewals within
// milliseconds, and the end is known from then on, so the period does not matter.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	for {
		reading, cancel := l.brief(ctx)
		record, raw, err := l.Interface.Get(reading)
		cancel()
		gone := apierrors.IsNotFound(err) // It is to be created.
		switch {
		case l.held && err == nil && record.HolderIdentity != l.identity:
			l.options.Fence.close()
			l.saw(record.HolderIdentity)
			l.letGo()
			return nil, nil, ErrLost
		case l.held && err != nil && !gone:
			l.log.Warn("could not renew the lease", "doing", "reading", "err", err)
			return nil, nil, err
		case l.held:
			return record, raw, err
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err == nil:
			l.see(record)
		}
		switch {
		case err != nil && !gone:
			err = fmt.Errorf("reading the lease: %w", err)
		case l.remaining() > 0: // Where it is gone its holder may not know of it yet, and will make it again.
			err = l.follow(ctx)
		case gone:
			return nil, nil, err
		default:
			free := *record
			free.HolderIdentity = ""
			return &free, raw, nil
		}
		l.rest(ctx, err)
	}
}

// Create implements [resourcelock.Interface].
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, "creating", record, l.Interface.Create)
}

// Update implements [resourcelock.Interface]. It carries the resourceVersion of
// what was read or written last.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, "updating", record, l.Interface.Update)
}

func (l *lock) write(ctx context.Context, what string, record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	if !l.held { // Asked to stop meanwhile, we must know whether there is something to release.
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := l.brief(ctx)
	defer cancel()
	sent := l.clock.Now()
	if !l.held { // The library has looked at the clock before it waited for the lease.
		l.acquired = metav1.NewTime(sent)
		record.RenewTime = l.acquired
	}
	if record.HolderIdentity == l.identity {
		record.AcquireTime = l.acquired
	}
	err := send(ctx, record)
	switch {
	case err == nil:
		l.options.Fence.renewed(sent)
		l.leading.Store(true)
		l.saw(l.identity)
		l.held = true
	case l.held: // The library tries again, in another way.
		l.log.Warn("could not renew the lease", "doing", what, "err", err)
	default:
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			l.failure = err
		}
		l.letGo()
	}
	return err
}

// brief bounds one request, so that one that hangs leaves time for others.
func (c *Candidate) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.options.Fence.deadline/attempts)
}

// see takes note of what was read just now.
func (c *Candidate) see(record *resourcelock.LeaderElectionRecord) {
	if c.record == nil || !apiequality.Semantic.DeepEqual(c.record, record) {
		c.record, c.seen = record, c.clock.Now()
		c.saw(record.HolderIdentity)
	}
}

// remaining is until when somebody else holds the lease that was seen, unless it is renewed.
func (c *Candidate) remaining() time.Duration {
	if c.record == nil || c.record.HolderIdentity == "" || c.record.HolderIdentity == c.identity {
		return 0
	}
	// The monotonic clock alone: one that somebody sets must not end a lease.
	return time.Duration(c.record.LeaseDurationSeconds)*time.Second - c.clock.Since(c.seen)
}

// follow watches the lease until it is free. It returns nil before that when it is to be called again.
func (c *Candidate) follow(ctx context.Context) error {
	events, err := c.leases.Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: c.options.Name}))
	if err != nil {
		return fmt.Errorf("watching the lease: %w", err)
	}
	defer events.Stop()
	for began := c.clock.Now(); c.remaining() > 0; {
		select {
		case event, open := <-events.ResultChan():
			lease, ok := event.Object.(*coordinationv1.Lease)
			switch {
			case !open && c.clock.Since(began) < c.options.Retry:
				return errBriefWatch
			case !open:
				return nil
			case event.Type == watch.Error:
				return fmt.Errorf("watching the lease: %w", apierrors.FromObject(event.Object))
			case ok && event.Type != watch.Deleted:
				c.see(resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec))
			}
		case <-c.clock.After(c.remaining()):
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// rest pauses after an error, for longer each time, up to the retry period. It
// does not pause beyond the end of the lease that was seen.
func (c *Candidate) rest(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		c.reset()
		return
	}
	if c.logged != err.Error() {
		c.logged = err.Error()
		c.log.Warn("could not look after the lease", "err", err)
	}
	pause := c.backoff.Step()
	if left := c.remaining(); left > 0 {
		pause = min(pause, left)
	}
	select {
	case <-c.clock.After(pause):
	case <-ctx.Done():
	}
}

// reset begins anew after no error. The first pause is short: the lease may be free already.
func (c *Candidate) reset() {
	c.logged, c.backoff = "", wait.Backoff{Duration: c.options.Retry / 16, Cap: c.options.Retry / 2, Factor: 2, Jitter: 1, Steps: 10}
}
