package election

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// A claim is renewed three times before it ends.
const (
	claimLease    = 9 * time.Second
	claimDeadline = 7 * time.Second
	claimRetry    = 3 * time.Second
)

// ClaimedError says that another process has a claim, and renews it.
type ClaimedError struct {
	Holder string // the host and the number of the process
	Since  time.Time
}

// Error implements error.
func (e *ClaimedError) Error() string {
	return fmt.Sprintf("another process has it since %s: %s", e.Since.UTC().Format(time.RFC3339), e.Holder)
}

// Claim holds the Lease of a name until it is released, so that a process can tell that another one does the same. It stops nobody who
// does not claim. A process that has ended without a release has the claim for 9 s more; a [ClaimedError] says of one that it lives.
// Any other error says that it cannot be known.
func Claim(ctx context.Context, config *rest.Config, namespace, name string, log *slog.Logger) (release func(), err error) {
	c, err := New(config, Options{
		Namespace: namespace, Name: name, Lease: claimLease, Retry: claimRetry, Fence: NewFence(claimDeadline), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	c.identity = fmt.Sprintf("process %d on %s (%s)", os.Getpid(), cmp.Or(host, "an unknown host"), c.identity[len(c.identity)-8:])
	for !c.leading.Load() {
		found, err := c.read(ctx)
		gone := apierrors.IsNotFound(err)
		if err != nil && !gone {
			return nil, fmt.Errorf("reading the lease: %w", err)
		}
		before, transitions := c.spec, int32(0)
		if !gone {
			c.see(&found.Spec)
			transitions = ptr.Deref(found.Spec.LeaseTransitions, 0) + 1
		}
		switch {
		case c.remaining() <= 0:
			c.lease, c.acquired = found, metav1.NewMicroTime(c.clock.Now())
			// Asked to stop meanwhile, the caller must know whether there is something to release.
			if err := c.write(context.WithoutCancel(ctx), transitions); err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				return nil, fmt.Errorf("writing the lease: %w", err)
			}
			continue
		case before == nil:
			log.Info("looking whether another process that runs the same rules is alive", "holder", c.Holder())
		case before != c.spec:
			return nil, &ClaimedError{c.Holder(), ptr.Deref(found.Spec.AcquireTime, metav1.MicroTime{}).Time}
		}
		select {
		case <-c.clock.After(claimRetry / 2):
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // Nobody waits for it.
		}
	}
	holding, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !c.renew(holding) { // The API server may be away for long.
			switch c.Holder() {
			case c.identity:
			case "": // Somebody has cleared it. This process still is alive.
				c.lease, _ = c.read(holding)
			default:
				log.Error("another process runs the same rules too", "holder", c.Holder())
				return
			}
		}
	}()
	return func() {
		stop()
		<-ended
		c.release(ctx)
	}, nil
}
