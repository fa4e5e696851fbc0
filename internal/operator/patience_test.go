package operator

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

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

// TestPatience holds when it is tried again to let go of a set, and what is told.
func TestPatience(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	refused := errors.New("refused")
	state := func(change func(*object)) *object {
		set := &object{Object: source.Object{Key: source.Key{Kind: "RuleSet", Namespace: "shop", Name: "a"}, UID: "1", ResourceVersion: "1"}}
		change(set)
		return set
	}
	same := func(*object) {}
	p := patience{}
	for _, step := range []struct {
		reason string
		at     time.Duration
		change func(*object)
		err    error
		due    bool
		told   bool
	}{
		{"What is new is tried.", 0, same, refused, true, true},
		{"Then it rests", 999 * time.Millisecond, same, refused, false, false},
		{"for a second, and the same is told once.", time.Second, same, refused, true, false},
		{"Then for two.", 2 * time.Second, same, refused, false, false},
		{"Another error is told.", 3 * time.Second, same, errors.New("timeout"), true, true},
		{"An object that has changed is tried at once, as new,", 4 * time.Second, func(s *object) { s.ResourceVersion = "2" }, errors.New("timeout"), true, false},
		{"so that it rests for a second.", 5 * time.Second, func(s *object) { s.ResourceVersion = "2" }, nil, true, false},
		{"A file that has the set changes what is to be done.", 5 * time.Second, func(s *object) { s.ResourceVersion, s.taken = "2", true }, refused, true, true},
		{"Another object of the name is another.", 5 * time.Second, func(s *object) { s.UID = "2" }, refused, true, true},
	} {
		set, now := state(step.change), start.Add(step.at)
		tried := p.of(set)
		due, told := tried.due(now), false
		if due {
			told = tried.take(now, step.err)
		}
		if due != step.due || told != step.told {
			t.Errorf("%s\ndue %v, told %v", step.reason, due, told)
		}
	}
}

// TestPatienceEnds holds how long a set rests at most, and that what is gone is forgotten.
func TestPatienceEnds(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := patience{}
	set, other := &object{Object: source.Object{Key: source.Key{Name: "a"}}}, &object{Object: source.Object{Key: source.Key{Name: "b"}}}
	p.of(other)
	var rests []float64
	for range 12 {
		tried := p.of(set)
		tried.take(now, nil)
		rests = append(rests, tried.next.Sub(now).Seconds())
		now = tried.next
	}
	want := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300} // seconds
	if diff := cmp.Diff(want, rests); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if p.keep([]*object{set}); len(p) != 1 || p[set.Key] == nil {
		t.Errorf("kept: %v", p)
	}
}

// TestDischargeRests holds that a set that cannot be let go of costs little, however often
// somebody else has news, and is told of once.
func TestDischargeRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		set := leaving(asObject(t, paints("old", "carl", "x")))
		k.store(set, hold)
		k.set(func(w *world) { w.fails["GET rulesets"] = http.StatusForbidden })
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
		set.ResourceVersion = "2"
		k.set(func(w *world) { delete(w.fails, "GET rulesets") })
		k.setObjects(set)
		k.pass(moment)
		if k.field("rulesets", "shop", "old") != nil {
			t.Error("it has changed, and is not tried at once")
		}
	})
}

// TestDischargeWaits holds that sets whose account is gone do not have their namespace
// asked for with each news, but are given up when it goes.
func TestDischargeWaits(t *testing.T) {
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
		k.pass(dischargeLatest)
		if k.field("rulesets", "shop", "old") != nil {
			t.Errorf("it is not given up:\n%s", k.log)
		}
	})
}

// TestDischargeForgets holds that a set that somebody looks after again is not made to
// wait for what was before.
func TestDischargeForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		stop := k.stand()
		set := leaving(asObject(t, paints("old", "carl", "x")), "ann")
		k.setObjects(set)
		k.pass(moment)
		tries := patience{}
		k.letAllGo(t.Context(), tries)
		if len(tries) != 1 {
			t.Error("nobody looks after it, and it is not tried")
		}
		k.account("shop", "ann")
		k.tenant(types.NamespacedName{Namespace: "shop", Name: "ann"}).access.Look()
		k.pass(20 * time.Second)
		if next := k.letAllGo(t.Context(), tries); len(tries) != 0 || !next.IsZero() {
			t.Errorf("it is remembered: %v, to be tried at %s", tries, next)
		}
		stop()
	})
}
