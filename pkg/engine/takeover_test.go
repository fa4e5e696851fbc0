package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// heir is the rule that prunes under another name.
var heir = strings.Replace(pruned, "name: pruned", "name: heir", 1)

// inherited has each sweep check that the heir has taken over all children.
func inherited(t *testing.T, c *cluster, s *shelf) {
	t.Helper()
	s.during = func(context.Context) error {
		for _, name := range c.list(items) {
			if text := string(encode(c.of(item(name)))); !strings.Contains(text, plan.LabelRule+": heir") {
				t.Errorf("it is swept before the heir has got\n%s", text)
			}
		}
		return nil
	}
}

// from answers the writes of the heir.
func from(heir string, answer func() *write.Result) func(plan.Operation) *write.Result {
	return func(operation plan.Operation) *write.Result {
		if operation.Rules[0].Name == heir {
			return answer()
		}
		return nil
	}
}

// TestSweepWaits holds that nothing is cleaned up before all objects have been looked at
// by the rules in effect, and what they want is done: one of them may take it over.
func TestSweepWaits(t *testing.T) {
	refused := func(c *cluster, class write.Class) {
		c.locked(func() {
			c.answer = from("heir", func() *write.Result { return &write.Result{Class: class, Err: errRefused} })
		})
	}
	accepted := func(c *cluster) { c.locked(func() { c.answer = nil }) }
	tests := map[string]struct {
		reason string
		heir   string // default: heir
		block  func(c *cluster)
		free   func(c *cluster)
		// within is when the sweep is over at the latest, default: 10 minutes.
		within time.Duration
	}{
		"CacheOfTheWatched": {
			reason: "An heir may be in a cache that is not complete.",
			block:  func(c *cluster) { c.unsynced[otherWidgets] = true },
			free:   func(c *cluster) { c.sync(otherWidgets) },
			within: time.Second,
		},
		"CacheOfTheRelated": {
			reason: "An heir reads a cache that is not complete, and does nothing before.",
			block:  func(c *cluster) { c.unsynced[allItems] = true },
			free:   func(c *cluster) { c.sync(allItems) },
			within: time.Second,
		},
		"Worker": {
			reason: "A worker has an object in hand.",
			block: func(c *cluster) {
				c.answer = func(plan.Operation) *write.Result {
					pass(25 * time.Second)
					return nil
				}
			},
			free: func(*cluster) {},
		},
		"LastWrite": {
			reason: "An object waits for what the rules before have written. Who waits for it is told.",
			block:  func(c *cluster) { c.lagging = true },
			free: func(c *cluster) {
				c.locked(func() { c.lagging = false })
				for cache := range c.caches {
					c.catchUp(cache)
				}
			},
			within: time.Second,
		},
		"Overloaded": {
			reason: "The heir is to try again.",
			block:  func(c *cluster) { refused(c, write.Overloaded) }, free: accepted,
		},
		"Refused": {
			reason: "The heir may not, until somebody lets it.",
			block:  func(c *cluster) { refused(c, write.Terminal) }, free: accepted,
		},
		"NotEvaluated": {
			reason: "The heir does not understand the object.", heir: strings.Replace(heir, "object.spec.size > 0", "object.spec.mass > 0", 1),
			block: func(*cluster) {},
			free: func(c *cluster) {
				for _, name := range []string{"a", "late"} {
					c.put(t, string(encode(merged(c.get(name), map[string]any{"spec": map[string]any{"mass": int64(1)}}))))
				}
			},
			within: time.Second,
		},
		"Waiting": {
			reason: "The heir waits for time to pass.", heir: strings.Replace(heir, "when:", "for: 5m\n    when:", 1),
			block: func(*cluster) {}, free: func(*cluster) {},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			c.put(t, parent)
			runWith(t, c, s.house(false), families(t, pruned+labelled), func(t *testing.T, e *engine.Engine) {
				synctest.Wait()
				inherited(t, c, s)
				tc.block(c)
				c.put(t, `{metadata: {namespace: ns, name: late, labels: {other: "yes"}}, spec: {size: 1}}`)
				if name == "LastWrite" {
					synctest.Wait()
				}
				if tc.heir == "" {
					tc.heir = heir
				}
				e.SetRules(families(t, tc.heir+labelled))
				pass(20 * time.Second)
				if swept := s.asked(); len(swept) > 0 {
					t.Errorf("%s\nswept: %v", tc.reason, swept)
				}
				tc.free(c)
				if tc.within == 0 {
					tc.within = 10 * time.Minute
				}
				pass(tc.within)
				if diff := cmp.Diff([]string{prunedText}, s.asked()); diff != "" {
					t.Errorf("%s\nswept in the end (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestSweepWaitsForHeirsOnly holds that what nobody can take over waits for nobody.
func TestSweepWaitsForHeirsOnly(t *testing.T) {
	for name, block := range map[string]func(c *cluster){
		"Cache": func(c *cluster) { c.unsynced[informer.Key{GVR: gadgets}] = true },
		"Refused": func(c *cluster) {
			c.answer = from("labelled", func() *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), remembering(t, families(t, holder+pruned))
			c.put(t, parent)
			block(c)
			inherited(t, c, s)
			rules := heir + labelled + strings.NewReplacer("labelled", "gadgets", "widgets", "gadgets").Replace(labelled)
			runWith(t, c, s.house(false), families(t, rules), func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				if diff := cmp.Diff([]string{heldText, prunedText}, s.asked()); diff != "" {
					t.Errorf("swept (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestSweepWaitsForWhatIsQueuedAgain holds that an object is waited for that the rules
// before have in hand: it is queued again only when they are done with it, late.
func TestSweepWaitsForWhatIsQueuedAgain(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.put(t, parent)
	runWith(t, c, s.house(false), families(t, pruned), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		c.locked(func() {
			c.answer = func(operation plan.Operation) *write.Result {
				if operation.Target.Name != "b-child" {
					return nil
				}
				pass(10 * time.Second)
				if operation.Rules[0].Name == "heir" {
					return nil
				}
				return &write.Result{Class: write.Unchanged, Object: operation.Predicted} // They have done with it.
			}
		})
		c.put(t, another)
		synctest.Wait()
		inherited(t, c, s)
		taken := s.during
		s.during = func(ctx context.Context) error {
			if made := c.list(items); len(made) != 2 {
				t.Errorf("it is swept when there are %v", made)
			}
			return taken(ctx)
		}
		e.SetRules(families(t, heir))
		pass(5 * time.Minute)
		if diff := cmp.Diff([]string{prunedText}, s.asked()); diff != "" {
			t.Errorf("swept (-want +got):\n%s", diff)
		}
	})
}

// TestSweepWaitsUntilObjectsAreQueued holds that a cache counts when its objects have been
// queued, which is after it has become complete.
func TestSweepWaitsUntilObjectsAreQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, parent)
		stop := start(t, c.engine(), families(t, pruned))
		pass(time.Minute)
		stop()
		c.restart()
		s := remembering(t, families(t, pruned))
		inherited(t, c, s)
		c.unsynced[otherWidgets] = true
		stop = start(t, c.engineWith(s.house(false)), families(t, heir))
		time.AfterFunc(900*time.Millisecond, func() { c.locked(func() { delete(c.unsynced, otherWidgets) }) })
		time.AfterFunc(1200*time.Millisecond, func() { c.sync(otherWidgets) })
		pass(time.Minute)
		if diff := cmp.Diff([]string{prunedText}, s.asked()); diff != "" {
			t.Errorf("swept (-want +got):\n%s", diff)
		}
		stop()
	})
}
