package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func widget(name string, size int) string {
	return fmt.Sprintf(`{metadata: {namespace: ns, name: %s}, spec: {size: %d}}`, name, size)
}

// order is where in the writes an object comes first, negative for nowhere.
func (c *cluster) order(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.IndexFunc(c.writes, func(o plan.Operation) bool { return o.Target.Name == name })
}

// TestChangeBeforeResync holds that who changes an object does not wait for all that is
// looked at once more: at a start, or when the rules change.
func TestChangeBeforeResync(t *testing.T) {
	const objects = 400
	c := newCluster()
	c.tune = workers(4)
	for i := range objects {
		c.put(t, widget(fmt.Sprintf("w%d", i), 1))
	}
	c.answer = func(plan.Operation) *write.Result { pass(100 * time.Millisecond); return nil }
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		pass(time.Second)
		c.put(t, widget("new", 1))
		pass(time.Second)
		if got := c.order("new"); got < 0 || got > 60 {
			t.Errorf("a change during the start is write %d of %d", got, c.count())
		}
		pass(time.Minute)
		if c.count() != objects+1 {
			t.Errorf("%d writes in the end, want %d", c.count(), objects+1)
		}
		e.SetRules(load(t, labelled+atLeastThree))
		pass(time.Second)
		before := c.count()
		c.put(t, widget("later", 1))
		c.put(t, widget("w399", 2)) // Which waits already.
		pass(time.Second)
		for _, name := range []string{"later", "w399"} {
			if got := c.get(name); size(c, name) != int64(3) {
				t.Errorf("a change during a resync is not done after %d other writes: %v", c.count()-before, got)
			}
		}
		pass(time.Minute)
		for i := range objects {
			if name := fmt.Sprintf("w%d", i); at(c.get(name), "metadata", "labels", "seen") != "yes" {
				t.Fatalf("%s was forgotten", name)
			}
		}
	})
}

// TestRetriesGiveWay holds the same of what is tried again.
func TestRetriesGiveWay(t *testing.T) {
	c := newCluster()
	for i := range 400 {
		c.put(t, widget(fmt.Sprintf("w%d", i), 1))
	}
	c.answer = func(operation plan.Operation) *write.Result {
		pass(100 * time.Millisecond)
		if strings.HasPrefix(operation.Target.Name, "w") {
			return &write.Result{Class: write.Unreachable, Err: errRefused}
		}
		return nil
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.put(t, widget("new", 1))
		pass(300 * time.Millisecond)
		if got := size(c, "new"); got != int64(3) {
			t.Errorf("size is %v: a change waits for retries", got)
		}
	})
}

// TestSlow holds that requests which are not answered hold up nobody else: those at a
// resource the others, and those of a rule the other rules.
func TestSlow(t *testing.T) {
	const objects, atATime = 60, 4
	const items = `
  - name: items
    watch: items
    when: object.spec.size < 3
    actions: [{patch: {merge: {spec: {size: 3}}}}]
`
	tests := map[string]struct {
		reason, rules string
		slow          func(plan.Operation) bool
		quick         func(c *cluster, i int) bool // reports whether the other has acted
		waiting       int                          // for how many others it may not have
	}{
		"Resource": {
			reason: "A webhook of one resource does not answer.", rules: atLeastThree + items,
			slow:  func(o plan.Operation) bool { return o.Target.GVR.Resource == "items" },
			quick: func(c *cluster, i int) bool { return size(c, fmt.Sprintf("w%d", i)) == int64(3) },
		},
		"Rule": {
			reason: "It does not answer to what one rule writes.", rules: atLeastThree + labelled,
			slow: func(o plan.Operation) bool {
				return slices.ContainsFunc(o.Rules, func(rule plan.Rule) bool { return rule.Name == "labelled" })
			},
			quick:   func(c *cluster, i int) bool { return size(c, fmt.Sprintf("w%d", i)) == int64(3) },
			waiting: 2 * atATime, // Their requests are joined.
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.tune = workers(atATime)
			for i := range objects {
				c.put(t, strings.Replace(fmt.Sprintf(`{apiVersion: example.com/v1, kind: Item, %s`, widget(fmt.Sprintf("i%d", i), 1)[1:]), "w", "i", 1))
				c.put(t, widget(fmt.Sprintf("w%d", i), 1))
			}
			answer := make(chan struct{})
			underWay, most := 0, 0
			c.answer = func(o plan.Operation) *write.Result {
				if tc.slow(o) {
					c.locked(func() { underWay++; most = max(most, underWay) })
					<-answer
					c.locked(func() { underWay-- })
				}
				return nil
			}
			synctest.Test(t, func(t *testing.T) {
				answer = make(chan struct{})
				e := c.engine()
				stop := start(t, e, families(t, tc.rules))
				defer stop()
				pass(5 * time.Second)
				missing := 0
				for i := range objects {
					if !tc.quick(c, i) {
						missing++
					}
				}
				if missing > tc.waiting {
					t.Errorf("%s The other has not acted for %d of %d objects, want at most %d", tc.reason, missing, objects, tc.waiting)
				}
				pass(10 * time.Minute)
				c.locked(func() {
					if most > 5*atATime {
						t.Errorf("%s %d requests wait for an answer, want a few", tc.reason, most)
					}
				})
				if e.Quarantined() != nil {
					t.Errorf("%s in quarantine: %v", tc.reason, isolated(e))
				}
				close(answer)
				pass(10 * time.Minute)
				for key, object := range c.all() {
					if at(object, "spec", "size") != int64(3) && strings.HasPrefix(key.Name, "w") {
						t.Errorf("%s %s was forgotten: %v", tc.reason, key.Name, object)
					}
				}
			})
		})
	}
}

func (c *cluster) all() map[engine.Key]map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[engine.Key]map[string]any{}
	maps.Copy(out, c.stored)
	return out
}

// TestSlowReads holds the same of live reads and of Events, which are not answered.
func TestSlowReads(t *testing.T) {
	for name, slow := range map[string]func(c *cluster, wait func() error){
		"Read": func(c *cluster, wait func() error) { c.liveOK = wait },
		"Events": func(c *cluster, wait func() error) {
			c.eventOK = func() error { // Called under the lock.
				c.mu.Unlock()
				defer c.mu.Lock()
				return wait()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			for i := range 60 {
				c.put(t, widget(fmt.Sprintf("w%d", i), 1))
			}
			synctest.Test(t, func(t *testing.T) {
				answer := make(chan struct{})
				slow(c, func() error { <-answer; return nil })
				e := c.engine()
				stop := start(t, e, families(t, making("tagged", "prune: true")+atLeastThree))
				defer stop()
				pass(10 * time.Second)
				missing := 0
				for i := range 60 {
					if size(c, fmt.Sprintf("w%d", i)) != int64(3) {
						missing++
					}
				}
				if missing > 20 {
					t.Errorf("the other rule has not acted for %d of 60 objects", missing)
				}
				close(answer)
				pass(10 * time.Minute)
				for i := range 60 {
					if name := fmt.Sprintf("w%d", i); size(c, name) != int64(3) || e.Quarantined() != nil {
						t.Errorf("%s is %v; in quarantine %v", name, c.get(name), isolated(e))
					}
				}
			})
		})
	}
}

// TestRetryAfterStands holds that nothing makes the engine write, or read, before the
// time that the API server asked for: no event, and no other rule.
func TestRetryAfterStands(t *testing.T) {
	const waits = `
  - name: waits
    watch: widgets
    when: object.spec.size < 100
    for: 2500ms
    actions: [{patch: {merge: {spec: {held: true}}}}]
`
	c := newCluster()
	c.put(t, small)
	r := refuse(c, "at-least-three", write.Overloaded)
	r.after = 17 * time.Second
	run(t, c, atLeastThree+waits, func(t *testing.T, _ *engine.Engine) {
		for i := range 16 { // The other has written after 3 seconds.
			c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a, labels: {n: "%d"}}, spec: {size: 1, held: %t}}`, i, i > 2))
			pass(time.Second)
		}
		if diff := cmp.Diff([]time.Duration{0}, r.since()); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
		if spec(c, "a")["held"] != any(true) || c.sent(plan.Merge) != 2 {
			t.Error("another rule waited, too")
		}
		c.locked(func() { c.answer = nil })
		pass(2 * time.Second)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v after the time", got)
		}
	})
}

// TestReadRetryAfterStands holds the same of live reads.
func TestReadRetryAfterStands(t *testing.T) {
	overloaded := func() error { return apierrors.NewTooManyRequests("slow down", 17) }
	tests := map[string]struct {
		reason string
		begin  func(t *testing.T, c *cluster)
	}{
		"Unselected": {"What is to be made is there.", func(*testing.T, *cluster) {}},
		"Gone":       {"No cache has it any more.", func(_ *testing.T, c *cluster) { c.remove("a") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			begun := 0
			if name == "Unselected" {
				c.put(t, newItem("child", ""))
				c.liveOK = overloaded
			}
			runWith(t, c, engine.Housekeeping{}, families(t, making("tagged", "prune: true")), func(t *testing.T, e *engine.Engine) {
				if name == "Gone" {
					pass(time.Minute)
					c.locked(func() { c.liveOK, begun = overloaded, c.gets })
				}
				tc.begin(t, c)
				for range 16 {
					c.touch()
					pass(time.Second)
				}
				c.locked(func() {
					if got := c.gets - begun; got < 1 || got > 2 {
						t.Errorf("%s read %d times before the time that the API server asked for", tc.reason, got)
					}
				})
				if e.Quarantined() != nil {
					t.Errorf("%s in quarantine: %v", tc.reason, isolated(e))
				}
				c.locked(func() { c.liveOK, begun = nil, c.gets })
				pass(2 * time.Second)
				c.locked(func() {
					if c.gets == begun {
						t.Errorf("%s it was not read after that time", tc.reason)
					}
				})
			})
		})
	}
}
