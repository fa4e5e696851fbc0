package informer

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// maxFirstLists is how many caches are filled at once, of all sets that ask one API server. A process may start with
// thousands, and each list costs memory here and in the API server until it is complete.
const maxFirstLists = 10

// maxFirstList is for how long one counts among them: lists that hang, or take very long, must not keep all others out.
const maxFirstList = 10 * time.Second

// firstList waits until a first list may begin. Who has asked calls end, once or more, when the list is complete or has
// failed. One that has taken too long does not wait any more: with each attempt it would keep out others that are answered.
func (r *running) firstList(ctx context.Context, first bool, options metav1.ListOptions) (end func(), err error) {
	if !first {
		return func() {}, nil
	}
	if options.Continue == "" {
		r.set.shrink(r, false) // What came of the last attempt is gone.
	}
	if r.slow.Load() {
		return func() {}, nil
	}
	select {
	case r.peers.lists <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to list %s: %w", r.key, ctx.Err())
	}
	free := sync.OnceFunc(func() { <-r.peers.lists })
	late := clock.RealClock{}.AfterFunc(maxFirstList, func() {
		r.slow.Store(true)
		free()
	})
	return func() {
		late.Stop()
		free()
	}, nil
}
