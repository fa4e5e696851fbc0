package operator

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

const hold = "dyncontroller.dev/cleanup"

// TestDischarge holds which sets that are being deleted are let go.
func TestDischarge(t *testing.T) {
	going := func(k *kit) {
		k.put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop", "deletionTimestamp": "2000-01-01T00:00:00Z"}})
	}
	staying := func(k *kit) {
		k.put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}})
	}
	cases := map[string]struct {
		reason  string
		arrange func(*kit)
		by      []string // who has left something
		gone    bool
		log     string
	}{
		"nothing left": {reason: "There is nothing to wait for.", gone: true},
		"cleaned up": {
			reason: "Its account cleans up.", arrange: func(k *kit) { k.account("shop", "ann") }, by: []string{"ann"}, gone: true,
		},
		"two accounts": {
			reason: "Each cleans up what it has left.", by: []string{"ann", "bob"}, gone: true,
			arrange: func(k *kit) {
				k.account("shop", "ann")
				k.account("shop", "bob")
			},
		},
		"no account": {reason: "Somebody may make it again.", arrange: staying, by: []string{"ann"}},
		"the namespace goes": {
			reason: "Nobody ever will.", arrange: going, by: []string{"ann"}, gone: true, log: "a set is given up with its namespace",
		},
		"the namespace goes, the account is there": {
			reason: "It can clean up still.", by: []string{"ann"}, gone: true,
			arrange: func(k *kit) {
				going(k)
				k.account("shop", "ann")
			},
		},
		"one of two accounts": {
			reason: "Who is there cleans up what it may, whoever left it.", by: []string{"ann", "bob"}, gone: true,
			arrange: func(k *kit) {
				staying(k)
				k.account("shop", "ann")
			},
		},
		"no namespace": {reason: "It cannot be told that it is going.", by: []string{"ann"}},
		"unreadable": {
			reason: "It is not given up for that.", by: []string{"ann"}, log: "cannot let go of a set",
			arrange: func(k *kit) { k.set(func(w *world) { w.fails["GET namespaces"] = http.StatusForbidden }) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				if tc.arrange != nil {
					tc.arrange(k)
				}
				set := leaving(asObject(t, paints("old", "carl", "x")), tc.by...)
				k.store(set, hold)
				defer k.start()()
				for range 3 { // What is watched comes again.
					if k.field("rulesets", "shop", "old") == nil {
						k.setObjects()
					} else {
						k.setObjects(set)
					}
					k.pass(10 * time.Second)
				}
				if gone := k.field("rulesets", "shop", "old") == nil; gone != tc.gone {
					t.Errorf("%s\ngone: got %v\n%s", tc.reason, gone, k.log)
				}
				if !k.log.says(tc.log) {
					t.Errorf("%s\nthe log does not say %q:\n%s", tc.reason, tc.log, k.log)
				}
			})
		})
	}
}

// TestDischargeAgain holds that an error is not the end of it.
func TestDischargeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		set := leaving(asObject(t, paints("old", "carl", "x")))
		k.store(set, hold)
		k.set(func(w *world) { w.fails["PATCH rulesets"] = http.StatusInternalServerError })
		defer k.start()()
		k.setObjects(set)
		k.pass(moment)
		if !k.log.says("cannot let go of a set") {
			t.Errorf("it is not told:\n%s", k.log)
		}
		k.set(func(w *world) { delete(w.fails, "PATCH rulesets") })
		k.pass(dischargeSoonest)
		if k.field("rulesets", "shop", "old") != nil {
			t.Error("it is not tried again")
		}
	})
}

// TestHandOver holds that a set object is let go whose rules a file has by now, and that
// nothing is forgotten of what it has left.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		k.files(keeps("both", "bob", "now"))
		set := leaving(asObject(t, keeps("both", "ann", "before")), "ann")
		k.store(set, hold)
		stop := k.stand() // Nobody cleans up yet.
		k.setObjects(set)
		k.pass(moment)
		if diff := cmp.Diff([]string{"/", "shop/bob"}, k.names()); diff != "" {
			t.Errorf("the file has the set (-want +got):\n%s", diff)
		}
		if err := k.letGo(t.Context(), k.object(set)); err != nil {
			t.Fatal(err)
		}
		if k.field("rulesets", "shop", "both") != nil {
			t.Error("it is not let go")
		}
		if diff := cmp.Diff([]string{"both.keep-ann ann"}, k.leavings()); diff != "" {
			t.Errorf("what it has left (-want +got):\n%s", diff)
		}
		stop()
	})
}

// TestHandOverNothing holds that the process itself does not clean up by what the status of
// a set says: whoever may write that would have its rights.
func TestHandOverNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.files(keeps("both", "", "now"))
		set := leaving(asObject(t, keeps("both", "ann", "before")), "ann")
		k.store(set, hold)
		stop := k.stand()
		k.setObjects(set)
		k.pass(moment)
		if err := k.letGo(t.Context(), k.object(set)); err != nil {
			t.Fatal(err)
		}
		if k.field("rulesets", "shop", "both") != nil {
			t.Error("it is not let go")
		}
		if diff := cmp.Diff([]string{}, k.leavings()); diff != "" {
			t.Errorf("what is noted of files (-want +got):\n%s", diff)
		}
		stop()
	})
}

// TestHandOverIsCleanedUp holds that who runs the file does what is left to be done.
func TestHandOverIsCleanedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "bob")
		k.files(keeps("both", "bob", "now"))
		set := leaving(asObject(t, keeps("both", "ann", "before")), "ann")
		k.store(set, hold)
		defer k.start()()
		k.setObjects(set)
		k.pass(moment)
		k.setObjects()
		k.pass(20 * time.Second)
		if diff := cmp.Diff([]string{"both.now bob"}, k.leavings()); diff != "" || k.field("rulesets", "shop", "both") != nil {
			t.Errorf("-want +got:\n%s\n%s", diff, k.log)
		}
	})
}

// TestHandOverFails holds that the set is kept until it is noted what it has left.
func TestHandOverFails(t *testing.T) {
	for name, request := range map[string]string{"reading": "GET configmaps", "writing": "POST configmaps", "the set": "GET rulesets"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				k.files(keeps("both", "bob", "now"))
				set := leaving(asObject(t, keeps("both", "ann", "before")), "ann")
				k.store(set, hold)
				stop := k.stand()
				k.setObjects(set)
				k.set(func(w *world) { w.fails[request] = http.StatusForbidden })
				if err := k.letGo(t.Context(), k.object(set)); err == nil || k.field("rulesets", "shop", "both") == nil {
					t.Errorf("it is let go, error %v", err)
				}
				stop()
			})
		})
	}
}

// TestDeleting holds who is waited for.
func TestDeleting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		stop := k.stand()
		free := leaving(asObject(t, paints("free", "ann", "x")))
		free.Finalizer = false
		k.SetObjects(t.Context(), []source.Object{asObject(t, paints("stays", "ann", "x")), free, leaving(asObject(t, paints("held", "ann", "x")))}, said{})
		var got []string
		for _, set := range k.deleting() {
			got = append(got, set.Name)
		}
		if diff := cmp.Diff([]string{"held"}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		stop()
	})
}
