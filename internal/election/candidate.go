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

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	clientretry "k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/dyncontroller/dyncontroller/pkg/client"
)

// ErrLost is why a leader ends that did not want to: it could not renew the
// lease in time, or somebody else has it. The process should end then, since what
// it knows may be out of date, and be started again.
var ErrLost = errors.New("the lease is lost")

// errBriefWatch keeps a candidate from asking without a pause.
var errBriefWatch = errors.New("the watch of the lease ended as soon as it had begun")

// attempts is how many requests one after the other fit into the renew deadline.
// A renewal whose answer was lost takes three: the write, a read, and the write again.
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
	// Metrics is told of the lease, nil for nobody.
	Metrics Metrics
	Log     *slog.Logger
}

// Metrics counts what becomes of a lease, as Kubernetes' own components do. It is called by one goroutine.
type Metrics interface {
	Leading(lease string, leads bool)
	SlowPath(lease string) // a renewal has read the lease first
}

// noMetrics are those of nobody.
type noMetrics struct{}

func (noMetrics) Leading(string, bool) {}

func (noMetrics) SlowPath(string) {}

// Candidate takes part in an election. A nil one is its own leader.
type Candidate struct {
	options  Options
	identity string
	leases   rest.Interface
	clock    clock.Clock
	log      *slog.Logger

	// The Lease as it was read or written last, whose resourceVersion the next write carries, and when it was taken. Used by
	// the goroutine that takes and renews it alone.
	lease    *coordinationv1.Lease
	acquired metav1.MicroTime

	// What the Lease said last, nil before the first, and the moment at which it was first
	// seen to say so: the clocks of other processes do not matter. Used by Run alone, as are
	// the error that was logged last, and the pauses after errors.
	spec    *coordinationv1.LeaseSpec
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
	switch deadline := o.Fence.deadline; {
	case o.Lease <= deadline:
		return nil, fmt.Errorf("preparing the election: the lease duration %s must be longer than the renew deadline %s", o.Lease, deadline)
	case o.Retry <= 0 || deadline <= o.Retry+o.Retry/5:
		return nil, fmt.Errorf("preparing the election: the renew deadline %s must be longer than 1.2 retry periods of %s, which must be more than 0", deadline, o.Retry)
	}
	// With HTTP/1.1 a request that runs into its timeout closes its connection, so the next
	// one is not stuck on the same; and each that is under way has its own.
	own := rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	own.Dial, own.NextProtos = dialerOf(config), []string{"http/1.1"}
	own.QPS, own.Burst, own.RateLimiter = -1, -1, nil
	own.Timeout = 0 // It would bound watches too.
	leases, err := client.For(own, coordinationv1.SchemeGroupVersion, &coordinationv1.Lease{})
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	host, _ := os.Hostname() // Empty where it is not known.
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	c := &Candidate{
		options: o, identity: cmp.Or(host, "unknown") + "_" + uuid.NewString(),
		leases: leases, clock: clock.RealClock{}, log: o.Log.With("lease", o.Namespace+"/"+o.Name),
	}
	o.Metrics.Leading(o.Name, false)
	c.reset()
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
	for !c.leading.Load() {
		if ctx.Err() != nil {
			return nil
		}
		c.rest(ctx, c.acquire(ctx))
	}
	c.options.Metrics.Leading(c.options.Name, true)
	defer c.options.Metrics.Leading(c.options.Name, false)
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	term, end := context.WithCancelCause(ctx)
	defer end(nil)
	var result error
	ended := make(chan struct{})
	go func() {
		defer letGo()
		defer close(ended)
		if ctx.Err() == nil { // Otherwise we were asked to stop while the lease was on its way.
			c.log.Info("leading", "identity", c.identity)
			result = lead(term)
		}
	}()
	kept := c.renew(holding)
	if !kept {
		c.resign()
		end(ErrLost)
		c.log.Error("lost the lease", "taken", c.Holder() != c.identity, "holder", c.Holder())
	}
	<-ended
	c.resign()
	if !kept {
		return ErrLost
	}
	c.release(ctx)
	return result
}

// acquire tries to take the lease, once it is free. It returns early where it is to be called again, with what went wrong, or nil
// where somebody else was faster.
//
// client-go's elector would look every 1 to 2.2 retry periods: it would see a
// renewal, and then the end of the lease, late by up to that each. To keep within
// 2 s of the lease duration, the retry period would have to be 0.4 s, and each
// leader would write five times as often as is usual. A watch shows renewals within
// milliseconds, and the end is known from then on, so the period does not matter.
func (c *Candidate) acquire(ctx context.Context) error {
	found, err := c.read(ctx)
	gone := apierrors.IsNotFound(err) // It is to be created.
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // Nobody waits for it any more.
	case err != nil && !gone:
		return fmt.Errorf("reading the lease: %w", err)
	case err == nil:
		c.see(&found.Spec)
	}
	if c.remaining() > 0 { // Where it is gone its holder may not know of it yet, and will make it again.
		return c.follow(ctx)
	}
	var transitions int32
	if c.lease = found; !gone {
		transitions = ptr.Deref(found.Spec.LeaseTransitions, 0) + 1
	}
	c.acquired = metav1.NewMicroTime(c.clock.Now())
	// Asked to stop meanwhile, we must know whether there is something to release.
	err = c.write(context.WithoutCancel(ctx), transitions)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// renew keeps the lease until the context ends, and reports whether it did. It has lost the lease once no renewal came
// through for the renew deadline, or as soon as it sees somebody else with it.
func (c *Candidate) renew(ctx context.Context) (kept bool) {
	for {
		err := wait.PollUntilContextTimeout(ctx, c.options.Retry, c.options.Fence.deadline, true, func(ctx context.Context) (bool, error) {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			return c.renewOnce(ctx)
		})
		if ctx.Err() != nil {
			return true
		}
		if err != nil {
			return false
		}
		select {
		case <-c.clock.After(c.options.Retry):
		case <-ctx.Done():
			return true
		}
	}
}

// renewOnce writes the lease. Where that fails it looks at what is there: the answer to the last renewal may have been lost,
// or somebody may have deleted the lease. An error says that somebody else has it.
func (c *Candidate) renewOnce(ctx context.Context) (done bool, err error) {
	failed := func(doing string, err error) (bool, error) {
		c.log.Warn("could not renew the lease", "doing", doing, "err", err)
		return false, nil
	}
	transitions := ptr.Deref(c.lease.Spec.LeaseTransitions, 0)
	if err = c.write(ctx, transitions); err == nil {
		return true, nil
	}
	_, _ = failed("updating", err)
	found, err := c.read(ctx)
	doing := "updating"
	switch {
	case apierrors.IsNotFound(err):
		doing = "creating"
	case err != nil:
		return failed("reading", err)
	case ptr.Deref(found.Spec.HolderIdentity, "") != c.identity:
		c.options.Fence.close()
		c.saw(ptr.Deref(found.Spec.HolderIdentity, ""))
		return false, ErrLost
	default:
		c.options.Metrics.SlowPath(c.options.Name)
	}
	if c.lease = found; found == nil {
		transitions = 0
	}
	if err := c.write(ctx, transitions); err != nil {
		return failed(doing, err)
	}
	return true, nil
}

// read asks for the lease.
func (c *Candidate) read(ctx context.Context) (*coordinationv1.Lease, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	found := &coordinationv1.Lease{}
	if err := c.at(c.leases.Get()).Name(c.options.Name).Do(ctx).Into(found); err != nil {
		return nil, err //nolint:wrapcheck // The callers look at it, and say what was done.
	}
	return found, nil
}

// at is where leases are.
func (c *Candidate) at(request *rest.Request) *rest.Request {
	return request.Namespace(c.options.Namespace).Resource("leases")
}

// write takes or renews the lease, and opens the fence then. It updates c.lease, and makes the lease where that is nil.
func (c *Candidate) write(ctx context.Context, transitions int32) error {
	sent := c.clock.Now()
	wanted := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.options.Namespace, Name: c.options.Name}}
	if c.lease != nil {
		wanted = c.lease.DeepCopy()
	}
	wanted.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &c.identity, LeaseDurationSeconds: new(int32(c.options.Lease / time.Second)),
		AcquireTime: &c.acquired, RenewTime: new(metav1.NewMicroTime(sent)), LeaseTransitions: &transitions,
	}
	stored, err := c.store(ctx, wanted)
	if err != nil {
		return err
	}
	c.lease = stored
	c.options.Fence.renewed(sent)
	c.leading.Store(true)
	c.saw(c.identity)
	return nil
}

// store updates a lease that was read, and makes one that was not.
func (c *Candidate) store(ctx context.Context, wanted *coordinationv1.Lease) (stored *coordinationv1.Lease, err error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	request := c.at(c.leases.Post())
	if wanted.ResourceVersion != "" {
		request = c.at(c.leases.Put()).Name(wanted.Name)
	}
	stored = &coordinationv1.Lease{}
	return stored, request.Body(wanted).Do(ctx).Into(stored) //nolint:wrapcheck // The callers look at it, and say what was done.
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
		lease, err := c.read(ctx)
		if err != nil {
			return err
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != c.identity {
			c.saw(holder)
			return nil
		}
		// Other clients of the library expect it so: a second is the least that is valid.
		lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = new(""), new(int32(1)), new(metav1.NewMicroTime(c.clock.Now()))
		if _, err = c.store(ctx, lease); err == nil {
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

// brief bounds one request, so that one that hangs leaves time for others.
func (c *Candidate) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.options.Fence.deadline/attempts)
}

// see takes note of what was read just now.
func (c *Candidate) see(spec *coordinationv1.LeaseSpec) {
	if c.spec == nil || !apiequality.Semantic.DeepEqual(c.spec, spec) {
		c.spec, c.seen = spec, c.clock.Now()
		c.saw(ptr.Deref(spec.HolderIdentity, ""))
	}
}

// remaining is until when somebody else holds the lease that was seen, unless it is renewed.
func (c *Candidate) remaining() time.Duration {
	if c.spec == nil {
		return 0
	}
	if holder := ptr.Deref(c.spec.HolderIdentity, ""); holder == "" || holder == c.identity {
		return 0
	}
	// The monotonic clock alone: one that somebody sets must not end a lease.
	return time.Duration(ptr.Deref(c.spec.LeaseDurationSeconds, 0))*time.Second - c.clock.Since(c.seen)
}

// follow watches the lease until it is free. It returns nil before that when it is to be called again.
func (c *Candidate) follow(ctx context.Context) error {
	events, err := c.at(c.leases.Get()).Param("watch", "true").Param("fieldSelector", "metadata.name="+c.options.Name).Watch(ctx)
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
				c.see(&lease.Spec)
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
