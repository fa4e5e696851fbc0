package cleanup_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	finalizer = leftover(plan.LeftFinalizer)
	fields    = leftover(plan.LeftFields)
	children  = leftover(plan.LeftChildren)
)

func removing(l plan.Leftover) plan.Leftover {
	l.Release = plan.RemoveFields
	return l
}

func in(namespace string, l plan.Leftover) plan.Leftover {
	l.Namespace = namespace
	return l
}

func of(r plan.Rule, l plan.Leftover) plan.Leftover {
	l.Rule = r
	return l
}

func TestSweep(t *testing.T) {
	const every = "widgets.v1.example.com"
	tests := map[string]struct {
		reason    string
		leftovers []plan.Leftover
		objects   []string
		sent      []string
		lists     []string
		gone      []string // of the objects
	}{
		"Nothing": {reason: "Without leftovers nothing is asked."},
		"Clean": {
			reason:    "One list shows that nothing is left.",
			leftovers: []plan.Leftover{finalizer}, objects: []string{`name: x, finalizers: [HOLD-b, x/y]`}, lists: []string{every},
		},
		"Finalizer": {
			reason:    "A second list shows that it is gone.",
			leftovers: []plan.Leftover{finalizer}, objects: []string{`name: x, finalizers: [HOLD-a]`, `name: z`, `name: xx, finalizers: [HOLD-a, HOLD-b]`},
			sent: []string{"merge x: written", "merge xx: written"}, lists: []string{every, every},
		},
		"FinalizerGoing": {
			reason:    "What waits for the finalizer goes at once.",
			leftovers: []plan.Leftover{finalizer}, objects: []string{`name: x, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [HOLD-a]`},
			sent: []string{"merge x: written"}, lists: []string{every, every}, gone: []string{"x"},
		},
		"Fields": {
			reason:    "Of several subresources at once, where values stay.",
			leftovers: []plan.Leftover{fields}, objects: []string{`name: x, managedFields: [USER, APPLIED-a, STATUS-a]`},
			sent: []string{"json x: written"}, lists: []string{every, every},
		},
		"FieldsRemove": {
			reason:    "One request for each subresource, where they go.",
			leftovers: []plan.Leftover{removing(fields)}, objects: []string{`name: x, managedFields: [USER, APPLIED-a, STATUS-a]`},
			sent: []string{"apply x: written", "apply/status x: written"}, lists: []string{every, every},
		},
		"Children": {
			reason:    "Children are found by their label.",
			leftovers: []plan.Leftover{children},
			objects:   []string{`name: x, labels: {LABELS-a}, managedFields: [MADE-a]`, `name: xx, labels: {LABELS-a}, managedFields: [USER]`, `name: z`},
			sent:      []string{"delete x: written"}, lists: []string{every + " with dyncontroller.dev/set", every + " with dyncontroller.dev/set"}, gone: []string{"x"},
		},
		"ChildHeld": {
			reason:    "A child that another holds is on its way, and that is all there is to do.",
			leftovers: []plan.Leftover{children}, objects: []string{`name: x, labels: {LABELS-a}, finalizers: [x/y], managedFields: [MADE-a]`},
			sent: []string{"delete x: written"}, lists: []string{every + " with dyncontroller.dev/set", every + " with dyncontroller.dev/set"},
		},
		"Created": {
			reason:    "What was created is not even looked for.",
			leftovers: []plan.Leftover{leftover(plan.LeftCreated)}, objects: []string{`name: x, labels: {LABELS-a}`},
		},
		"Together": {
			reason:    "All that is left on a resource takes one list, and one object after another.",
			leftovers: []plan.Leftover{finalizer, of(other, finalizer), fields, children},
			objects:   []string{`name: x, finalizers: [HOLD-a, HOLD-b], managedFields: [USER, APPLIED-a]`, `name: xx, labels: {LABELS-a}, managedFields: [MADE-a]`},
			sent:      []string{"merge x: written", "merge x: written", "json x: written", "delete xx: written"}, lists: []string{every, every}, gone: []string{"xx"},
		},
		"ChildHeldByUs": {
			reason:    "A child that is held by another rule that is gone is let go once it is deleted.",
			leftovers: []plan.Leftover{children, of(other, finalizer)},
			objects:   []string{`name: x, labels: {LABELS-a}, finalizers: [HOLD-b], managedFields: [MADE-a]`},
			sent:      []string{"delete x: written", "merge x: written"}, lists: []string{every, every, every}, gone: []string{"x"},
		},
		"Namespaces": {
			reason:    "Only where the rule was.",
			leftovers: []plan.Leftover{in("a", finalizer), in("b", finalizer)},
			objects:   []string{`name: x, namespace: a, finalizers: [HOLD-a]`, `name: xx, namespace: c, finalizers: [HOLD-a]`},
			sent:      []string{"merge x: written"}, lists: []string{every + " in a", every + " in a", every + " in b"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tc.objects...)
			before := slices.Sorted(maps.Keys(c.objects))
			done, err := cleanup.Sweep(t.Context(), c.options(), tc.leftovers)
			if err != nil {
				t.Errorf("%s %v", tc.reason, err)
			}
			if diff := cmp.Diff(sorted(tc.leftovers), done); diff != "" {
				t.Errorf("%s done (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.sent, c.sent); diff != "" {
				t.Errorf("%s sent (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.lists, c.lists); diff != "" {
				t.Errorf("%s listed (-want +got):\n%s", tc.reason, diff)
			}
			var gone []string
			for _, key := range before {
				if c.objects[key] == nil {
					gone = append(gone, strings.TrimPrefix(key, "ns/"))
				}
			}
			if diff := cmp.Diff(tc.gone, gone); diff != "" {
				t.Errorf("%s gone (-want +got):\n%s", tc.reason, diff)
			}
			if c.reports != len(c.sent) {
				t.Errorf("%s %d of %d requests were reported", tc.reason, c.reports, len(c.sent))
			}
		})
	}
}

func sorted(leftovers []plan.Leftover) []plan.Leftover {
	return slices.SortedFunc(slices.Values(leftovers), plan.Leftover.Compare)
}
