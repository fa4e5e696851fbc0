package operator

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOrphansOfALeader holds that who takes over looks after what came into the book
// while it stood by.
func TestOrphansOfALeader(t *testing.T) {
	for name, fails := range map[string]bool{"at once": false, "after an error": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.Prune, o.Settings.FromCluster = true, false })
				k.account("shop", "ann")
				k.account("shop", "bob")
				k.files(keeps("new", "bob", "a"))
				stop := k.stand()
				k.leave(left("old", "a", "ann")) // By who leads.
				k.pass(time.Minute)
				if diff := cmp.Diff([]string{"/", "shop/bob"}, k.names()); diff != "" {
					t.Errorf("who stands by need not know (-want +got):\n%s", diff)
				}
				if fails {
					k.set(func(w *world) { w.fails["GET configmaps"] = 500 })
				}
				ctx, cancel := context.WithCancel(t.Context())
				var lead sync.WaitGroup
				lead.Go(func() { k.Lead(ctx) })
				k.pass(moment)
				k.set(func(w *world) { delete(w.fails, "GET configmaps") })
				k.pass(6 * time.Minute)
				if diff := cmp.Diff([]string{"new.a bob"}, k.leavings()); diff != "" {
					t.Errorf("it is not cleaned up:\n%s\n%s", diff, k.log)
				}
				cancel()
				lead.Wait()
				stop()
			})
		})
	}
}
