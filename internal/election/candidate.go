package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	typedcoordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// ErrLost is why a leader ends that did not want to: it could not renew the
// lease in time, or somebody else has it. The process should end then, since what
// it knows may be out of date, and be started again.
var ErrLost = errors.New("the lease is lost")

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
	// OnNewLeader, which may be nil, is called with each holder of the lease when it
	// is first seen, our own identity included, and with "" when the lease is found
	// released. It must not wait.
	OnNewLeader func(holder string)
}

// Candidate takes part in an election. A nil one is its own leader.
type Candidate struct {
	options  Options
	identity string
	leases   typedcoordinationv1.LeasesGetter
	clock    clock.Clock
	log      *slog.Logger
	sight    sighting // used by Run alone

	mu      sync.Mutex
	holder  string // guarded by mu
	leading bool   // guarded by mu
}

// New returns a candidate that takes part once it runs. Its requests have
// connections of their own, so that they are never queued behind others, and
// no limit on their rate.
func New(config *rest.Config, o Options) (*Candidate, error) {
	if o.Fence == nil {
		return nil, errors.New("preparing the election: there is no fence, which says how long a leader may write")
	}
	client, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	c := &Candidate{
		options: o, identity: cmp.Or(host, "unknown") + "_" + uuid.NewString(),
		leases: client, clock: clock.RealClock{},
		log: o.Log.With("lease", o.Namespace+"/"+o.Name),
	}
	// What the library does not accept is better said now than once the lease is free.
	if _, err := c.elector(c.newLock(nil), func(context.Context) {}); err != nil {
		return nil, fmt.Errorf("preparing the election: %w", err)
	}
	return c, nil
}

// newClient returns a client that asks for nothing yet. It keeps to HTTP/1.1:
// there a request that runs into its timeout closes its connection, so the next
// one is not stuck on the same; and each that is under way has its own.
func newClient(config *rest.Config) (*typedcoordinationv1.CoordinationV1Client, error) {
	own := rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	own.Dial = dialerOf(config)
	own.NextProtos = []string{"http/1.1"}
	own.QPS, own.Burst, own.RateLimiter = -1, -1, nil
	own.Timeout = 0 // It would bound watches too.
	return typedcoordinationv1.NewForConfig(own)
}

// Identity is how the Lease names this candidate: the host, and what tells
// processes of one host apart.
func (c *Candidate) Identity() string { return c.identity }

// Holder is who had the lease when it was last seen; "" for nobody.
func (c *Candidate) Holder() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holder
}

// IsLeader reports whether this candidate leads.
func (c *Candidate) IsLeader() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leading
}

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
	for c.await(ctx) {
		if led, err := c.term(ctx, lead); led || err != nil {
			return err
		}
	}
	return nil
}

// term tries to get the lease, once, and if it does, leads until the end.
func (c *Candidate) term(ctx context.Context, lead func(context.Context) error) (led bool, err error) {
	held, letGo := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.Discard()))
	defer letGo()
	lock := c.newLock(letGo)
	ended := make(chan struct{})
	var result error
	elector, err := c.elector(lock, func(term context.Context) {
		defer letGo()
		defer close(ended)
		result = c.lead(ctx, term, lead)
	})
	if err != nil {
		return false, fmt.Errorf("preparing the election: %w", err)
	}
	elector.Run(held)
	if !lock.leading {
		c.missed(ctx, lock.failure)
		return false, nil
	}
	<-ended
	c.options.Fence.close()
	c.setLeading(false)
	if !errors.Is(result, ErrLost) {
		c.release(ctx)
	}
	return true, result
}

// lead returns what it was asked to do returned, or [ErrLost] if term ended before
// that.
func (c *Candidate) lead(ctx, term context.Context, lead func(context.Context) error) error {
	if ctx.Err() != nil {
		return nil // We were asked to stop while the lease was on its way.
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	kept := context.AfterFunc(term, func() {
		c.options.Fence.close()
		c.setLeading(false)
		cancel(ErrLost)
		c.log.Error("lost the lease", "taken", c.Holder() != c.identity, "holder", c.Holder())
	})
	c.log.Info("leading", "identity", c.identity)
	err := lead(ctx)
	if !kept() {
		return ErrLost
	}
	return err
}

func (c *Candidate) elector(lock resourcelock.Interface, lead func(context.Context)) (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: c.options.Lease,
		RenewDeadline: c.options.Fence.deadline,
		RetryPeriod:   c.options.Retry,
		Name:          c.options.Name,
		Callbacks:     leaderelection.LeaderCallbacks{OnStartedLeading: lead, OnStoppedLeading: func() {}},
	})
}

func (c *Candidate) setLeading(leading bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leading = leading
}

// saw notes who has the lease.
func (c *Candidate) saw(holder string) {
	c.mu.Lock()
	same := c.holder == holder
	c.holder = holder
	c.mu.Unlock()
	if same {
		return
	}
	if holder != "" && holder != c.identity && !c.IsLeader() {
		c.log.Info("waiting for the lease", "holder", holder)
	}
	if c.options.OnNewLeader != nil {
		c.options.OnNewLeader(holder)
	}
}
