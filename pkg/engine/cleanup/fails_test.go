package cleanup_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestSweepWhereItFails holds what becomes of answers that are not what was wanted.
func TestSweepWhereItFails(t *testing.T) {
	refused := func(class write.Class, text string) *write.Result {
		return &write.Result{Class: class, Err: errors.New(text)}
	}
	tests := map[string]struct {
		reason string
		// answer to the nth request; nil to write.
		answer func(c *cluster, n int, o plan.Operation) *write.Result
		done   bool
		want   string // in the error
		sent   []string
	}{
		"Stale": {
			reason: "Somebody else wrote: the object is looked at again.",
			answer: func(c *cluster, n int, _ plan.Operation) *write.Result {
				if n == 0 {
					c.modify("x")
				}
				return nil
			},
			done: true, sent: []string{"merge x: stale", "merge x: written", "merge xx: written"},
		},
		"StaleForEver": {
			reason: "That ends, and does not stop the others.",
			answer: func(c *cluster, _ int, _ plan.Operation) *write.Result {
				c.modify("x")
				return nil
			},
			want: "giving up on widgets ns/x after 5 requests: the object has been modified",
			sent: slices.Concat(slices.Repeat([]string{"merge x: stale"}, 5), []string{"merge xx: written"}, slices.Repeat([]string{"merge x: stale"}, 5)),
		},
		"Gone": {
			reason: "Somebody deleted it: nothing is left on it.",
			answer: func(c *cluster, _ int, _ plan.Operation) *write.Result {
				delete(c.objects, "ns/x")
				return nil
			},
			done: true, sent: []string{"merge x: stale", "merge xx: written"},
		},
		"Committed": {
			reason: "It happened though the answer was lost.",
			answer: func(c *cluster, n int, o plan.Operation) *write.Result {
				if n > 0 {
					return nil
				}
				c.write(o)
				return refused(write.Ambiguous, "EOF")
			},
			done: true, sent: []string{"merge x: ambiguous", "merge xx: written"},
		},
		"CommittedAndGone": {
			reason: "The answer was lost, and the object went with its finalizer.",
			answer: func(c *cluster, n int, o plan.Operation) *write.Result {
				if n > 0 {
					return nil
				}
				delete(c.objects, "ns/"+o.Target.Name)
				return refused(write.Ambiguous, "EOF")
			},
			done: true, sent: []string{"merge x: ambiguous", "merge xx: written"},
		},
		"NotCommitted": {
			reason: "It did not, so it is sent again.",
			answer: func(_ *cluster, n int, _ plan.Operation) *write.Result {
				if n > 0 {
					return nil
				}
				return refused(write.Ambiguous, "EOF")
			},
			done: true, sent: []string{"merge x: ambiguous", "merge x: written", "merge xx: written"},
		},
		"Refused": {
			reason: "One object resists, the other does not.",
			answer: func(_ *cluster, _ int, o plan.Operation) *write.Result {
				if o.Target.Name == "x" {
					return refused(write.Terminal, `widgets "x" is forbidden: cannot patch`)
				}
				return nil
			},
			want: `cleaning up finalizer of rule s/a on widgets.v1.example.com: widgets "x" is forbidden: cannot patch`,
			sent: []string{"merge x: terminal", "merge xx: written", "merge x: terminal"},
		},
		"RefusedSilently": {
			reason: "A refusal without a reason is one.",
			answer: func(*cluster, int, plan.Operation) *write.Result { return &write.Result{Class: write.OwnedByAnother} },
			want:   "writing widgets ns/x: owned by another", sent: []string{"merge x: owned by another", "merge xx: owned by another"},
		},
		"NoEffect": {
			reason: "What is accepted and changes nothing is not repeated for ever.",
			answer: func(c *cluster, _ int, o plan.Operation) *write.Result {
				return &write.Result{Class: write.Unchanged, Object: c.objects["ns/"+o.Target.Name]}
			},
			want: "giving up on widgets ns/xx after 5 requests: it is accepted, and nothing changes",
			sent: slices.Concat(slices.Repeat([]string{"merge x: unchanged"}, 5), slices.Repeat([]string{"merge xx: unchanged"}, 5)),
		},
		"LastFinalizer": {
			reason: "The API server answers with the old version where the object goes with its last finalizer.",
			answer: func(c *cluster, _ int, o plan.Operation) *write.Result {
				delete(c.objects, "ns/"+o.Target.Name)
				return &write.Result{Class: write.Unchanged, Object: with(o.Predicted, "resourceVersion", o.Target.ResourceVersion)}
			},
			done: true, sent: []string{"merge x: unchanged", "merge xx: unchanged"},
		},
		"Unreachable": {
			reason: "Where nothing arrives the rest is not tried.",
			answer: func(*cluster, int, plan.Operation) *write.Result {
				return refused(write.Unreachable, "connection refused")
			},
			want: "connection refused", sent: []string{"merge x: unreachable"},
		},
		"DryRun": {
			reason: "Nobody is to blame, and what was simulated before is not told again.", done: true,
			answer: func(_ *cluster, n int, o plan.Operation) *write.Result {
				if n >= 2 {
					return &write.Result{Class: write.Repeated}
				}
				return &write.Result{Class: write.Simulated, Object: o.Predicted}
			},
			sent: []string{"merge x: simulated", "merge xx: simulated", "merge x: repeated", "merge xx: repeated"},
		},
		"LookFails": {
			reason: "What cannot be read again is left for later.",
			answer: func(c *cluster, _ int, _ plan.Operation) *write.Result {
				c.getErr = errors.New("it broke")
				return refused(write.Ambiguous, "EOF")
			},
			want: "EOF\nreading widgets ns/x again: it broke", sent: []string{"merge x: ambiguous", "merge xx: ambiguous"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, `name: x, finalizers: [HOLD-a]`, `name: xx, finalizers: [HOLD-a]`)
			n := 0
			c.answer = func(o plan.Operation) *write.Result {
				n++
				return tc.answer(c, n-1, o)
			}
			done, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{finalizer})
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s want the error %q, got: %v", tc.reason, tc.want, err)
			}
			if (len(done) == 1) != tc.done {
				t.Errorf("%s done: %v", tc.reason, done)
			}
			if diff := cmp.Diff(tc.sent, c.sent); diff != "" {
				t.Errorf("%s sent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSweepWhereItCannotLook holds that what was not seen is not taken for absent.
func TestSweepWhereItCannotLook(t *testing.T) {
	later := schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "widgets"}
	forbidden := apierrors.NewForbidden(widgets.GroupResource(), "", errors.New(`cannot list resource "widgets"`))
	tests := map[string]struct {
		reason   string
		leftover plan.Leftover
		change   func(c *cluster)
		done     bool
		want     string
		sent     []string
	}{
		"Gone": {
			"The resource is gone, and with it all that was on its objects.", finalizer,
			func(c *cluster) { c.served = schema.GroupVersionResource{} }, true, "", nil,
		},
		"OtherVersion": {
			"It is served in another version: the objects are there still.", finalizer,
			func(c *cluster) { c.served = later }, true, "",
			[]string{"merge x: written"},
		},
		"DiscoveryFails": {
			"Whether it is served is not known.", finalizer,
			func(c *cluster) {
				c.served, c.discover = schema.GroupVersionResource{}, errors.New("the server is unavailable")
			}, false,
			"asking how widgets.example.com is served: the server is unavailable", nil,
		},
		"ServedButNotFound": {
			"It is served, and yet not found.", finalizer,
			func(c *cluster) { c.listErr = func() error { return notFound() } }, false,
			"cleaning up widgets.v1.example.com: it is served, but", nil,
		},
		"Forbidden": {
			"The error says which right is missing.", in("ns", finalizer),
			func(c *cluster) { c.listErr = func() error { return forbidden } }, false,
			`cleaning up widgets.v1.example.com -n ns: widgets.example.com is forbidden: cannot list resource "widgets"`, nil,
		},
		"ForbiddenAndGone": {
			"Who may list is not asked whether there is anything to list.", finalizer,
			func(c *cluster) {
				c.served, c.listErr = schema.GroupVersionResource{}, func() error { return forbidden }
			}, true, "", nil,
		},
		"ForbiddenAndUnknown": {
			"Whether it is served is not known.", finalizer,
			func(c *cluster) {
				c.served, c.listErr = schema.GroupVersionResource{}, func() error { return forbidden }
				c.discover = errors.New("the server is unavailable")
			}, false,
			`cannot list resource "widgets"`, nil,
		},
		"ForbiddenInOtherVersion": {
			"The right is the same for all versions.", finalizer,
			func(c *cluster) { c.served, c.listErr = later, func() error { return forbidden } }, false,
			`cannot list resource "widgets"`, nil,
		},
		"Broken": {
			"Any other error is one.", finalizer,
			func(c *cluster) { c.listErr = func() error { return errors.New("connection refused") } }, false, "connection refused", nil,
		},
		"Expired": {
			"A list that expires before anything is written is no list.", finalizer,
			func(c *cluster) { c.listErr = func() error { return apierrors.NewResourceExpired("too old") } }, false, "too old", nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, `name: x, finalizers: [HOLD-a]`)
			tc.change(c)
			done, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{tc.leftover})
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s want the error %q, got: %v", tc.reason, tc.want, err)
			}
			if tc.done != slices.Equal(done, []plan.Leftover{tc.leftover}) {
				t.Errorf("%s done: %v", tc.reason, done)
			}
			if diff := cmp.Diff(tc.sent, c.sent); diff != "" {
				t.Errorf("%s sent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// clusterScoped serves widgets without a namespace.
type clusterScoped struct{ *cluster }

// Served implements cleanup.Reader.
func (c clusterScoped) Served(context.Context, schema.GroupResource) (cleanup.Resource, bool, error) {
	return cleanup.Resource{GVR: widgets}, true, nil
}

// TestSweepOfClusterScoped holds that a set of a namespace, which once named a
// resource without one, is not stuck with it.
func TestSweepOfClusterScoped(t *testing.T) {
	c := newCluster(t)
	c.listErr = func() error { return notFound() }
	options := c.options()
	options.Reader = clusterScoped{c}
	if done, err := cleanup.Sweep(t.Context(), options, []plan.Leftover{in("ns", finalizer)}); err != nil || len(done) != 1 {
		t.Errorf("got %v, %v", done, err)
	}
}
