package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// one makes one item.
const one = `
  - name: one
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    when: len(found) < 1
    actions: [{create: {in: found, manifest: {metadata: {generateName: "x-", labels: {of: "${object.metadata.name}"}}}}}]
`

// strange is an object of another client that has the name.
const strange = `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: x-1, uid: strange}}`

// lost says that the answer got lost, of what was carried out or not.
var lost = write.Result{Class: write.Ambiguous, Err: errRefused}

// TestGeneratedNames holds that each child is made once, whatever becomes of the answer.
func TestGeneratedNames(t *testing.T) {
	unreadable := func(c *cluster, until int) {
		reads := 0
		c.liveOK = func() error {
			if reads++; reads > until {
				return nil
			}
			return errRefused
		}
	}
	tests := map[string]struct {
		reason  string
		arrange func(t *testing.T, c *cluster)
		// after changes the answer to the nth creation.
		after func(c *cluster, n int, operation plan.Operation, result write.Result) write.Result
		made  []string
		sent  []string
	}{
		"Made": {
			reason: "Nothing happens.",
			made:   []string{"x-1"}, sent: []string{"x-1"},
		},
		"MadeAndFound": {
			reason: "A live read tells that it was made.",
			after: func(_ *cluster, n int, _ plan.Operation, result write.Result) write.Result {
				if n == 1 {
					return lost
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1"},
		},
		"MadeAndSeen": {
			reason:  "The live read fails, but the cache shows it.",
			arrange: func(_ *testing.T, c *cluster) { unreadable(c, 1) },
			after: func(_ *cluster, n int, _ plan.Operation, result write.Result) write.Result {
				if n == 1 {
					return lost
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1"},
		},
		"MadeAndTaken": {
			reason:  "Neither tells, so that the name is sent again, and taken by what is ours.",
			arrange: func(_ *testing.T, c *cluster) { unreadable(c, 1); c.frozen[allItems], c.recent = true, true },
			after: func(_ *cluster, n int, _ plan.Operation, result write.Result) write.Result {
				if n == 1 {
					return lost
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1", "x-1"},
		},
		"TakenByNobodyKnows": {
			reason:  "Who has the name cannot be told, so that it is asked again.",
			arrange: func(_ *testing.T, c *cluster) { unreadable(c, 1); c.frozen[allItems], c.recent = true, true },
			after: func(_ *cluster, n int, _ plan.Operation, result write.Result) write.Result {
				switch n {
				case 1:
					return lost
				case 2:
					result.Object, result.Echo = nil, nil
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1", "x-1", "x-1"},
		},
		"NotMade": {
			reason: "It was lost on its way, and is made under the same name.",
			after: func(c *cluster, n int, operation plan.Operation, result write.Result) write.Result {
				if n == 1 {
					c.drop(item(operation.Target.Name))
					return lost
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1", "x-1"},
		},
		"NotMadeAndTaken": {
			reason: "It was lost on its way, and a stranger has the name now.",
			after: func(c *cluster, n int, operation plan.Operation, result write.Result) write.Result {
				if n == 1 {
					c.drop(item(operation.Target.Name))
					c.locked(func() { c.frozen[allItems] = true })
					return lost
				}
				return result
			},
			made: []string{"x-1", "x-2"}, sent: []string{"x-1", "x-1", "x-2"},
		},
		"Collision": {
			reason:  "A stranger has the name that was thought of first.",
			arrange: func(t *testing.T, c *cluster) { c.put(t, strange) },
			made:    []string{"x-1", "x-2"}, sent: []string{"x-1", "x-2"},
		},
		"MadeUnversioned": {
			reason:  "Nothing tells when the caches have seen it, so that it is wanted again, and taken by what is ours.",
			arrange: func(_ *testing.T, c *cluster) { c.frozen[allItems], c.recent = true, true },
			after: func(_ *cluster, n int, _ plan.Operation, result write.Result) write.Result {
				if n == 1 {
					result.Echo = nil
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1", "x-1"},
		},
		"Panic": {
			reason: "One more way to lose an answer.",
			after: func(_ *cluster, n int, _ plan.Operation, result write.Result) write.Result {
				if n == 1 {
					panic("lost")
				}
				return result
			},
			made: []string{"x-1"}, sent: []string{"x-1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.names = []string{"1", "2", "3", "4"}
			c.put(t, small)
			if tc.arrange != nil {
				tc.arrange(t, c)
			}
			n := 0
			c.after = func(operation plan.Operation, result write.Result) write.Result {
				if n++; tc.after != nil {
					result = tc.after(c, n, operation, result)
				}
				if name == "NotMadeAndTaken" && n == 1 {
					// The stranger comes between the live read and the next attempt.
					time.AfterFunc(time.Millisecond, func() { c.put(t, strange) })
				}
				return result
			}
			runWith(t, c, engine.Housekeeping{}, families(t, one), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				if c.frozen[allItems] {
					c.thaw(allItems)
				}
				pass(time.Hour)
				var sent []string
				for _, operation := range c.writes {
					sent = append(sent, operation.Target.Name)
				}
				if diff := cmp.Diff([][]string{tc.made, tc.sent}, [][]string{c.list(items), sent}); diff != "" {
					t.Errorf("%s\nmade and sent (-want +got):\n%s", tc.reason, diff)
				}
				if waiters := e.Remembered()["waiters"]; waiters != 0 {
					t.Errorf("%d objects are waited for still", waiters)
				}
			})
		})
	}
}

// TestBelatedCreation holds that a child is made once, though the API server gets the request long after it got no answer, and the watched
// object was not selected for a moment, or another engine runs the rule by then, or the child was made by a later request and deleted.
func TestBelatedCreation(t *testing.T) {
	unselected := func(t *testing.T, c *cluster) {
		t.Helper()
		c.drop(keyOf(decode(t, small)))
		pass(time.Millisecond)
		c.put(t, small)
	}
	deleted := func(_ *testing.T, c *cluster) {
		pass(time.Second)
		c.drop(item(c.list(items)[0]))
	}
	tests := map[string]struct {
		reason    string
		meanwhile func(t *testing.T, c *cluster)
		moves     bool
		requests  int32 // that the rule sends
	}{
		"Stays":           {"The engine tries again.", func(*testing.T, *cluster) {}, false, 2},
		"Returns":         {"The object is selected again.", unselected, false, 2},
		"Moves":           {"Another engine runs the rule.", func(*testing.T, *cluster) {}, true, 2},
		"ReturnsAndMoves": {"The object is selected again, and another engine runs the rule.", unselected, true, 2},
		"Deleted":         {"The child is deleted, and made anew.", deleted, false, 3},
		"DeletedAndMoves": {"The child is deleted, and another engine makes it anew.", deleted, true, 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			synctest.Test(t, func(t *testing.T) {
				shared := engine.NewShared(clock.RealClock{})
				c.tune = func(o *engine.Options) { o.Shared = shared }
				var requests atomic.Int32
				c.answer = func(operation plan.Operation) *write.Result {
					if requests.Add(1) > 1 {
						return nil
					}
					time.AfterFunc(9*time.Second, func() { c.carryOut(operation) })
					return &lost
				}
				stop := start(t, c.engine(), families(t, one))
				pass(time.Millisecond)
				tc.meanwhile(t, c)
				if tc.moves {
					stop()
					c.restart()
					stop = start(t, c.engine(), families(t, one))
				}
				defer stop()
				pass(time.Minute)
				if made := c.list(items); requests.Load() != tc.requests || len(made) != 1 {
					t.Errorf("%s %d requests have made %v", tc.reason, requests.Load(), made)
				}
			})
		})
	}
}
