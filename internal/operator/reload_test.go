package operator

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/access"
)

// paintsServices is the same set as [paints], which paints Services red instead.
func paintsServices(name, account string) string {
	return strings.ReplaceAll(paints(name, account, "red"), "configmaps", "services")
}

// held has the lists of Services wait until the returned function is called.
func (k *kit) held() (release func()) {
	waits := make(chan struct{})
	k.set(func(w *world) { w.hold["GET services"] = waits })
	return func() {
		close(waits)
		k.set(func(w *world) { delete(w.hold, "GET services") })
		k.pass(moment)
	}
}

// painted is the color of a ConfigMap that is new.
func (k *kit) painted(name, set string) any {
	k.configMap("shop", name, nil)
	k.pass(moment)
	return k.field("configmaps", "shop", name, "data", set)
}

// TestReload holds that a set object which watches something else goes on as it was until
// that is listed, says so, and keeps nobody else from changing.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		defer k.start()()
		ann, bob := asObject(t, paints("anns", "ann", "red")), asObject(t, paints("bobs", "bob", "red"))
		k.setObjects(ann, bob)
		k.pass(20 * time.Second)
		release := k.held()
		ann, bob = edited(t, ann, paintsServices("anns", "ann")), edited(t, bob, paints("bobs", "bob", "blue"))
		k.setObjects(ann, bob)
		if got := k.painted("a", "anns"); got != "red" {
			t.Errorf("the rules from before are not in effect: %v", got)
		}
		if got := k.field("configmaps", "shop", "a", "data", "bobs"); got != "blue" {
			t.Errorf("another one's rules are not: %v", got)
		}
		if got := k.status(ann); got != "Ready=False Syncing, Reconciling=True Syncing" {
			t.Errorf("while it waits, the set is %s", got)
		}
		if got := k.status(bob); got != "Ready=True Running" {
			t.Errorf("the other set is %s", got)
		}
		release()
		if got := k.painted("b", "anns"); got != nil {
			t.Errorf("the rules from before are still in effect: %v", got)
		}
		if got := k.status(ann); got != "Ready=True Running" {
			t.Errorf("the set is %s", got)
		}
		if got := k.watching(); got != "[configmaps/shop services/shop]" {
			t.Errorf("watched are %s", got)
		}
	})
}

// TestReloadIsBounded holds that a resource which does not answer delays what else the
// reload says for a few seconds only.
func TestReloadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.start()()
		k.files(paints("own", "", "red"))
		defer k.held()()
		k.files(paints("own", "", "blue"), paintsServices("more", ""))
		if got := k.painted("a", "own"); got != "red" {
			t.Errorf("at once it is %v", got)
		}
		k.pass(5 * time.Second)
		if got := k.painted("b", "own"); got != "blue" {
			t.Errorf("after a while it is %v", got)
		}
		if !k.log.says("rules take effect before all that they read is listed") {
			t.Errorf("it is not told:\n%s", k.log)
		}
	})
}

// TestReloadIsTakenBack holds that files whose rules cannot be put into effect take back
// what waits, too.
func TestReloadIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.start()()
		k.files(paints("own", "", "red"))
		release := k.held()
		waiting := load(t, paintsServices("own", ""))
		if err := k.SetFiles(waiting); err != nil {
			t.Fatal(err)
		}
		cluster := k.options.Cluster.Config
		broken := *cluster
		broken.Host = "http://[::1" // No client can be made of it.
		k.options.Cluster.Config = &broken
		if err := k.SetFiles(load(t, paints("own", "", "blue"), paints("other", "carl", "x"))); err == nil {
			t.Fatal("it cannot be")
		}
		k.options.Cluster.Config = cluster
		if got := k.painted("a", "own"); got != "red" {
			t.Errorf("it is %v", got)
		}
		release()
		if got := k.painted("b", "own"); got != nil {
			t.Errorf("what waited is in effect now, and it is %v", got)
		}
	})
}

// TestRightsWhileReloading holds that what an account may not read any more is dropped,
// though only rules read it that are about to go.
func TestRightsWhileReloading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		defer k.start()()
		ann := asObject(t, paints("anns", "ann", "red"))
		k.setObjects(ann)
		k.pass(20 * time.Second)
		defer k.held()()
		k.setObjects(edited(t, ann, paintsServices("anns", "ann")))
		k.pass(moment)
		k.tenant(shop("ann")).judge(access.Verdict{Known: true, Finding: access.Finding{Account: errors.New("it is gone")}})
		k.pass(time.Second)
		if got := k.watching(); got != "[]" {
			t.Errorf("there is no such account any more, and it watches %s", got)
		}
	})
}

// TestReloadKeepsCaches holds that nothing is listed anew by reloads that need nothing
// else, of files and of objects, nor by a set that moves from one to the other.
func TestReloadKeepsCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		defer k.start()()
		object := asObject(t, paints("anns", "ann", "red"))
		k.setObjects(object)
		k.files(paints("own", "", "red"), paints("second", "", "red"))
		k.pass(20 * time.Second)
		lists := func(user string) int { return count(k.by(user), "GET configmaps/shop") }
		before := []int{lists("shop/ann"), lists("")}
		if slices.Contains(before, 0) {
			t.Fatalf("somebody has listed nothing: %v", before)
		}
		for _, color := range []string{"blue", "green", "white"} {
			object = edited(t, object, paints("anns", "ann", color))
			k.setObjects(object)
			k.files(paints("own", "", color), paints("second", "", color))
			k.pass(moment)
		}
		k.files(paints("own", "", "white"), paints("anns", "ann", "white"))
		k.pass(moment)
		k.setObjects()
		k.pass(moment)
		if diff := cmp.Diff(before, []int{lists("shop/ann"), lists("")}); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
		if got := k.painted("a", "anns"); got != "white" {
			t.Errorf("it is %v", got)
		}
		if got := k.tenant(types.NamespacedName{}); got == nil || len(got.engine.Rules().IDs()) != 1 {
			t.Error("the process has other rules than its own")
		}
	})
}
