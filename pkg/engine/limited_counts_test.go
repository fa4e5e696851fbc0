package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestIneffectiveWritesDoNotCount holds that what has changed nothing, and what failed, is
// no damage, and that what may have happened is.
func TestIneffectiveWritesDoNotCount(t *testing.T) {
	tests := map[string]struct {
		reason string
		result write.Result
		blind  bool // live reads fail
		paused bool
	}{
		"Unchanged": {"The API server took it, and nothing changed.", write.Result{Class: write.Unchanged}, false, false},
		"Refused":   {"It never happened.", write.Result{Class: write.Terminal, Err: errRefused}, false, false},
		"Stale":     {"Nor did what is out of date.", write.Result{Class: write.Stale, Err: errRefused}, false, false},
		"Ambiguous": {"It may have, but a live read shows that it did not.", write.Result{Class: write.Ambiguous, Err: errRefused}, false, false},
		"Unknown":   {"It may have, and nobody can tell.", write.Result{Class: write.Ambiguous, Err: errRefused}, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.putMany(t, 6)
			if tc.blind {
				c.liveOK = func() error { return errRefused }
			}
			c.answer = func(operation plan.Operation) *write.Result {
				result := tc.result
				result.Object = c.get(operation.Target.Name)
				return &result
			}
			run(t, c, growing("{maxObjects: 1}"), func(t *testing.T, e *engine.Engine) {
				pass(5 * time.Minute)
				if got := len(e.Paused()) == 1; got != tc.paused {
					t.Errorf("%s paused: %v", tc.reason, got)
				}
				if !tc.paused && c.count() < 6 {
					t.Errorf("%s only %d were tried", tc.reason, c.count())
				}
			})
		})
	}
}

// TestDryRunIsUnlimited holds that what is not written does not count.
func TestDryRunIsUnlimited(t *testing.T) {
	c := newCluster()
	c.putMany(t, 20)
	c.answer = func(operation plan.Operation) *write.Result {
		return &write.Result{Class: write.Simulated, Object: operation.Predicted}
	}
	run(t, c, growing("{maxObjects: 1}"), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if c.count() != 20 || len(e.Paused()) > 0 {
			t.Errorf("%d of 20 are told, paused: %v", c.count(), e.Paused())
		}
	})
}

// TestPanicCounts holds that a write of which nothing is known counts, and takes no room
// for ever.
func TestPanicCounts(t *testing.T) {
	c := newCluster()
	c.putMany(t, 2)
	panics := true
	c.liveOK = func() error {
		if panics {
			panic("poisoned")
		}
		return nil
	}
	c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Ambiguous, Err: errRefused} }
	run(t, c, growing("{maxObjects: 1}"), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if len(e.Paused()) != 1 {
			t.Errorf("paused: %v", e.Paused())
		}
	})
}

// TestFinalizersDoNotCount holds that a rule holds all objects, that a paused one holds no
// more, and that nothing keeps it from letting go.
func TestFinalizersDoNotCount(t *testing.T) {
	const holds = `
  - name: holds
    watch: widgets
    limits: {maxObjects: 1}
    when: object.spec.size < 3
    onDelete: {actions: [{event: {reason: Bye, message: bye}}]}
    actions: [{when: "object.spec.grow == true", patch: {merge: {spec: {grow: false}}}}]
`
	c := newCluster()
	c.putMany(t, 5)
	held := func() (n int) {
		for _, name := range c.list(widgets) {
			if strings.Contains(string(encode(c.get(name))), "dyncontroller.dev/set.holds") {
				n++
			}
		}
		return n
	}
	run(t, c, holds, func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if n := held(); n != 5 || len(e.Paused()) > 0 {
			t.Fatalf("%d of 5 are held, paused: %v", n, e.Paused())
		}
		for i := range 2 {
			key := engine.Key{GVR: widgets, Namespace: "ns", Name: fmt.Sprint("w", i)}
			c.put(t, string(encode(merged(c.of(key), map[string]any{"spec": map[string]any{"grow": true}}))))
		}
		pass(time.Minute)
		if len(e.Paused()) != 1 {
			t.Fatalf("paused: %v", e.Paused())
		}
		c.put(t, `{metadata: {namespace: ns, name: late}, spec: {size: 1}}`)
		pass(time.Minute)
		if n := held(); n != 5 {
			t.Errorf("%d are held, want none that nobody would let go", n)
		}
		for i := range 5 {
			key := engine.Key{GVR: widgets, Namespace: "ns", Name: fmt.Sprint("w", i)}
			c.put(t, string(encode(merged(c.of(key), map[string]any{"spec": map[string]any{"size": 5, "grow": false}}))))
		}
		pass(time.Minute)
		if n := held(); n != 0 {
			t.Errorf("%d are held still, though the paused rule does not want it", n)
		}
	})
}

// TestLimitsOfOtherWrites holds that what a rule makes and deletes counts for the object
// that it watches.
func TestLimitsOfOtherWrites(t *testing.T) {
	tests := map[string]struct {
		reason, rules string
		kind          plan.Type
		want          int
	}{
		"Apply": {"A child is for its parent.", `
  - name: applies
    watch: widgets
    limits: {maxObjects: 2}
    actions: [{apply: {resource: items, manifest: {metadata: {name: "${object.metadata.name}-child"}, spec: {a: 1}}}}]
`, plan.Apply, 2},
		"Create": {"All that is made for one object counts once.", `
  - name: creates
    watch: widgets
    limits: {maxObjects: 2}
    with: {children: {resource: items, ownedBy: object}}
    actions:
    - when: len(children) < 3
      forEach: {part: "${1..3}"}
      create: {in: children, manifest: {metadata: {generateName: c-}, spec: {a: 1}}}
`, plan.Create, 6},
		"Delete": {"So does what is deleted.", `
  - name: deletes
    watch: widgets
    limits: {maxObjects: 2}
    actions: [{delete: {}}]
`, plan.Delete, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, e *engine.Engine) {
				for i := range 6 {
					c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: w%d}, spec: {size: 1}}`, i))
					pass(time.Second)
				}
				if n := c.sent(tc.kind); n != tc.want || len(e.Paused()) != 1 {
					t.Errorf("%s %d writes, want %d, paused: %v", tc.reason, n, tc.want, e.Paused())
				}
			})
		})
	}
}

// TestAuditIsUnlimited holds that a rule that writes nothing does not pause.
func TestAuditIsUnlimited(t *testing.T) {
	c := newCluster()
	c.putMany(t, 5)
	text := strings.Replace(growing("{maxObjects: 1}"), "    watch:", "    mode: Audit\n    watch:", 1)
	run(t, c, text, func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if c.seen.of(&c.seen.audited) != 5 || len(e.Paused()) > 0 {
			t.Errorf("%d audited, paused: %v", c.seen.of(&c.seen.audited), e.Paused())
		}
	})
}

// TestWorkersShareALimit holds that many workers do not pass it together, and that none is
// held back for good by writes that come to nothing.
func TestWorkersShareALimit(t *testing.T) {
	c := newCluster()
	c.putMany(t, 60)
	var mu sync.Mutex
	tried := map[string]bool{}
	c.answer = func(operation plan.Operation) *write.Result {
		pass(10 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		first := !tried[operation.Target.Name]
		tried[operation.Target.Name] = true
		if first && len(operation.Target.Name)%2 == 0 {
			return &write.Result{Class: write.Stale, Err: errRefused}
		}
		return nil
	}
	run(t, c, growing("{maxObjects: 3}"), func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if n := c.grown(); n != 3 || len(e.Paused()) != 1 {
			t.Errorf("it has written for %d objects, paused: %v", n, e.Paused())
		}
	})
}

// TestRoomIsGivenBack holds that who waits for a write under way goes on when that came to
// nothing.
func TestRoomIsGivenBack(t *testing.T) {
	c := newCluster()
	c.putMany(t, 30)
	c.answer = func(operation plan.Operation) *write.Result {
		pass(time.Second)
		return &write.Result{Class: write.Unchanged, Object: c.get(operation.Target.Name)}
	}
	run(t, c, growing("{maxObjects: 1}"), func(t *testing.T, e *engine.Engine) {
		pass(2 * time.Minute)
		if n := c.count(); n != 30 || len(e.Paused()) > 0 {
			t.Errorf("%d of 30 were tried, paused: %v", n, e.Paused())
		}
	})
}

// TestShareOfTwoSelections holds that an object which is in both is one.
func TestShareOfTwoSelections(t *testing.T) {
	c := newCluster()
	for i := range 10 {
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: w%d, labels: {other: "yes"}}, spec: {size: 1}}`, i))
	}
	both := strings.Replace(growing("{maxObjects: 20%}"), "watch: widgets", `watch: "widgets,others"`, 1)
	run(t, c, both, func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if paused := e.Paused(); len(paused) != 1 || paused[0].Objects != 2 || paused[0].Of != 10 {
			t.Errorf("paused: %v, want two of ten written for", paused)
		}
	})
}
