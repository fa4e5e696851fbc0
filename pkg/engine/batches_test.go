package engine_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
