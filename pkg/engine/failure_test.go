package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// goes is a rule that tells why it cannot delete.
const goes = `
  - name: goes
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    actions:
    - patch: {merge: {spec: {text: "${failure?.message ?? 'none'}"}}}
    - delete: {target: found}
`

// telling is a cluster with one item that cannot be deleted, and what the rule has told of it.
func telling(t *testing.T, refuse func(try int) error) (c *cluster, told func() []any) {
	c = newCluster()
	c.put(t, newItem("p", "labels: {of: a}"))
	var all []any
	tries := 0
	c.answer = func(o plan.Operation) *write.Result {
		var err error
		c.locked(func() {
			if o.Type == plan.Merge {
				text, _ := plan.Lookup(o.Predicted, plan.Path{"spec", "text"})
				all = append(all, text)
				return
			}
			tries++
			err = refuse(tries)
		})
		switch {
		case err == nil:
			return nil
		case apierrors.IsTooManyRequests(err):
			return &write.Result{Class: write.Overloaded, Err: err, RetryAfter: time.Second}
		default:
			return &write.Result{Class: write.Terminal, Err: err}
		}
	}
	return c, func() (out []any) {
		c.locked(func() { out = slices.Clone(all) })
		return out
	}
}

// TestFailureIsRead holds that the actions of a rule can say why its other ones are refused, wherever they are written, and
// that they are sent once for each reason.
func TestFailureIsRead(t *testing.T) {
	head, actions, _ := strings.Cut(goes, "    - patch")
	tells, deletes, _ := strings.Cut(actions, "    - delete")
	for name, text := range map[string]string{"Before": goes, "After": head + "    - delete" + deletes + "    - patch" + tells} {
		t.Run(name, func(t *testing.T) {
			refuses, tries := true, 0
			c, told := telling(t, func(try int) error {
				tries = try
				if refuses {
					return errRefused
				}
				return nil
			})
			c.put(t, small)
			runWith(t, c, engine.Housekeeping{}, families(t, text), func(t *testing.T, _ *engine.Engine) {
				pass(time.Second)
				var tried int
				c.locked(func() { tried = tries })
				if diff := cmp.Diff([]any{errRefused.Error()}, told()); diff != "" || tried != 1 {
					t.Errorf("told after %d tries (-want +got):\n%s", tried, diff)
				}
				pass(time.Hour)
				c.locked(func() { refuses = false })
				pass(time.Hour)
				if diff := cmp.Diff([]any{errRefused.Error(), "none"}, told()); diff != "" {
					t.Errorf("told in the end (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFailureOfAnotherStart holds that a process that knows of no failure does not take back what one before it has told, also
// where its first requests are not answered, or the rule waits at first.
func TestFailureOfAnotherStart(t *testing.T) {
	for name, text := range map[string]string{
		"Asked":    goes,
		"Unsynced": goes,
		"Waiting":  strings.Replace(goes, "    watch: widgets\n", "    watch: widgets\n    when: object.spec.size == 1\n    for: 10s\n", 1),
	} {
		t.Run(name, func(t *testing.T) {
			c, told := telling(t, func(try int) error {
				if try < 3 {
					return apierrors.NewTooManyRequests("busy", 1)
				}
				return errRefused
			})
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 1, text: `+errRefused.Error()+`}}`)
			c.unsynced[allItems] = name == "Unsynced"
			runWith(t, c, engine.Housekeeping{}, families(t, text), func(t *testing.T, _ *engine.Engine) {
				pass(time.Second)
				c.locked(func() { delete(c.unsynced, allItems) })
				c.handler.Synced(allItems)
				pass(time.Hour)
				if got := told(); got != nil {
					t.Errorf("told %q", got)
				}
			})
		})
	}
}

// TestFailureOfEarlierRules holds that a failure is not taken back where the rule has changed, and its actions have other numbers.
func TestFailureOfEarlierRules(t *testing.T) {
	c, told := telling(t, func(int) error { return errRefused })
	c.put(t, small)
	runWith(t, c, engine.Housekeeping{}, families(t, goes), func(t *testing.T, e *engine.Engine) {
		pass(2 * time.Second)
		e.SetRules(families(t, strings.Replace(goes, "    actions:\n", "    actions:\n    - when: object.spec?.size == 7\n      delete: {target: found}\n", 1)))
		pass(time.Hour)
		if diff := cmp.Diff([]any{errRefused.Error()}, told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestFailureChanges holds that another cause is told although its reason is the same, and that numbers are not told again.
func TestFailureChanges(t *testing.T) {
	because := func(text string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "items"}, "p", errors.New(text))
	}
	c, told := telling(t, func(try int) error {
		switch {
		case try < 3:
			return because(fmt.Sprintf("quota q has %d", try))
		case try == 3:
			return apierrors.NewTooManyRequests("busy", 1)
		default:
			return because("the label owner is missing")
		}
	})
	c.put(t, small)
	runWith(t, c, engine.Housekeeping{}, families(t, goes), func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		want := []any{because("quota q has 1").Error(), because("the label owner is missing").Error()}
		if diff := cmp.Diff(want, told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestFailureOfEarlierAction holds that what was refused is no failure any more once it was written, though a later action waits.
func TestFailureOfEarlierAction(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, newItem("p", "labels: {of: a}"))
	refuses := true
	var told []any
	c.answer = func(o plan.Operation) *write.Result {
		var result *write.Result
		c.locked(func() {
			text, tells := plan.Lookup(o.Predicted, plan.Path{"spec", "text"})
			switch {
			case tells:
				told = append(told, text)
			case o.Type == plan.Merge && refuses:
				result = &write.Result{Class: write.Terminal, Err: errRefused}
			case o.Type == plan.Delete:
				result = &write.Result{Class: write.Overloaded, Err: apierrors.NewTooManyRequests("busy", 1), RetryAfter: time.Minute}
			}
		})
		return result
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: goes
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    actions:
    - patch: {target: found, merge: {spec: {x: 2}}}
    - delete: {target: found}
    - patch: {merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}
`), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.locked(func() { refuses = false })
		pass(time.Hour)
		c.locked(func() {
			if diff := cmp.Diff([]any{"Refused", "none"}, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	})
}

// TestFailureHoldsFinalizer holds that an object stays while an action of onDelete is refused, also one that reads failure.
func TestFailureHoldsFinalizer(t *testing.T) {
	set := families(t, `
  - name: holds
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    onDelete:
      actions:
      - patch: {target: found, merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}
`)
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [`+set.Rules()[0].ID.Finalizer()+`]}, spec: {size: 1}}`)
	c.put(t, newItem("p", "labels: {of: a}"))
	c.answer = func(o plan.Operation) *write.Result {
		if o.Target.Name == "p" {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if c.get("a") == nil {
			t.Error("it is gone")
		}
	})
}

// TestFailureIsSlow holds that an action that reads failure is sent as seldom as others where it is refused itself, or undoes itself.
func TestFailureIsSlow(t *testing.T) {
	for name, tc := range map[string]struct{ reason, actions string }{
		"Refused": {"It is refused itself, while the object changes all the time.", `
    - patch: {target: found, merge: {spec: {text: "${failure?.reason ?? 'none'} ${object.spec?.beat}"}}}`},
		"Undone": {"What it tells has the other action not tried any more.", `
    - when: object.spec?.text != 'Refused'
      delete: {target: found}
    - patch: {merge: {spec: {text: "${failure?.reason ?? 'none'}"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, newItem("p", "labels: {of: a}"))
			sent := 0
			c.answer = func(o plan.Operation) *write.Result {
				pass(5 * time.Millisecond)
				c.locked(func() { sent++ })
				if o.Target.Name == "p" {
					return &write.Result{Class: write.Terminal, Err: errRefused}
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: goes
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    actions:`+tc.actions+"\n"), func(t *testing.T, _ *engine.Engine) {
				for i := range 600 {
					if name == "Refused" {
						c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a}, spec: {size: 1, beat: b%d}}`, i))
					}
					pass(100 * time.Millisecond)
				}
				c.locked(func() {
					if sent < 2 || sent > 40 {
						t.Errorf("%s It was sent %d times in a minute, want at most 40", tc.reason, sent)
					}
				})
			})
		})
	}
}

// TestFailureIsMasked holds that what the API server answers tells no value of a Secret, whichever part of the answer has it.
func TestFailureIsMasked(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.put(t, login)
	c.put(t, newItem("p", "labels: {of: a}"))
	var told []any
	c.answer = func(o plan.Operation) *write.Result {
		if o.Target.Name == "p" {
			err := apierrors.NewForbidden(schema.GroupResource{Resource: "items"}, "p", errors.New(canary))
			err.ErrStatus.Reason = canary
			return &write.Result{Class: write.Terminal, Err: err}
		}
		c.locked(func() {
			text, _ := plan.Lookup(o.Predicted, plan.Path{"spec", "text"})
			told = append(told, text)
		})
		return nil
	}
	runWith(t, c, engine.Housekeeping{}, withSecrets(t, `
  - name: copies
    watch: widgets
    with:
      login: {resource: secrets, name: login}
      found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}
    limits: {maxObjects: 100%}
    actions:
    - patch: {target: found, merge: {spec: {text: "${login?.data.password}"}}}
    - patch: {merge: {spec: {text: "${(failure?.reason ?? 'none') + ': ' + (failure?.message ?? '')}"}}}
`), func(t *testing.T, _ *engine.Engine) {
		pass(time.Second)
		if text := fmt.Sprint(told); !strings.Contains(text, "Refused: ") || leaks(text) {
			t.Errorf("told %q", text)
		}
	})
}

// TestFailureOfJoinedDeletions holds that deletions that two rules want, and whose refusal has another text each time, are slowed, and
// that the reason is told, also by an engine that settles.
func TestFailureOfJoinedDeletions(t *testing.T) {
	tries := 0
	c, told := telling(t, func(try int) error {
		tries = try
		return apierrors.NewForbidden(schema.GroupResource{Resource: "items"}, "p", errors.New("request "+strings.Repeat("x", try)))
	})
	c.put(t, small)
	set := families(t, goes+strings.Replace(strings.Split(goes, "    - patch")[0], "name: goes", "name: also", 1)+"    - delete: {target: found}\n")
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		var tried int
		c.locked(func() { tried = tries })
		if n := len(told()); n == 0 || tried > 10 {
			t.Errorf("%d tries in a minute, told %d times", tried, n)
		}
	})
}

// TestFailureSettles holds that an engine that settles tells a failure once, whatever its text.
func TestFailureSettles(t *testing.T) {
	c, told := telling(t, func(try int) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "items"}, "p", errors.New("request "+strings.Repeat("x", try)))
	})
	c.put(t, small)
	report, err := c.engine().Settle(t.Context(), families(t, goes))
	if err != nil || len(told()) != 1 || len(report.Failures) != 1 {
		t.Errorf("told %q: %+v, %v", told(), report, err)
	}
}
