package engine_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestRandomName(t *testing.T) {
	for _, prefix := range []string{"a-", "", strings.Repeat("x", 58), strings.Repeat("x", 253)} {
		name := engine.RandomName(prefix)
		if len(name) > validation.DNS1123LabelMaxLength || !strings.HasPrefix(name, prefix[:min(len(prefix), 58)]) {
			t.Errorf("%q becomes %q", prefix, name)
		}
		if name == engine.RandomName(prefix) {
			t.Errorf("%q becomes %q twice", prefix, name)
		}
	}
}

// one makes one item.
const one = `
  - name: one
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    when: len(found) < 1
    actions: [{create: {in: found, manifest: {metadata: {generateName: "x-", labels: {of: "${object.metadata.name}"}}}}}]
`

// strange is an object of somebody else that has the name.
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
			arrange: func(_ *testing.T, c *cluster) { unreadable(c, 1); c.frozen[allItems] = true },
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
			arrange: func(_ *testing.T, c *cluster) { unreadable(c, 1); c.frozen[allItems] = true },
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
			arrange: func(_ *testing.T, c *cluster) { c.frozen[allItems] = true },
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

// TestUnresolvedNameOfWhatIsThere holds that a name that was made after all is not sent
// again when another child is wanted much later.
func TestUnresolvedNameOfWhatIsThere(t *testing.T) {
	c := newCluster()
	c.names = []string{"1", "2"}
	c.put(t, small)
	c.liveOK = func() error { return errRefused }
	c.after = func(plan.Operation, write.Result) write.Result {
		c.locked(func() { c.after = nil })
		return lost
	}
	set := families(t, strings.Replace(one, "len(found) < 1", "len(found) < object.spec.size", 1))
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`)
		synctest.Wait()
		if diff := cmp.Diff([]string{"x-1", "x-2"}, c.list(items)); diff != "" || c.count() != 2 {
			t.Errorf("after %d creations (-want +got):\n%s", c.count(), diff)
		}
	})
}

// loseFirst carries out what is sent first, and loses the answer. What has become of it
// cannot be read, and no cache shows it.
func loseFirst(t *testing.T) *cluster {
	c := newCluster()
	c.names = []string{"1", "2", "3", "4"}
	c.put(t, small)
	c.frozen[allItems] = true
	c.liveOK = func() error {
		c.locked(func() { c.liveOK = nil })
		return errRefused
	}
	c.after = func(operation plan.Operation, result write.Result) write.Result {
		if operation.Type != plan.Create {
			return result
		}
		c.locked(func() { c.after = nil })
		return lost
	}
	return c
}

// TestUnresolvedNameIsKept holds that a name is not forgotten by an answer that does not
// tell what became of what was sent under it first.
func TestUnresolvedNameIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		class  write.Class
	}{
		"Unreachable": {"It never arrived, which the first one may have.", write.Unreachable},
		"Overloaded":  {"It was turned away, which the first one may not have been.", write.Overloaded},
		"Terminal":    {"The rights to make it may have gone since.", write.Terminal},
		"Stale":       {"It may not have been sent at all.", write.Stale},
		"Taken":       {"Nobody knows by whom.", write.Taken},
	} {
		t.Run(name, func(t *testing.T) {
			c := loseFirst(t)
			n := 0
			c.answer = func(plan.Operation) *write.Result {
				if n++; n == 2 {
					return &write.Result{Class: tc.class, Err: errRefused}
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, families(t, one), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				c.thaw(allItems)
				pass(time.Hour)
				if diff := cmp.Diff([]string{"x-1"}, c.list(items)); diff != "" || c.count() != 3 {
					t.Errorf("%s\n%d creations, made (-want +got):\n%s", tc.reason, c.count(), diff)
				}
			})
		})
	}
}

// TestUnresolvedNameTurnsUp holds that an object that a cache comes to show after a plan
// was decided on is not made again by that plan, and once more only where the rules want
// another one with it in sight.
func TestUnresolvedNameTurnsUp(t *testing.T) {
	const before = `
  - name: before
    watch: widgets
    actions: [{patch: {merge: {spec: {touched: true}}}}]
`
	for name, tc := range map[string]struct {
		reason, rules string
		made          []string
	}{
		"Asked": {"The rule sees it then, and wants no other.", one, []string{"x-1"}},
		"NotAsked": {
			"The rule looks for something else, and is not kept from its work.",
			strings.NewReplacer("len(found)", "len(other)", "with: {", "with: {other: {resource: items, matchLabels: {of: nobody}}, ").Replace(one),
			[]string{"x-1", "x-2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, n := loseFirst(t), 0
			c.answer = func(operation plan.Operation) *write.Result {
				if operation.Type == plan.Create {
					if len(c.list(items)) > 1 { // Enough of what it never sees.
						return &write.Result{Class: write.Terminal, Err: errRefused}
					}
					return nil
				}
				if n++; n == 2 { // The creation is next in the plan.
					c.thaw(allItems)
					return nil
				}
				return &write.Result{Class: write.Overloaded, Err: errRefused}
			}
			runWith(t, c, engine.Housekeeping{}, families(t, before+tc.rules), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				if diff := cmp.Diff(tc.made, c.list(items)); diff != "" {
					t.Errorf("%s\nmade (-want +got):\n%s", tc.reason, diff)
				}
				if n != 2 {
					t.Errorf("%d writes before the creation, want 2", n)
				}
			})
		})
	}
}

// TestBatches holds that creations are sent 1, 2, 4 and so on at a time, and that the
// first failure ends them.
func TestBatches(t *testing.T) {
	tests := map[string]struct {
		reason string
		want   int // items
		fails  int // the creation that is refused, counted from 1
		sizes  []int
	}{
		"One":         {"There is one.", 1, 0, []int{1}},
		"Two":         {"The second is alone in a batch of two.", 2, 0, []int{1, 1}},
		"Many":        {"They grow, up to a limit.", 60, 0, []int{1, 2, 4, 8, 16, 16, 13}},
		"FirstFails":  {"What is refused is refused once.", 60, 1, []int{1}},
		"ThirdFails":  {"What was sent with it is done.", 60, 3, []int{1, 2}},
		"FourthFails": {"The others of its batch were sent at the same time.", 60, 4, []int{1, 2, 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			var sizes []int
			under, sent := 0, 0
			c.answer = func(plan.Operation) *write.Result {
				fails := false
				c.locked(func() {
					if under++; under == 1 {
						sizes = append(sizes, 0)
					}
					sizes[len(sizes)-1]++
					sent++
					fails = sent == tc.fails
				})
				pass(time.Millisecond) // All of a batch are under way by then.
				c.locked(func() { under-- })
				if fails {
					return &write.Result{Class: write.Terminal, Err: errRefused}
				}
				return nil
			}
			text := strings.NewReplacer("len(found) < 3", "len(found) < object.spec.want", "${1..3-len(found)}", "${1..object.spec.want-len(found)}").Replace(three)
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {want: `+strconv.Itoa(tc.want)+`}}`)
			runWith(t, c, engine.Housekeeping{}, families(t, text), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				want := tc.sizes
				if tc.fails > 0 { // The next attempt begins with one again.
					want = append(want, 1)
				}
				if diff := cmp.Diff(want, sizes[:min(len(sizes), len(want))]); diff != "" {
					t.Errorf("%s\nbatches (-want +got):\n%s", tc.reason, diff)
				}
				if made := len(c.list(items)); made != tc.want {
					t.Errorf("there are %d items in the end, want %d", made, tc.want)
				}
			})
		})
	}
}
