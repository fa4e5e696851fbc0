package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

var errNoRight = errors.New("may not list widgets")

// deny has the engine do without caches until the returned function is called.
func deny(t *testing.T, e *engine.Engine, caches ...informer.Key) (allow func()) {
	t.Helper()
	denied := map[informer.Key]error{}
	for _, cache := range caches {
		denied[cache] = errNoRight
	}
	must := func(denied map[informer.Key]error) {
		t.Helper()
		e.Deny(denied)
		synctest.Wait()
	}
	must(denied)
	return func() { t.Helper(); must(nil) }
}

// grown watches the others only.
var grown = strings.ReplaceAll(atLeastThree, "watch: widgets", "watch: others")

// TestDeny holds that rules rest which read a cache that is denied, that others go on,
// and that everything is looked at when it is not denied any more.
func TestDeny(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a, labels: {other: "yes"}}, spec: {size: 5}}`)
	run(t, c, grown+labelled, func(t *testing.T, e *engine.Engine) {
		allow := deny(t, e, otherWidgets)
		c.put(t, smallOther)
		c.put(t, strings.Replace(smallOther, "name: a", "name: new", 1))
		pass(time.Hour)
		for _, name := range []string{"a", "new"} {
			if got := size(c, name); got != int64(1) {
				t.Errorf("%s has size %v: a rule acted whose cache is denied", name, got)
			}
			if !strings.Contains(string(encode(c.get(name))), "seen:") {
				t.Errorf("a rule did not act on %s whose cache is there", name)
			}
		}
		allow()
		for _, name := range []string{"a", "new"} {
			if got := size(c, name); got != int64(3) {
				t.Errorf("%s has size %v: it was not looked at again", name, got)
			}
		}
		if diff := cmp.Diff([]informer.Key{otherWidgets, allWidgets, otherWidgets}, c.started); diff != "" {
			t.Errorf("started caches (-want +got):\n%s", diff)
		}
	})
}

// TestDenyRelated holds the same for a cache that a rule only reads: what it lacks is
// not taken for nothing found.
func TestDenyRelated(t *testing.T) {
	c := newCluster()
	c.put(t, newItem("there", ""))
	const alone = `
  - name: alone
    watch: widgets
    with: {found: {resource: items, all: true}}
    when: len(found) == 0
    actions: [{patch: {merge: {spec: {alone: true}}}}]
`
	runWith(t, c, engine.Housekeeping{}, families(t, alone+labelled), func(t *testing.T, e *engine.Engine) {
		allow := deny(t, e, allItems)
		c.put(t, small)
		c.touch()
		pass(time.Hour)
		if n := c.count(); n != 1 || c.writes[0].Rules[0].Name != "labelled" {
			t.Errorf("want just the rule to act that reads no more: %+v", c.writes)
		}
		allow()
		if c.count() != 1 {
			t.Errorf("there is an item: %+v", c.writes)
		}
		allow = deny(t, e, allItems)
		c.drop(item("there"))
		pass(time.Hour)
		if c.count() != 1 {
			t.Errorf("it was acted on what is not seen: %+v", c.writes)
		}
		allow()
		if got, _ := spec(c, "a")["alone"].(bool); !got {
			t.Errorf("the rule did not act when it was known that there is nothing: %v", got)
		}
	})
}

// TestDeniedIsNotGone holds that what a cache does not show that is denied stays as it
// is, and that it is seen afterwards what happened meanwhile.
func TestDeniedIsNotGone(t *testing.T) {
	finalizer := families(t, holder).Rules()[0].ID.Finalizer()
	state := func(c *cluster) []string {
		out := c.list(items)
		if strings.Contains(string(encode(c.get("a"))), finalizer) {
			out = append(out, "held")
		}
		return out
	}
	both := []string{"a-child", "b-child"}
	left := func(t *testing.T, c *cluster) {
		object := merged(c.get("a"), map[string]any{"metadata": map[string]any{"labels": map[string]any{"other": nil}}})
		c.put(t, string(encode(object)))
	}
	tests := map[string]struct {
		reason string
		rules  string
		denied informer.Key
		do     func(t *testing.T, c *cluster)
		during []string
		after  []string
	}{
		"Nothing": {
			reason: "Nothing has happened.", rules: pruned + holder, denied: otherWidgets,
			do: func(*testing.T, *cluster) {}, during: append(both, "held"), after: append(both, "held"),
		},
		"Parents": {
			reason: "Whether a parent is there is not seen.", rules: pruned, denied: otherWidgets,
			do: func(_ *testing.T, c *cluster) { c.remove("a") }, during: both, after: both[1:],
		},
		"ParentsOfAnotherKind": {
			reason: "Nor whether it is of the other kind, of which all is seen.", rules: twoParents, denied: allWidgets,
			do: func(_ *testing.T, c *cluster) { c.remove("a") }, during: both, after: both[1:],
		},
		"Children": {
			reason: "Children are not seen.", rules: pruned, denied: allItems,
			do: func(_ *testing.T, c *cluster) { c.remove("a") }, during: both, after: both[1:],
		},
		"Left": {
			reason: "Whether it has left the selection is not seen.", rules: pruned + holder, denied: otherWidgets,
			do: left, during: append(both, "held"), after: both[1:],
		},
		"LeftWithWitness": {
			reason: "Not even where another cache shows it: the rule rests.", rules: holder + labelled, denied: otherWidgets,
			do: left, during: []string{"held"}, after: nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			c.put(t, another)
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, e *engine.Engine) {
				allow := deny(t, e, tc.denied)
				tc.do(t, c)
				c.touch()
				pass(time.Hour)
				e.SetRules(families(t, tc.rules))
				pass(time.Hour)
				if diff := cmp.Diff(tc.during, state(c)); diff != "" {
					t.Errorf("%s\nwhile it is denied (-want +got):\n%s", tc.reason, diff)
				}
				allow()
				pass(time.Minute)
				if diff := cmp.Diff(tc.after, state(c)); diff != "" {
					t.Errorf("%s\nafterwards (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestDenyWhileReadingLive holds that a cache which is dropped between two looks at it is
// not taken for one that has seen the object leave.
func TestDenyWhileReadingLive(t *testing.T) {
	c := newCluster()
	finalizer := families(t, holder).Rules()[0].ID.Finalizer()
	runWith(t, c, engine.Housekeeping{}, families(t, holder), func(t *testing.T, _ *engine.Engine) {
		c.frozen[otherWidgets] = true
		c.put(t, `{metadata: {namespace: ns, name: a, labels: {other: "yes"}, finalizers: [`+finalizer+`]}}`)
		c.locked(func() {
			c.liveOK = func() error {
				c.Deny(map[informer.Key]error{otherWidgets: errNoRight})
				return nil
			}
		})
		c.handler.Changed(informer.Event{Key: otherWidgets, Namespace: "ns", Name: "a"})
		pass(time.Minute)
		if c.gets == 0 || !strings.Contains(string(encode(c.get("a"))), finalizer) {
			t.Errorf("after %d live reads the object is\n%s", c.gets, encode(c.get("a")))
		}
	})
}

// TestDenyFor holds that time goes by for a rule that rests, and that it acts only when
// it sees again.
func TestDenyFor(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, lasting, func(t *testing.T, e *engine.Engine) {
		pass(4 * time.Minute)
		allow := deny(t, e, allWidgets)
		pass(time.Hour)
		if c.count() != 0 {
			t.Errorf("it acted on what it does not see: %+v", c.writes)
		}
		allow()
		if c.count() != 1 {
			t.Errorf("a cache that is away breaks nothing, and %d writes were sent", c.count())
		}
	})
}

// TestDenyWhatIsAwaited holds that nobody waits for a cache that is denied to show what
// was written.
func TestDenyWhatIsAwaited(t *testing.T) {
	c := newCluster()
	c.lagging = true
	c.put(t, smallOther)
	run(t, c, grown+labelled, func(t *testing.T, e *engine.Engine) {
		if c.count() != 1 {
			t.Fatalf("sent %+v", c.writes)
		}
		allow := deny(t, e, otherWidgets)
		c.put(t, smallOther)
		pass(time.Minute)
		if c.count() != 2 || len(c.writes[1].Rules) != 1 || c.writes[1].Rules[0].Name != "labelled" {
			t.Errorf("want the other rule to go on: %+v", c.writes)
		}
		allow()
		c.see(keyOf(c.get("a")))
		pass(time.Minute)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v", got)
		}
	})
}

// TestDenyIsKept holds that a denial counts before there are rules, and for those that
// come later.
func TestDenyIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, smallOther)
		e := c.engine()
		allow := deny(t, e, otherWidgets)
		stop := start(t, e, load(t, grown))
		defer stop()
		for _, text := range []string{labelled, grown, grown + labelled} {
			e.SetRules(load(t, text))
			pass(time.Minute)
		}
		if got := size(c, "a"); got != int64(1) || slices.Contains(c.started, otherWidgets) {
			t.Errorf("size is %v, started were %v", got, c.started)
		}
		allow()
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v when nothing is denied any more", got)
		}
		e.SetRules(&rules.Set{})
		pass(time.Minute)
		if diff := cmp.Diff(map[string]int{}, e.Remembered()); diff != "" {
			t.Errorf("remembered of what nobody watches (-want +got):\n%s", diff)
		}
	})
}
