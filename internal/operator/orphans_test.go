package operator

import (
	"context"
	"slices"
	"strings"
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

// TestLeftAccounts holds for how long somebody looks after what sets in files have left as
// an account that none of them has any more.
func TestLeftAccounts(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		files  []string // at first
		prune  bool
		want   []string // who is there in the end, besides bob and the process itself
	}{
		"LeftNothing": {reason: "Its rules leave nothing.", files: []string{paints("anns", "ann", "red")}},
		"CleanedUp":   {reason: "What it left is cleaned up.", files: []string{keeps("anns", "ann", "keep")}, prune: true},
		"TakenOver":   {reason: "Another account has the set now.", files: []string{keeps("bobs", "ann", "keep")}},
		"Left":        {reason: "What it left is there still.", files: []string{keeps("anns", "ann", "keep")}, want: []string{"shop/ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.FromCluster, o.Settings.Prune = false, tc.prune })
				k.account("shop", "ann")
				k.account("shop", "bob")
				if len(tc.want) > 0 {
					rule := left("anns", "keep", "ann").Rule
					k.put("configmaps", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
						"namespace": "shop", "name": "kept", "uid": "u", "managedFields": []any{map[string]any{
							"manager": rule.FieldManager(), "operation": "Apply", "fieldsType": "FieldsV1",
							"fieldsV1": map[string]any{"f:data": map[string]any{"f:a": map[string]any{}}},
						}},
					}})
				}
				defer k.start()()
				k.files(tc.files...)
				k.pass(20 * time.Second)
				k.files(keeps("bobs", "bob", "keep"))
				k.pass(time.Minute)
				want := slices.Sorted(slices.Values(append([]string{"/", "shop/bob"}, tc.want...)))
				if diff := cmp.Diff(want, k.names()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestLooksOnce holds that what sets that are gone have left on a resource is looked for by one list, however much that is, and
// not before it is known what their account may do.
func TestLooksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, func(o *Options) { o.Settings.FromCluster = false })
		k.account("shop", "ann")
		k.leave(left("old", "a", "ann"), left("old", "b", "ann"), left("older", "a", "ann"))
		k.files(keeps("new", "", "a"))
		hold := make(chan struct{})
		k.set(func(w *world) { w.hold["GET serviceaccounts"] = hold })
		defer k.start()()
		k.pass(3 * time.Second)
		close(hold)
		k.pass(time.Minute)
		lists := slices.DeleteFunc(k.by("shop/ann"), func(line string) bool { return !strings.Contains(line, " GET configmaps/shop") })
		if len(lists) != 1 || k.log.says("sets are gone") {
			t.Errorf("it is looked for by %q:\n%s", lists, k.log)
		}
	})
}
