package operator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// cautious is [paints] for a quarter of the objects in ten minutes.
func cautious(account string) string {
	return strings.Replace(paints("color", account, "red"), "    watch:", "    limits: {maxObjects: 25%}\n    watch:", 1)
}

// configMaps puts as many into the world, which has no Events.
func (k *kit) configMaps(n int) {
	k.set(func(w *world) { w.fails["GET events"] = http.StatusNotFound })
	for i := range n {
		k.configMap("shop", fmt.Sprint("c", i), map[string]any{})
	}
}

// newCautious is a world of as many objects, with a cautious set of an account in it, of which
// the operator is not told yet.
func newCautious(t *testing.T, n int) (*kit, source.Object) {
	t.Helper()
	k := newKit(t, nil)
	k.account("shop", "ann")
	k.configMaps(n)
	set := asObject(t, cautious("ann"))
	k.store(set)
	return k, set
}

// countRed counts those that the rule has made red.
func (k *kit) countRed(n int) (count int) {
	for i := range n {
		if k.field("configmaps", "shop", fmt.Sprint("c", i), "data", "color") == "red" {
			count++
		}
	}
	return count
}

// annotate puts the annotation on a set object in the world, or takes it off, and returns the set as the operator is to see it.
func (k *kit) annotate(set source.Object, names string) source.Object {
	k.set(func(w *world) {
		object := w.objects["rulesets/shop/"+set.Name]
		metadata, _ := object["metadata"].(map[string]any)
		metadata["annotations"] = map[string]any{spec.ResumeAnnotation: names, "theirs": "kept"}
		w.store("rulesets", object)
	})
	set.Annotations = map[string]string{spec.ResumeAnnotation: names}
	set.ResourceVersion, _ = k.field("rulesets", "shop", set.Name, "metadata", "resourceVersion").(string)
	return set
}

// TestPauseOfAnObject holds the whole way of a set object: the status, the Event, the
// annotation, and what becomes of that.
func TestPauseOfAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, set := newCautious(t, 4)
		k.setObjects(set)
		stop := k.start()
		k.pass(time.Minute)
		if n := k.countRed(4); n != 1 {
			t.Errorf("%d are painted, want 1", n)
		}
		if got := k.status(set); got != "Ready=False Paused, Stalled=True Paused" {
			t.Errorf("the status is %s", got)
		}
		paused, _ := k.field("rulesets", "shop", "color", "status", "paused").([]any)
		if len(paused) != 1 {
			t.Fatalf("stored: %v", paused)
		}
		if diff := cmp.Diff([]string{"POST events/shop"}, k.recorded()); diff != "" {
			t.Errorf("events by the process (-want +got):\n%s", diff)
		}
		asked := k.annotate(set, "other, paint")
		k.setObjects(asked)
		k.pass(time.Minute)
		if n := k.countRed(4); n != 2 {
			t.Errorf("%d are painted, want another one", n)
		}
		want := map[string]any{spec.ResumeAnnotation: "other", "theirs": "kept"}
		if diff := cmp.Diff(want, k.field("rulesets", "shop", "color", "metadata", "annotations")); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
		k.setObjects(set)
		k.pass(time.Minute)
		k.setObjects(asked) // A watch shows a version of before.
		k.pass(time.Minute)
		if n := k.countRed(4); n != 2 {
			t.Errorf("%d are painted: what is no longer asked counts", n)
		}
		k.setObjects(k.annotate(set, "paint"))
		k.pass(time.Minute)
		if n := k.countRed(4); n != 3 {
			t.Errorf("%d are painted, want another one: a user has asked for it since", n)
		}
		k.setObjects(k.annotate(set, "paint")) // The watch has not shown it without the annotation.
		k.pass(time.Minute)
		if n := k.countRed(4); n != 4 {
			t.Errorf("%d are painted, want another one: a user has asked for it again", n)
		}
		stop()
	})
}

// told are the bodies of the Events.
func (k *kit) told() (out string) {
	k.set(func(w *world) { out = strings.Join(w.events, "") })
	return out
}

// TestPauseThoughAsked holds what becomes of an annotation that is there when a rule pauses:
// it does not count, it is taken off, and what is told to be done next helps.
func TestPauseThoughAsked(t *testing.T) {
	tests := map[string]struct {
		reason string
		early  bool          // the annotation is there before the rule ever paused
		late   time.Duration // how late the operator sees it
		red    int           // painted by then
	}{
		"Early": {"Nobody can have looked yet.", true, 0, 1},
		"Late":  {"Nor if the operator hears of it only when the rule has paused.", true, time.Minute, 1},
		"Again": {"It has resumed, and paused again at once.", false, 0, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, set := newCautious(t, 4)
				stop := k.start()
				if !tc.early {
					k.setObjects(set)
					k.pass(time.Minute)
				}
				seen := k.annotate(set, "paint")
				if tc.late > 0 {
					k.setObjects(set)
					k.pass(tc.late)
				}
				k.setObjects(seen)
				k.pass(time.Minute)
				if n := k.countRed(4); n != tc.red {
					t.Errorf("%s %d are painted, want %d", tc.reason, n, tc.red)
				}
				want := map[string]any{"theirs": "kept"}
				if diff := cmp.Diff(want, k.field("rulesets", "shop", "color", "metadata", "annotations")); diff != "" {
					t.Errorf("%s annotations (-want +got):\n%s", tc.reason, diff)
				}
				told := fmt.Sprint(k.field("rulesets", "shop", "color", "status", "conditions")) + k.told()
				if !strings.Contains(told, " on RuleSet shop/color") || strings.Contains(told, "put it on again") {
					t.Errorf("%s it is told: %s", tc.reason, told)
				}
				k.setObjects(set)
				k.setObjects(k.annotate(set, "paint"))
				k.pass(time.Minute)
				if n := k.countRed(4); n != tc.red+1 {
					t.Errorf("%s %d are painted: what was told does not help", tc.reason, n)
				}
				stop()
			})
		})
	}
}

// recorded lists the requests for new Events.
func (k *kit) recorded() []string {
	return slices.DeleteFunc(k.sent(), func(line string) bool { return !strings.Contains(line, "POST events") })
}

// TestAnnotationIsTakenOffAtLast holds that it is tried again.
func TestAnnotationIsTakenOffAtLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, set := newCautious(t, 2)
		k.setObjects(set)
		stop := k.start()
		k.pass(time.Minute)
		k.set(func(w *world) { w.fails["GET rulesets"] = http.StatusInternalServerError })
		asked := k.annotate(set, "paint")
		k.setObjects(asked)
		k.pass(time.Minute)
		k.set(func(w *world) { delete(w.fails, "GET rulesets") })
		k.pass(10 * time.Minute)
		if got := k.field("rulesets", "shop", "color", "metadata", "annotations", spec.ResumeAnnotation); got != nil {
			t.Errorf("the annotation is %v", got)
		}
		if n := k.countRed(2); n != 2 {
			t.Errorf("%d are painted", n)
		}
		stop()
	})
}

// startNext starts the next process, which is told of a set.
func (k *kit) startNext(t *testing.T, set source.Object) (stop func()) {
	t.Helper()
	next, err := New(k.options)
	if err != nil {
		t.Fatal(err)
	}
	k.Operator = next
	k.setObjects(set)
	return k.start()
}

// TestPauseOutlivesTheProcess holds that the next one knows.
func TestPauseOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, set := newCautious(t, 3)
		k.setObjects(set)
		stop := k.start()
		k.pass(time.Minute)
		stop()
		stop = k.startNext(t, set)
		k.pass(time.Hour)
		if n := k.countRed(3); n != 1 {
			t.Errorf("%d are painted, want none more", n)
		}
		if got := k.status(set); got != "Ready=False Paused, Stalled=True Paused" {
			t.Errorf("the status is %s", got)
		}
		stop()
	})
}

// TestLimitMoves holds that a set writes for no more objects by going to another account, and back, before it is stored for which it has.
func TestLimitMoves(t *testing.T) {
	for name, tc := range map[string]struct {
		within time.Duration // between two moves
		to     []string
	}{"Away": {time.Minute, []string{"bob"}}, "AndBack": {time.Minute, []string{"bob", "ann"}}, "AtOnce": {0, []string{"bob", "ann", "bob", "ann", "bob"}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, set := newCautious(t, 4)
				k.account("shop", "bob")
				k.set(func(w *world) { w.fails["PATCH rulesets"] = http.StatusInternalServerError })
				k.setObjects(set)
				stop := k.start()
				k.pass(time.Minute)
				if n := k.countRed(4); n != 1 {
					t.Fatalf("%d are painted, want 1", n)
				}
				for _, account := range tc.to {
					set = edited(t, set, cautious(account))
					k.store(set)
					k.setObjects(set)
					k.pass(tc.within)
				}
				k.set(func(w *world) { delete(w.fails, "PATCH rulesets") })
				k.pass(10 * time.Minute)
				if n, status := k.countRed(4), k.status(set); n != 1 || status != "Ready=False Paused, Stalled=True Paused" {
					t.Errorf("%d are painted, want 1; the status is %s", n, status)
				}
				stop()
			})
		})
	}
}

// TestPauseInADryRun holds that a dry run knows of the pause of the process before, also when the set was edited, and hears that users end it.
func TestPauseInADryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, set := newCautious(t, 4)
		k.setObjects(set)
		stop := k.start()
		k.pass(time.Minute)
		stop()
		k.options.Settings.DryRun = config.DryRunClient
		stop = k.startNext(t, set)
		painted := func() int {
			k.pass(time.Minute)
			return strings.Count(k.log.String(), `msg="would write"`)
		}
		if n := painted(); n != 0 {
			t.Errorf("it would paint %d though the rule is paused", n)
		}
		set = edited(t, set, strings.Replace(cautious("ann"), "name: paint", "description: edited\n    name: paint", 1))
		k.set(func(w *world) {
			metadata, _ := w.objects["rulesets/shop/color"]["metadata"].(map[string]any)
			metadata["generation"] = set.Generation
		})
		k.setObjects(set)
		if n := painted(); n != 0 {
			t.Errorf("it would paint %d though the rule is paused still", n)
		}
		k.setObjects(k.annotate(set, "paint"))
		if n := painted(); n != 3 {
			t.Errorf("it would paint %d, want the rest", n)
		}
		stop()
	})
}

// TestPauseOfAFile holds that it is stored with the instance, and shown by nobody's Event.
func TestPauseOfAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.configMaps(3)
		k.files(cautious(""))
		stop := k.start()
		k.pass(time.Minute)
		if n := k.countRed(3); n != 1 {
			t.Errorf("%d are painted, want 1", n)
		}
		stored := fmt.Sprint(k.field("configmaps", "system", "dyncontroller-inventory-default", "data"))
		if !strings.Contains(stored, `"paused":[{`) || len(k.recorded()) > 0 {
			t.Errorf("stored %s, events %v", stored, k.recorded())
		}
		k.files(strings.Replace(cautious(""), "namespace: shop}",
			"namespace: shop, annotations: {dyncontroller.dev/resume: paint}}", 1))
		k.pass(time.Minute)
		if n := k.countRed(3); n != 2 {
			t.Errorf("%d are painted, want another one", n)
		}
		stop()
	})
}

// TestEventThatCannotBeRecorded holds that it is tried again, ever more slowly, and told
// once; and that what is forbidden is left at that: the status tells it, too.
func TestEventThatCannotBeRecorded(t *testing.T) {
	for name, tc := range map[string]struct {
		status, least, most int
	}{"broken": {http.StatusInternalServerError, 5, 20}, "forbidden": {http.StatusForbidden, 1, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, set := newCautious(t, 3)
				k.set(func(w *world) { w.fails["POST events"] = tc.status })
				k.setObjects(set)
				stop := k.start()
				k.pass(15 * time.Minute)
				if n := len(k.recorded()); n < tc.least || n > tc.most {
					t.Errorf("tried %d times, want %d to %d", n, tc.least, tc.most)
				}
				if n := strings.Count(k.log.String(), "was not told of a pause"); n != 1 {
					t.Errorf("told %d times", n)
				}
				stop()
			})
		})
	}
}

// TestPauseOfNoSet holds that nothing is remembered of a pause whose set is gone.
func TestPauseOfNoSet(t *testing.T) {
	k := newKit(t, nil)
	k.notifier.open()
	defer k.notifier.queue.ShutDown()
	one := limit.Pause{Rule: plan.Rule{Kind: "RuleSet", Namespace: "a", Set: "gone", Name: "r"}}
	for range 9 { // It has failed before.
		k.notifier.queue.AddRateLimited(one)
	}
	k.notifier.queue.Add(one)
	next, _ := k.notifier.queue.Get()
	k.notifier.tell(t.Context(), next) // The set is gone.
	if n := k.notifier.queue.NumRequeues(one); n != 0 {
		t.Errorf("%d failures are remembered of a pause that nobody is told of any more: the next one of that rule waits minutes, unlogged", n)
	}
}
