package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestSettleNamesWhoIsLate holds that who settles tells of one object for which nothing
// could be cleaned up, and of the heirs that have not done with it.
func TestSettleNamesWhoIsLate(t *testing.T) {
	const late = "cleaning up: rules that may take over what is left have not done with an object: "
	for name, tc := range map[string]struct {
		reason, rules string
		class         write.Class // of the answer to all writes, empty for none
		want          string
	}{
		"Waiting": {
			reason: "A timer is not waited for.", rules: strings.Replace(heir, "when:", "for: 5m\n    when:", 1),
			want: late + "widgets ns/a (set/heir)",
		},
		"Refused": {
			reason: "The other rule takes nothing over.", rules: heir + labelled,
			class: write.Terminal, want: late + "widgets ns/a (set/heir)",
		},
		"Overloaded": {
			reason: "It is tried again.", rules: heir + labelled,
			class: write.Overloaded, want: late + "widgets ns/a (set/heir)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.put(t, parent)
				c.put(t, another)
				s := remembering(t, families(t, pruned))
				if tc.class != "" {
					c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: tc.class, Err: errRefused} }
				}
				report, err := c.engineWith(s.house(false)).Settle(t.Context(), families(t, tc.rules))
				if err != nil || report.Unkept == nil || report.Unkept.Error() != tc.want {
					t.Errorf("%s\nerr %v, unkept: %v\nwant %s", tc.reason, err, report.Unkept, tc.want)
				}
			})
		})
	}
}
