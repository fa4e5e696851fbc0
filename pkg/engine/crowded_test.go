package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// TestCrowdedReads holds that an object which is not read, as too many reads of its resource are still without an answer, is
// looked at again later: its rules do not fail, and nothing is read to find out what became of a write that was not sent.
func TestCrowdedReads(t *testing.T) {
	const objects, most = 40, 20 // so many reads may wait, with those that are about to
	all := func(t *testing.T, c *cluster, text string) {
		t.Helper()
		for i := range objects {
			c.put(t, strings.Replace(text, "name: a", fmt.Sprintf("name: w%d", i), 1))
		}
	}
	tests := map[string]struct {
		reason       string
		before, then string // each object, and what becomes of it once no read is answered
		want         int    // children in the end
	}{
		"Verified": {
			reason: "The object is read before its child is made.",
			then:   parent, want: objects,
		},
		"Observed": {
			reason: "The object has left its selection, and is read as rules may have left something.",
			before: parent, then: small, want: 0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.tune = workers(4)
			c.unknown = true // Caches are not fresh, so that objects are read.
			if tc.before != "" {
				all(t, c, tc.before)
			}
			runWith(t, c, engine.Housekeeping{}, families(t, pruned), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				answer := make(chan struct{})
				c.locked(func() { c.gets, c.liveOK = 0, func() error { <-answer; return nil } })
				all(t, c, tc.then)
				pass(10 * time.Minute)
				if failing := e.Quarantined(); len(failing) > 0 {
					t.Errorf("%s\n%d are in quarantine, as %v", tc.reason, len(failing), failing[0].Err)
				}
				c.locked(func() {
					if c.gets > most {
						t.Errorf("%s\n%d reads are under way, want at most %d", tc.reason, c.gets, most)
					}
				})
				close(answer)
				pass(10 * time.Minute)
				if got := len(c.list(items)); got != tc.want {
					t.Errorf("%s\n%d children in the end, want %d", tc.reason, got, tc.want)
				}
			})
		})
	}
}
