package engine

import (
	"testing"
	"testing/synctest"

	"k8s.io/client-go/util/workqueue"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestBarrierPassesInOrder holds that everything that was queued before the barrier's
// key is in hand, or done, when that comes out of the queue.
func TestBarrierPassesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTyped[Key]()
		b := newBarrier()
		release := make(chan struct{})
		for range 4 {
			go func() {
				for {
					key, done, shutdown := b.take(queue.Get)
					if shutdown {
						return
					}
					if isBarrier(key) {
						b.pass(key)
					} else {
						<-release
					}
					queue.Done(key)
					done()
				}
			}()
		}
		for _, name := range []string{"a", "b", "c"} {
			queue.Add(objectNamed(name))
		}
		key, passed := b.arm()
		queue.Add(key)
		queue.Add(objectNamed("d"))
		<-passed
		synctest.Wait()
		working := b.working()
		if len(working) < 3 {
			t.Errorf("%d keys are in hand, want the three that were queued before at least", len(working))
		}
		close(release)
		for _, over := range working {
			<-over
		}
		queue.ShutDown()
		synctest.Wait()
		if len(b.inHand) != 0 || len(b.passed) != 0 {
			t.Errorf("%d in hand and %d armed in the end", len(b.inHand), len(b.passed))
		}
	})
}

func objectNamed(name string) Key {
	key := Key{Name: name}
	key.GVR.Resource = "widgets"
	return key
}

// TestBarriersAreDistinct holds that one that is still in the queue says nothing of what
// was queued after it.
func TestBarriersAreDistinct(t *testing.T) {
	b := newBarrier()
	first, firstPassed := b.arm()
	second, secondPassed := b.arm()
	if first == second || !isBarrier(first) || isBarrier(objectNamed("a")) {
		t.Errorf("%v and %v", first, second)
	}
	b.pass(first)
	<-firstPassed
	select {
	case <-secondPassed:
		t.Error("the second passes with the first")
	default:
	}
	b.pass(first) // Nobody waits any more.
	b.pass(second)
	<-secondPassed
}

func TestBarrierKnowsWhoIsLate(t *testing.T) {
	b := newBarrier()
	a, other := objectNamed("a"), objectNamed("b")
	rule := []plan.Rule{{Set: "set", Name: "rule"}}
	inTheWay := 0
	all := func(Key, []plan.Rule) bool { inTheWay++; return true }
	for _, step := range []struct {
		reason string
		do     func() bool
		freed  bool
	}{
		{"Nobody waits.", func() bool { return b.passOver(a, rule) }, false},
		{"It is in the way.", func() bool { b.seek(all); return false }, false},
		{"It is as it was.", func() bool { return b.passOver(a, rule) }, false},
		{"Nobody waits for the other.", func() bool { return b.looked(other) }, false},
		{"It owes something else.", func() bool { return b.passOver(a, nil) }, true},
		{"Whoever wants to know must ask again.", func() bool { return b.looked(a) }, false},
		{"Two are in the way.", func() bool {
			b.passOver(a, nil)
			b.passOver(other, nil)
			b.seek(all)
			return b.looked(a)
		}, false},
		{"The last is done.", func() bool { return b.looked(other) }, true},
	} {
		if freed := step.do(); freed != step.freed {
			t.Errorf("%s freed: %v", step.reason, freed)
		}
	}
	if b.seek(all); inTheWay != 3 {
		t.Errorf("%d were in the way, want one and then two", inTheWay)
	}
}

func TestWaiters(t *testing.T) {
	var w waiters
	child, a, b := objectNamed("child").Object(), objectNamed("a"), objectNamed("b")
	w.remove(child, a) // Who does not wait.
	w.add(child, a)
	w.add(child, a)
	w.add(child, b)
	if got := w.at(child); len(got) != 2 {
		t.Errorf("%v wait, want a and b", got)
	}
	w.remove(child, a)
	if got := w.at(child); len(got) != 1 || got[0] != b {
		t.Errorf("%v wait, want b", got)
	}
	w.remove(child, b)
	if len(w.of) != 0 || w.at(child) != nil {
		t.Errorf("left: %v", w.of)
	}
}
