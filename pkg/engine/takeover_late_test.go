package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestSweepWaitsForOldWorker holds that nothing is swept while a worker still writes by rules that are gone, although no
// other rule may take it over.
func TestSweepWaitsForOldWorker(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.put(t, parent)
	runWith(t, c, s.house(false), families(t, pruned+labelled), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		var writing, swept atomic.Bool
		c.locked(func() {
			c.answer = func(operation plan.Operation) *write.Result {
				if operation.Target.Name == "b-child" {
					writing.Store(true)
					pass(25 * time.Second)
					writing.Store(false)
				}
				return nil
			}
		})
		c.put(t, another)
		synctest.Wait()
		if !writing.Load() {
			t.Fatal("no write is under way")
		}
		s.during = func(context.Context) error {
			if swept.Store(true); writing.Load() {
				t.Error("swept while the rule that is gone writes")
			}
			return nil
		}
		e.SetRules(families(t, labelled))
		pass(5 * time.Minute)
		if !swept.Load() {
			t.Error("never swept")
		}
	})
}

// TestSweepWaitsForWhatNobodyHasSeen holds that an object counts as looked at only once a cache has shown it: the heir, which
// fails at first when that is complete, gets the child.
func TestSweepWaitsForWhatNobodyHasSeen(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.put(t, parent)
	runWith(t, c, s.house(false), families(t, pruned), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		inherited(t, c, s)
		c.locked(func() {
			c.unsynced[otherWidgets] = true
			c.answer = from("heir", func() *write.Result { return &write.Result{Class: write.Overloaded, Err: errRefused} })
		})
		e.SetRules(families(t, heir))
		pass(time.Minute)
		c.sync(otherWidgets)
		pass(time.Minute)
		c.locked(func() { c.answer = nil })
		pass(10 * time.Minute)
		if swept := s.asked(); len(swept) != 1 {
			t.Errorf("swept: %v", swept)
		}
	})
}

// TestSweepWaitsEachTime holds that a sweep which is tried again waits for what has changed since the last attempt.
func TestSweepWaitsEachTime(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.put(t, parent)
	c.put(t, `{metadata: {namespace: ns, name: c, labels: {other: "yes"}}, spec: {size: 0}}`)
	runWith(t, c, s.house(false), families(t, pruned), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		var attempts atomic.Int32
		var writing atomic.Bool
		s.during = func(context.Context) error {
			if attempts.Add(1) < 4 {
				return errRefused
			}
			if writing.Load() {
				t.Error("swept while an object that has changed 3 s before is in the hands of a worker")
			}
			return nil
		}
		e.SetRules(families(t, heir))
		synctest.Wait()
		pass(4 * time.Second)
		c.locked(func() {
			c.answer = func(plan.Operation) *write.Result {
				writing.Store(true)
				pass(30 * time.Second)
				writing.Store(false)
				return nil
			}
		})
		c.put(t, `{metadata: {namespace: ns, name: c, labels: {other: "yes"}}, spec: {size: 1}}`)
		pass(5 * time.Minute)
		if got := attempts.Load(); got < 4 {
			t.Errorf("%d attempts, want four", got)
		}
	})
}

// TestSweepDoesNotStarve holds that objects which change all the time keep nobody from sweeping, also where a rule that can
// take nothing over fails on all of them.
func TestSweepDoesNotStarve(t *testing.T) {
	for name, refused := range map[string]bool{"Fine": false, "Refused": true} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			c.put(t, parent)
			var slow atomic.Bool
			c.tune = func(o *engine.Options) {
				o.Observer = hooks{Observer: o.Observer, looked: func() {
					if slow.Load() {
						pass(50 * time.Millisecond)
					}
				}}
			}
			if refused {
				c.answer = from("labelled", func() *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} })
			}
			runWith(t, c, s.house(false), families(t, pruned+labelled), func(t *testing.T, e *engine.Engine) {
				change := func(n int) {
					for i := range 20 {
						c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: o%d, labels: {other: "yes"}, annotations: {n: "%d"}}, spec: {size: 1}}`, i, n))
					}
				}
				change(0)
				pass(5 * time.Minute)
				var swept atomic.Bool
				s.during = func(context.Context) error {
					swept.Store(true)
					return nil
				}
				slow.Store(true)
				e.SetRules(families(t, heir+labelled))
				for n := range 200 {
					change(n + 1)
					pass(100 * time.Millisecond)
				}
				if !swept.Load() {
					t.Error("not swept in 20 s")
				}
				slow.Store(false)
			})
		})
	}
}

// TestSweepWaitsForAnotherSet holds that a rule which has moved to another set keeps what it has written, although its first attempts, or
// those of a rule beside it, are overtaken by somebody who writes the object all the time.
func TestSweepWaitsForAnotherSet(t *testing.T) {
	const given = `
  - name: given
    watch: others
    actions: [{patch: {release: Remove, apply: {spec: {size: 7}}, force: true}}]
`
	for who, seen := range map[string]string{"labelled": "no", "given": "yes"} {
		t.Run(who, func(t *testing.T) {
			c := newCluster()
			c.put(t, `{metadata: {namespace: ns, name: a, labels: {other: "yes", seen: "`+seen+`"}}, spec: {size: 1}}`)
			s := remembering(t, compile(t, rules.Options{}, head+"  rules:\n"+given+labelled))
			var tried, written int
			c.answer = func(o plan.Operation) *write.Result {
				if rule := o.Rules[0]; rule.Name == who && tried < 9 {
					tried++
					return &write.Result{Class: write.Stale, Err: errRefused}
				} else if rule.Set == "taker" {
					written++
				}
				return nil
			}
			s.during = func(context.Context) error {
				if written == 0 {
					t.Error("swept before the rule of the other set had its turn")
				}
				return nil
			}
			moved := compile(t, rules.Options{}, head+"  rules:\n"+labelled, strings.Replace(head, "name: set", "name: taker", 1)+"  rules:\n"+given)
			runWith(t, c, s.house(false), moved, func(*testing.T, *engine.Engine) { pass(10 * time.Minute) })
			if len(s.asked()) == 0 || tried < 9 {
				t.Errorf("swept: %v, after %d attempts that were overtaken", s.asked(), tried)
			}
		})
	}
}

// slowly has one question by labels take 5 s.
type slowly struct {
	engine.Caches
	once *atomic.Bool
}

// Read implements [engine.Caches].
func (s slowly) Read(q plan.Read) ([]map[string]any, error) {
	if q.By == plan.ByLabels && s.once.CompareAndSwap(true, false) {
		pass(5 * time.Second)
	}
	return s.Caches.Read(q)
}

// TestSettlesWithOrphans holds that settling does not end before it is known which children have no parent any more.
func TestSettlesWithOrphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, parent)
		c.put(t, another)
		stop := start(t, c.engine(), families(t, pruned))
		pass(time.Minute)
		stop()
		c.restart()
		c.remove("a")
		c.unsynced[allItems] = true
		var once atomic.Bool
		c.tune = func(o *engine.Options) {
			caches := o.Caches
			o.Caches = func(h informer.Handler) engine.Caches { return slowly{caches(h), &once} }
			o.Observer = hooks{Observer: o.Observer, looked: func() { pass(1500 * time.Millisecond) }}
		}
		time.AfterFunc(time.Second, func() {
			once.Store(true)
			c.sync(allItems)
		})
		if _, err := c.engineWith((&shelf{}).house(false)).Settle(t.Context(), families(t, pruned)); err != nil {
			t.Fatal(err)
		}
		if left := c.list(items); len(left) != 1 {
			t.Errorf("%v are left, want the child whose parent is there", left)
		}
		pass(10 * time.Second)
	})
}

// TestSettlesWhenDenied holds that settling does not wait for a cache that is denied meanwhile, without housekeeping too.
func TestSettlesWhenDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, smallOther)
		c.unsynced[otherWidgets] = true
		e := c.engine()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		time.AfterFunc(2*time.Second, func() {
			e.Deny(map[informer.Key]error{otherWidgets: errNoRight})
		})
		report, err := e.Settle(ctx, load(t, grown+labelled))
		if err != nil || len(report.Unlisted) != 1 {
			t.Errorf("unlisted %v, %v; want the cache that is denied", report.Unlisted, err)
		}
	})
}
