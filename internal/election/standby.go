package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	typedcoordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// sighting is what the Lease said last, and the moment at which it was first seen
// to say so. The clocks of other processes do not matter.
type sighting struct {
	record *resourcelock.LeaderElectionRecord // nil before the first
	at     time.Time
	said   string        // the last trouble, which is not logged twice in a row
	pause  time.Duration // after the last failure; 0 after none
}

// soonest is the part of the retry period for which a candidate pauses after a
// first failure: the lease may be free already.
const soonest = 16

// see takes note of what was read just now.
func (c *Candidate) see(record *resourcelock.LeaderElectionRecord) {
	if c.sight.record != nil && apiequality.Semantic.DeepEqual(c.sight.record, record) {
		return
	}
	c.sight.record, c.sight.at = record, c.clock.Now()
	c.saw(record.HolderIdentity)
}

// remaining is until when the lease that was seen holds, unless it is renewed.
func (c *Candidate) remaining() time.Duration {
	record := c.sight.record
	if record == nil || record.HolderIdentity == "" || record.HolderIdentity == c.identity {
		return 0
	}
	// The monotonic clock alone: one that somebody sets must not end a lease.
	return time.Duration(record.LeaseDurationSeconds)*time.Second - c.clock.Since(c.sight.at)
}

// mayTake reports whether nobody else holds the lease that was seen.
func (c *Candidate) mayTake() bool { return c.remaining() <= 0 }

// await returns true once the lease may be taken, false if ctx ends before that.
//
// The library alone would look every 1 to 2.2 retry periods: it would see a
// renewal, and then the end of the lease, late by up to that each. To keep within
// 2 s of the lease duration, the retry period would have to be 0.4 s, and each
// leader would write five times as often as is usual. A watch shows renewals within
// milliseconds, and the end is known from then on, so the period does not matter.
func (c *Candidate) await(ctx context.Context) bool {
	for ctx.Err() == nil {
		free, err := c.follow(ctx)
		if free {
			return true
		}
		c.missed(ctx, err)
	}
	return false
}

// missed pauses after a failure, for longer each time, up to the retry period. It
// does not pause beyond the end of the lease that was seen.
func (c *Candidate) missed(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	if c.sight.said != err.Error() {
		c.sight.said = err.Error()
		c.log.Warn("could not look after the lease", "err", err)
	}
	c.sight.pause = min(max(2*c.sight.pause, c.options.Retry/soonest), c.options.Retry/2)
	pause := wait.Jitter(c.sight.pause, 1)
	if left := c.remaining(); left > 0 {
		pause = min(pause, left)
	}
	timer := c.clock.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// errBriefWatch keeps a candidate from asking without a pause.
var errBriefWatch = errors.New("the watch of the lease ended as soon as it had begun")

// follow looks at the lease, and watches it as long as somebody else has it. It
// returns false without an error when it is to be called again.
func (c *Candidate) follow(ctx context.Context) (free bool, err error) {
	version, err := c.read(ctx)
	if err != nil {
		return false, err
	}
	if c.mayTake() {
		return true, nil
	}
	events, err := c.lease().Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, c.options.Name).String(),
		ResourceVersion: version,
	})
	if err != nil {
		return false, fmt.Errorf("watching the lease: %w", err)
	}
	defer events.Stop()
	began := c.clock.Now()
	for !c.mayTake() {
		more, err := c.next(ctx, events)
		if !more && err == nil && c.clock.Since(began) < c.options.Retry {
			err = errBriefWatch
		}
		if !more {
			return false, err
		}
		c.sight.said, c.sight.pause = "", 0
	}
	return true, nil
}

// read looks at the lease. One that is gone holds for as long as it was seen to:
// its holder may not know of it yet, and will make it again.
func (c *Candidate) read(ctx context.Context) (version string, err error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	lease, err := c.lease().Get(ctx, c.options.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the lease: %w", err)
	}
	c.see(resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec))
	return lease.ResourceVersion, nil
}

// next waits for an event, or for the lease to expire.
func (c *Candidate) next(ctx context.Context, events watch.Interface) (more bool, err error) {
	timer := c.clock.NewTimer(c.remaining())
	defer timer.Stop()
	select {
	case event, open := <-events.ResultChan():
		if !open {
			return false, nil
		}
		if event.Type == watch.Error {
			return false, fmt.Errorf("watching the lease: %w", apierrors.FromObject(event.Object))
		}
		if lease, ok := event.Object.(*coordinationv1.Lease); ok && event.Type != watch.Deleted {
			c.see(resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec))
		}
		return true, nil
	case <-timer.C():
		return true, nil
	case <-ctx.Done():
		return false, nil
	}
}

func (c *Candidate) lease() typedcoordinationv1.LeaseInterface {
	return c.leases.Leases(c.options.Namespace)
}
