package cleanup_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestLeft holds that what is left is found by one list of each resource, and that nothing is sent.
func TestLeft(t *testing.T) {
	created := leftover(plan.LeftCreated)
	tests := map[string]struct {
		reason    string
		leftovers []plan.Leftover
		objects   []string
		listErr   error
		left      []plan.Leftover
		lists     int
		ends      bool // before the end of the list
	}{
		"Nothing": {reason: "No object has anything of it.", leftovers: []plan.Leftover{finalizer, fields, children}, objects: []string{"name: x"}, lists: 1},
		"Some": {
			reason: "Each is found, on whatever object it is.", leftovers: []plan.Leftover{finalizer, of(other, finalizer), fields},
			objects: []string{"name: x, finalizers: [HOLD-a]", "name: y", "name: z, managedFields: [APPLIED-a]"},
			left:    []plan.Leftover{finalizer, fields}, lists: 1,
		},
		"All": {
			reason: "Then the rest of the list is of no use.", leftovers: []plan.Leftover{finalizer, of(other, finalizer)},
			objects: []string{"name: x, finalizers: [HOLD-a, HOLD-b]", "name: y, finalizers: [HOLD-a]"},
			left:    []plan.Leftover{finalizer, of(other, finalizer)}, lists: 1, ends: true,
		},
		"Unknown": {
			reason: "It cannot be found out.", leftovers: []plan.Leftover{finalizer, fields}, listErr: errors.New("no answer"),
			left: []plan.Leftover{finalizer, fields}, lists: 1,
		},
		"Created": {reason: "That is never cleaned up.", leftovers: []plan.Leftover{created}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, whole := newCluster(t, tc.objects...), 0
			c.after = func(int) { whole++ }
			c.listErr = func() error { return tc.listErr }
			left := cleanup.Left(t.Context(), c, tc.leftovers)
			if diff := cmp.Diff(tc.left, left, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s left (-want +got):\n%s", tc.reason, diff)
			}
			if tc.ends && whole > 0 {
				t.Errorf("%s It goes on to the end of the list", tc.reason)
			}
			if len(c.lists) != tc.lists || len(c.sent) > 0 {
				t.Errorf("%s It lists %q, and sends %q", tc.reason, c.lists, c.sent)
			}
		})
	}
}
