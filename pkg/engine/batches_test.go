package engine_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

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

// TestElementsAreIndependent holds that the API server's refusal of one element does not keep a rule from the others, but from its
// later actions and its Events.
func TestElementsAreIndependent(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	for _, name := range []string{"p", "q", "r"} {
		c.put(t, newItem(name, "labels: {of: a}"))
	}
	var sent []string
	c.answer = func(o plan.Operation) *write.Result {
		c.locked(func() { sent = append(sent, string(o.Type)+" "+o.Target.Name) })
		if o.Target.Name == "p" && o.Type == plan.Merge {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: each
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    actions:
    - forEach: {item: "${found}"}
      patch: {target: item, merge: {spec: {x: 2}}}
    - delete: {target: found}
    - event: {reason: Done, message: done}
`), func(t *testing.T, _ *engine.Engine) {
		pass(time.Millisecond)
		c.locked(func() {
			if diff := cmp.Diff([]string{"merge p", "merge q", "merge r"}, sent[:min(len(sent), 3)]); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if slices.Contains(sent, "delete q") || slices.Contains(c.events, "Done") {
				t.Errorf("a later action was carried out: %v, %v", sent, c.events)
			}
		})
	})
}

// TestFailuresStarveNothing holds that elements which fail for ever, with answers that do not say so, keep no other element from being
// tried: not more of them than an attempt puts up with, and not in what order they stand.
func TestFailuresStarveNothing(t *testing.T) {
	for name, failing := range map[string]int{"Three": 3, "Seven": 7} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.answer = func(o plan.Operation) *write.Result {
				if n, _ := strconv.Atoi(strings.TrimPrefix(o.Target.Name, "e-")); n <= failing {
					return &write.Result{Class: write.Ambiguous, Err: apierrors.NewInternalError(errRefused)}
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: each
    watch: widgets
    actions:
    - forEach: {num: "${1..9}"}
      apply: {resource: items, manifest: {metadata: {name: "e-${num}"}, spec: {x: 1}}}
`), func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				if got, want := len(c.list(items)), 9-failing; got != want {
					t.Errorf("%d elements were written, want %d", got, want)
				}
			})
		})
	}
}

// TestActionsWait holds which requests of a rule are sent, in one second, after one that fails.
func TestActionsWait(t *testing.T) {
	refused := write.Result{Class: write.Terminal, Err: errRefused}
	for name, tc := range map[string]struct {
		reason, actions string
		fails           string // how the names begin of what is written
		how             write.Result
		want            []string
	}{
		"JoinedPatch": {
			reason: "The second action is in the request of the first, so what it does elsewhere waits as well.",
			actions: `
    - patch: {target: head, merge: {spec: {x: 1}}}
    - patch: {target: found, merge: {spec: {z: 1}}}`,
			fails: "p", how: refused, want: []string{"merge p"},
		},
		"JoinedApply": {
			reason: "The third action is in the request of the first.",
			actions: `
    - apply: {resource: items, manifest: {metadata: {name: c}, spec: {x: 1}}}
    - delete: {target: found}
    - apply: {resource: items, manifest: {metadata: {name: c}, spec: {z: 1}}}`,
			fails: "c", how: refused, want: []string{"apply c"},
		},
		"Overloaded": {
			reason: "It would refuse the other elements, too.",
			actions: `
    - patch: {target: found, merge: {spec: {x: 1}}}`,
			fails: "p", how: write.Result{Class: write.Overloaded, Err: apierrors.NewTooManyRequests("busy", 60), RetryAfter: time.Minute},
			want: []string{"merge p"},
		},
		"WebhookDown": {
			reason: "It may be for one object alone, but each of the other elements might take as long.",
			actions: `
    - patch: {target: found, merge: {spec: {x: 1}}}`,
			how:  write.Result{Class: write.Ambiguous, Err: apierrors.NewInternalError(errRefused), RetryAfter: time.Minute},
			want: []string{"merge p", "merge q", "merge r"},
		},
		"NameTaken": {
			reason: "That one is about to go may take for ever, and is no failure to tell of.",
			actions: `
    - forEach: {name: "${['x', 'y']}"}
      apply: {resource: items, manifest: {metadata: {name: "${name}"}, spec: {x: 1}}}
    - patch: {merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}`,
			fails: "x", how: write.Result{Class: write.Taken, Err: errRefused}, want: []string{"apply x", "apply y", "merge a", "apply x"}, // And again.
		},
		"Finalizer": {
			reason: "Nothing is made that nobody would clean up.",
			actions: `
    - apply: {resource: items, manifest: {metadata: {name: x}, spec: {text: "${failure?.reason ?? 'none'}"}}}
    onDelete:
      actions: [{event: {reason: Bye, message: bye}}]`,
			fails: "a", how: refused, want: []string{"merge a"},
		},
		"CreationsThatReadFailure": {
			reason: "They end with the first that is refused, as all creations.",
			actions: `
    - when: failure == nil
      forEach: {i: "${1..100}"}
      create: {in: found, manifest: {metadata: {generateName: x-, labels: {of: "${object.metadata.name}"}}, spec: {}}}`,
			how: refused, want: []string{"create "},
		},
		"OrderAmongThoseThatReadFailure": {
			reason: "Each waits for those before it.",
			actions: `
    - patch: {target: found, merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}
    - when: failure == nil
      delete: {target: found}`,
			fails: "p", how: refused, want: []string{"merge p", "merge q", "merge r", "merge s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			for _, name := range []string{"p", "q", "r", "s"} {
				c.put(t, newItem(name, "labels: {of: a}"))
			}
			var sent []string
			c.answer = func(o plan.Operation) *write.Result {
				target := o.Target.Name
				if o.Type == plan.Create {
					target = ""
				}
				c.locked(func() { sent = append(sent, string(o.Type)+" "+target) })
				if strings.HasPrefix(target, tc.fails) {
					return new(tc.how)
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: each
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    let: {head: "take(found, 1)"}
    limits: {maxObjects: 100%}
    actions:`+tc.actions+"\n"), func(t *testing.T, _ *engine.Engine) {
				pass(5 * time.Millisecond) // Before it is tried again.
				c.locked(func() {
					if diff := cmp.Diff(tc.want, sent); diff != "" {
						t.Errorf("%s Sent (-want +got):\n%s", tc.reason, diff)
					}
				})
			})
		})
	}
}
