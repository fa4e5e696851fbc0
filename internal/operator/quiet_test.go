package operator

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// refresh shows the operator the set objects as the world has them.
func (k *kit) refresh(all []source.Object) {
	for i := range all {
		k.set(func(w *world) {
			u := &unstructured.Unstructured{Object: w.objects["rulesets/shop/"+all[i].Name]}
			all[i].ResourceVersion, all[i].Status = u.GetResourceVersion(), v1alpha1.StatusOf(u)
		})
	}
	k.setObjects(all...)
}

// TestQuietStatuses holds that no status is composed without a cause, however many sets and
// accounts there are, and that a cause has those composed that it is about.
func TestQuietStatuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		var composed atomic.Int64
		k.statuses = setstatus.NewWriter(k.client, func() []setstatus.Update {
			all := k.updates()
			for i, compose := range all {
				all[i].Compose = func(previous v1alpha1.Status) v1alpha1.Status {
					composed.Add(1)
					return compose.Compose(previous)
				}
			}
			return all
		}, k.options.Clock, k.options.Log)
		var all []source.Object
		painted := map[string]any{}
		for i := range 80 {
			painted[fmt.Sprintf("s%d", i)] = "red"
			account := fmt.Sprintf("bot-%d", i)
			k.account("shop", account)
			all = append(all, asObject(t, paints(fmt.Sprintf("s%d", i), account, "red")))
			k.store(all[i])
		}
		delete(painted, "s7")
		stop := k.start()
		defer stop()
		for range 3 {
			k.refresh(all)
			k.pass(30 * time.Second)
		}
		for _, tc := range []struct {
			reason string
			do     func()
			during time.Duration
			most   int64
		}{
			{"Nothing happens.", func() {}, 10 * time.Minute, 0},
			{"All is listed again.", func() { k.refresh(all) }, time.Minute, 0},
			{"A set matches an object, writes to it, and matches it no more.", func() { k.configMap("shop", "a", painted) }, time.Minute, 4},
			{"An account is deleted.", func() { k.remove("serviceaccounts", "shop", "bot-7") }, 2 * time.Minute, 2},
		} {
			before := composed.Load()
			tc.do()
			k.pass(tc.during)
			if now := composed.Load() - before; now > tc.most || tc.most > 0 && now == 0 {
				t.Errorf("%s %d statuses are composed in %s, at most %d are to be", tc.reason, now, tc.during, tc.most)
			}
			k.refresh(all)
			k.pass(time.Minute)
		}
	})
}
