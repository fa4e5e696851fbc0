package operator

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

const hold = "dyncontroller.dev/cleanup"

// TestFinalizers holds which sets that are being deleted are let go.
func TestFinalizers(t *testing.T) {
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

// TestFinalizersAgain holds that an error is not the end of it.
func TestFinalizersAgain(t *testing.T) {
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
		k.pass(firstRetry)
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
		if err := k.leftovers.removeFinalizer(t.Context(), k.object(set)); err != nil {
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
		if err := k.leftovers.removeFinalizer(t.Context(), k.object(set)); err != nil {
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
				if err := k.leftovers.removeFinalizer(t.Context(), k.object(set)); err == nil || k.field("rulesets", "shop", "both") == nil {
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

// asked counts the reads so far that begin so.
func (k *kit) asked(request string) (count int) {
	k.set(func(w *world) {
		for _, line := range w.reads {
			if strings.HasPrefix(line, request) {
				count++
			}
		}
	})
	return count
}

// TestAttempts holds when it is tried again to remove the finalizer of a set, and what is told.
func TestAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		stop := k.stand()
		began := time.Now()
		var attempts map[source.Key]*attempt
		same := func(*source.Object) {}
		const refused, timeout = "GET rulesets", "PATCH rulesets"
		for _, step := range []struct {
			reason string
			at     time.Duration
			change func(*source.Object)
			fails  string
			due    bool
			told   bool
		}{
			{"What is new is tried.", 0, same, refused, true, true},
			{"Then it rests", 999 * time.Millisecond, same, refused, false, false},
			{"for a second, and the same is told once.", time.Second, same, refused, true, false},
			{"Then for two.", 2 * time.Second, same, refused, false, false},
			{"Another error is told.", 3 * time.Second, same, timeout, true, true},
			{"An object that has changed is tried at once, as new,", 4 * time.Second, func(s *source.Object) { s.ResourceVersion = "2" }, timeout, true, false},
			{"so that it rests for a second.", 5 * time.Second, func(s *source.Object) { s.ResourceVersion = "2" }, refused, true, true},
			{"A file that has the set changes what is to be done.", 5 * time.Second, func(s *source.Object) {
				s.ResourceVersion = "2"
				k.files(paints("old", "", "x"))
			}, timeout, true, true},
			{"Another object of the name is another.", 5 * time.Second, func(s *source.Object) {
				k.files()
				s.UID = "2"
			}, timeout, true, true},
		} {
			<-time.After(time.Until(began.Add(step.at)))
			set := leaving(asObject(t, paints("old", "carl", "x")))
			step.change(&set)
			k.store(set, hold)
			k.setObjects(set)
			k.set(func(w *world) { w.fails = map[string]int{step.fails: http.StatusForbidden} })
			asked, told := k.asked("GET rulesets/shop/old"), strings.Count(k.log.String(), "cannot let go of a set")
			attempts, _ = k.leftovers.removeDue(t.Context(), attempts)
			if due := k.asked("GET rulesets/shop/old") > asked; due != step.due {
				t.Errorf("%s\ntried: %v", step.reason, due)
			}
			if now := strings.Count(k.log.String(), "cannot let go of a set") > told; now != step.told {
				t.Errorf("%s\ntold: %v\n%s", step.reason, now, k.log)
			}
		}
		stop()
	})
}

// TestAttemptsEnd holds how long a set rests at most, and that what is gone is forgotten.
func TestAttemptsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		stop := k.stand()
		set, other := leaving(asObject(t, paints("old", "carl", "x"))), leaving(asObject(t, paints("other", "carl", "x")))
		k.set(func(w *world) { w.fails["GET rulesets"] = http.StatusForbidden })
		k.setObjects(set, other)
		attempts, _ := k.leftovers.removeDue(t.Context(), nil)
		if len(attempts) != 2 {
			t.Errorf("tried: %v", attempts)
		}
		k.setObjects(set)
		var rests []float64
		for range 11 {
			<-time.After(time.Until(attempts[set.Key].next))
			var next time.Time
			attempts, next = k.leftovers.removeDue(t.Context(), attempts)
			rests = append(rests, time.Until(next).Seconds())
		}
		want := []float64{2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300} // seconds, after one
		if diff := cmp.Diff(want, rests); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if len(attempts) != 1 || attempts[set.Key] == nil {
			t.Errorf("kept: %v", attempts)
		}
		stop()
	})
}

// TestFinalizersRest holds that a set that cannot be let go of costs little, however often
// somebody else has news, and is told of once.
func TestFinalizersRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		set := leaving(asObject(t, paints("old", "carl", "x")))
		k.store(set, hold)
		k.set(func(w *world) {
			set.ResourceVersion = strconv.Itoa(w.version) // Its status is written, and never refused.
			w.fails["GET rulesets"] = http.StatusForbidden
		})
		defer k.start()()
		k.setObjects(set)
		for range 300 {
			k.changed()
			k.pass(200 * time.Millisecond)
		}
		if asked := k.asked("GET rulesets/shop/old"); asked != 6 { // After 0, 1, 3, 7, 15 and 31 s.
			t.Errorf("it was asked for %d times in a minute", asked)
		}
		if told := strings.Count(k.log.String(), "cannot let go of a set"); told != 1 {
			t.Errorf("it is told %d times:\n%s", told, k.log)
		}
		set.ResourceVersion = "99"
		k.set(func(w *world) { delete(w.fails, "GET rulesets") })
		k.setObjects(set)
		k.pass(moment)
		if k.field("rulesets", "shop", "old") != nil {
			t.Error("it has changed, and is not tried at once")
		}
	})
}

// TestFinalizersWait holds that sets whose account is gone do not have their namespace
// asked for with each news, but are given up when it goes.
func TestFinalizersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}
		k.put("namespaces", namespace)
		set := leaving(asObject(t, paints("old", "carl", "x")), "ann")
		k.store(set, hold)
		defer k.start()()
		k.setObjects(set)
		for range 300 {
			k.changed()
			k.pass(200 * time.Millisecond)
		}
		if asked := k.asked("GET namespaces"); asked == 0 || asked > 7 {
			t.Errorf("it was asked for %d times in a minute", asked)
		}
		namespace["metadata"] = map[string]any{"name": "shop", "deletionTimestamp": "2000-01-01T00:00:00Z"}
		k.put("namespaces", namespace)
		k.pass(lastRetry)
		if k.field("rulesets", "shop", "old") != nil {
			t.Errorf("it is not given up:\n%s", k.log)
		}
	})
}

// TestFinalizersForget holds that a set that somebody looks after again is not made to
// wait for what was before.
func TestFinalizersForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		stop := k.stand()
		set := leaving(asObject(t, paints("old", "carl", "x")), "ann")
		k.setObjects(set)
		k.pass(moment)
		tries, _ := k.leftovers.removeDue(t.Context(), nil)
		if len(tries) != 1 {
			t.Error("nobody looks after it, and it is not tried")
		}
		k.account("shop", "ann")
		k.tenant(types.NamespacedName{Namespace: "shop", Name: "ann"}).access.Look()
		k.pass(20 * time.Second)
		if tries, next := k.leftovers.removeDue(t.Context(), tries); len(tries) != 0 || !next.IsZero() {
			t.Errorf("it is remembered: %v, to be tried at %s", tries, next)
		}
		stop()
	})
}
