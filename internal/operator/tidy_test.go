package operator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// TestTidyReads holds that who edits one set does not have the inventories of all others read.
func TestTidyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, func(o *Options) { o.Settings.Rules = nil })
		k.account("shop", "ann")
		var all []source.Object
		for i := range 50 {
			all = append(all, asObject(t, keeps(fmt.Sprintf("s%d", i), "ann", "one")))
			k.store(all[i])
		}
		k.setObjects(all...)
		stop := k.start()
		defer stop()
		for range 3 {
			k.pass(time.Minute)
			for i := range all {
				all[i].Finalizer = true
			}
			k.refresh(all)
			all[0] = edited(t, all[0], keeps("s0", "ann", "one"))
			k.store(all[0], v1alpha1.Finalizer)
			k.refresh(all)
		}
		k.pass(time.Minute)
		reads := func() (n int) {
			for _, line := range k.by("") {
				if strings.HasPrefix(line, "GET rulesets/") {
					n++
				}
			}
			return n
		}
		before := reads()
		all[1] = edited(t, all[1], keeps("s1", "ann", "two"))
		k.store(all[1], v1alpha1.Finalizer)
		k.refresh(all)
		k.pass(10 * time.Minute)
		now := reads() - before
		t.Logf("after one edit of 50 sets, sets are read %d times", now)
		if now == 0 || now > 6 {
			t.Error("they are read without a cause")
		}
		if inventory := fmt.Sprint(k.field("rulesets", "shop", "s1", "status", "inventory")); !strings.Contains(inventory, "two") {
			t.Errorf("the inventory of the edited set is %s", inventory)
		}
	})
}
