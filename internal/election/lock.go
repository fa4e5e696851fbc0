package election

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// attempts is how many requests one after the other fit into the renew deadline.
// The library takes two for a renewal whose answer was lost.
const attempts = 3

// lock is the Lease as the library sees it in one term. The library calls its
// methods one after the other.
//
// Before it has been acquired, one attempt is all there is: whatever fails calls
// letGo, which ends the library's loop, since that would sleep over the moment at
// which the lease is free. Afterwards each renewal opens the fence.
type lock struct {
	resourcelock.Interface
	candidate *Candidate
	letGo     func()
	leading   bool
	failure   error // why the attempt failed, nil where somebody else has the lease
}

func (c *Candidate) newLock(letGo func()) *lock {
	return &lock{candidate: c, letGo: letGo, Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: c.options.Namespace, Name: c.options.Name},
		Client:     c.leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: c.identity},
	}}
}

// Get implements [resourcelock.Interface]. A candidate is shown a lease that it
// has seen expire as one that nobody holds: the library, which begins anew with
// each term, would wait for all of it again.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := l.candidate.brief(ctx)
	defer cancel()
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil, err // It will be created.
	case err != nil:
		return nil, nil, l.failed("reading", err)
	case l.leading:
		if record.HolderIdentity != l.Identity() {
			l.candidate.options.Fence.close()
			l.candidate.saw(record.HolderIdentity)
			l.letGo()
			return nil, nil, ErrLost
		}
		return record, raw, nil
	}
	l.candidate.see(record)
	if !l.candidate.mayTake() {
		l.letGo()
		return record, raw, nil
	}
	free := *record
	free.HolderIdentity = ""
	return &free, raw, nil
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
	ctx, cancel := l.candidate.brief(ctx)
	defer cancel()
	sent := l.candidate.clock.Now()
	if err := send(ctx, record); err != nil {
		return l.failed(what, err)
	}
	l.candidate.options.Fence.renewed(sent)
	l.candidate.setLeading(true)
	l.candidate.saw(l.Identity())
	l.leading = true
	return nil
}

// failed ends an attempt to get the lease. A renewal that failed is tried again
// by the library, in another way.
func (l *lock) failed(what string, err error) error {
	if l.leading {
		l.candidate.log.Warn("could not renew the lease", "doing", what, "err", err)
		return err
	}
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		l.failure = err
	}
	l.letGo()
	return err
}

// brief bounds one request, so that one that hangs leaves time for others.
func (c *Candidate) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.options.Fence.deadline/attempts)
}

// release lets the next leader start at once. Only our own holding is released:
// somebody may have taken the lease meanwhile.
func (c *Candidate) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.options.Fence.deadline)
	defer cancel()
	for {
		// The answer to the last renewal may not have been awaited, hence the conflicts.
		err := c.tryRelease(ctx)
		switch {
		case err == nil:
			return
		case !apierrors.IsConflict(err):
			c.log.Warn("could not release the lease, the next leader waits for it to expire", "err", err)
			return
		}
	}
}

func (c *Candidate) tryRelease(ctx context.Context) error {
	lease, err := c.lease().Get(ctx, c.options.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
	if record.HolderIdentity != c.identity {
		c.saw(record.HolderIdentity)
		return nil
	}
	// Other clients of the library expect it so: a second is the least that is valid.
	record.HolderIdentity, record.LeaseDurationSeconds = "", 1
	record.RenewTime = metav1.Time{Time: c.clock.Now()}
	lease.Spec = resourcelock.LeaderElectionRecordToLeaseSpec(record)
	if _, err := c.lease().Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return err
	}
	c.saw("")
	c.log.Info("released the lease")
	return nil
}
