package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestEventsOfLostAnswers holds that what was written is told of once, even if the answer never
// came and nothing is left to do when it is looked at again, and that what was not written is
// not told of.
func TestEventsOfLostAnswers(t *testing.T) {
	const grown = `{metadata: {namespace: ns, name: a}, spec: {size: 3}}`
	forbidden := func() error { return apierrors.NewForbidden(schema.GroupResource{}, "a", errRefused) }
	unreachable := func() error { return apierrors.NewServiceUnavailable("it is down") }
	tests := map[string]struct {
		reason string
		rule   string
		stored bool         // the write is carried out before its answer is lost
		read   func() error // of the first minute
		other  string       // what somebody else makes of the object then
		want   []string
		writes int
	}{
		"Read": {
			reason: "A live read shows what was written.",
			rule:   atLeastThree, stored: true, want: []string{"Grown was 1"}, writes: 1,
		},
		"ReadLater": {
			reason: "In an outage nothing can be read either: it is told of when that is over.",
			rule:   atLeastThree, stored: true, read: unreachable, want: []string{"Grown was 1"}, writes: 1,
		},
		"NotStored": {
			reason: "It is written again, and told of once.",
			rule:   atLeastThree, want: []string{"Grown was 1"}, writes: 2,
		},
		"NotStoredReadLater": {
			reason: "The same, where that it was not written is found out late.",
			rule:   atLeastThree, read: unreachable, want: []string{"Grown was 1"}, writes: 2,
		},
		"Another": {
			reason: "Somebody else has done it.",
			rule:   atLeastThree, read: unreachable, other: grown, writes: 1,
		},
		"Undone": {
			reason: "Somebody else has changed the field since, so that nobody knows; it is written again.",
			rule:   atLeastThree, stored: true, read: unreachable, other: `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`,
			want: []string{"Grown was 2"}, writes: 2,
		},
		"Forbidden": {
			reason: "Who may not read it cannot know.",
			rule:   atLeastThree, stored: true, read: forbidden, writes: 1,
		},
		"StillWanted": {
			reason: "An episode that goes on is told of once.",
			rule:   seen, stored: true, read: unreachable, want: []string{"Seen m"}, writes: 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.liveOK = tc.read
			lost := false
			c.answer = func(operation plan.Operation) *write.Result {
				if lost {
					return nil
				}
				lost = true
				if tc.stored {
					c.carryOut(operation)
				}
				return &write.Result{Class: write.Ambiguous, Err: errRefused}
			}
			run(t, c, tc.rule, func(t *testing.T, _ *engine.Engine) {
				if tc.other != "" {
					c.put(t, tc.other)
				}
				pass(time.Minute)
				c.locked(func() { c.liveOK = nil })
				pass(10 * time.Minute)
				if diff := cmp.Diff(tc.want, c.events); diff != "" {
					t.Errorf("%s events (-want +got):\n%s", tc.reason, diff)
				}
				if len(c.writes) != tc.writes {
					t.Errorf("%s it was written %d times, want %d", tc.reason, len(c.writes), tc.writes)
				}
				if tc.want == nil {
					return
				}
				c.put(t, small)
				pass(time.Minute)
				again := append(slices.Clip(tc.want), "Grown was 1 (again)")
				if tc.rule == seen {
					again = tc.want
				}
				if diff := cmp.Diff(again, c.events); diff != "" {
					t.Errorf("a second episode (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// seen is a rule that never has enough.
const seen = `
  - name: seen
    watch: widgets
    actions:
    - patch: {merge: {spec: {size: 3}}}
    - event: {reason: Seen, message: m}
`

// TestFailingHoldsUpNoOtherRule holds that other rules write for an object while one fails, such as at a webhook that is away.
func TestFailingHoldsUpNoOtherRule(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(operation plan.Operation) *write.Result {
		if operation.Target.Name != "failing" {
			return nil
		}
		return &write.Result{Class: write.Ambiguous, Err: errRefused}
	}
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: failing
    watch: widgets
    actions:
    - apply: {resource: items, manifest: {metadata: {name: failing}}}
    - apply: {resource: items, manifest: {metadata: {name: behind}}}
  - name: fine
    watch: widgets
    actions: [{apply: {resource: items, manifest: {metadata: {name: fine}}}}]
`), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if diff := cmp.Diff([]string{"fine"}, c.list(items)); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
		if len(e.Quarantined()) != 1 {
			t.Errorf("in quarantine %v", isolated(e))
		}
	})
}
