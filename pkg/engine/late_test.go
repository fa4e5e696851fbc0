package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
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

// TestForgetsWhatIsNotLeft holds that an entry of a removed rule goes although other rules have not done with an object: of an
// entry under which nothing is left there is nothing to take over. It is looked for again only after a while.
func TestForgetsWhatIsNotLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		gone   time.Duration // after which nothing is left
		want   []string
		looks  int64
	}{
		"AtOnce":  {"The children of the rule are gone.", 0, nil, 1},
		"Later":   {"Its last child goes later.", time.Minute, nil, 3},
		"Nothing": {"There is one still.", time.Hour, []string{prunedText}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, parent)
			s := remembering(t, families(t, pruned))
			c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} }
			house := s.house(false)
			var looks atomic.Int64
			var gone atomic.Bool
			house.Left = func(_ context.Context, leftovers []plan.Leftover) []plan.Leftover {
				if looks.Add(1); gone.Load() || tc.gone == 0 {
					return nil
				}
				return leftovers
			}
			runWith(t, c, house, families(t, heir), func(t *testing.T, _ *engine.Engine) {
				pass(tc.gone % time.Hour)
				gone.Store(tc.gone < time.Hour)
				pass(11 * time.Minute)
				all := slices.DeleteFunc(s.all(t), func(text string) bool { return !strings.Contains(text, "set/pruned") })
				if diff := cmp.Diff(tc.want, all, cmpopts.EquateEmpty()); diff != "" || len(s.asked()) > 0 {
					t.Errorf("%s Swept %v, recorded (-want +got):\n%s\n%s", tc.reason, s.asked(), diff, c.logText())
				}
				if n := looks.Load(); n > tc.looks {
					t.Errorf("%s It is looked for %d times, want %d", tc.reason, n, tc.looks)
				}
			})
		})
	}
}

// TestForgetsSetsThatLeftNothing holds that the entry of a set that this process has run goes with the set, if nothing is left
// of it. Otherwise it is told of, and stays.
func TestForgetsSetsThatLeftNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		left   bool
		want   []string
		told   bool
	}{
		"Nothing":   {"There is nothing to clean up.", false, []string{prunedText}, false},
		"Something": {"Nobody has said that it may be cleaned up.", true, []string{strings.Replace(heldText, "set/", "other/", 1), prunedText}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			house := s.house(false)
			house.Left = func(_ context.Context, leftovers []plan.Leftover) []plan.Leftover {
				if tc.left {
					return leftovers
				}
				return nil
			}
			runWith(t, c, house, rules.Join(families(t, pruned), otherSet(t)), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				if len(s.all(t)) != 2 {
					t.Errorf("before the set is gone there is %v", s.all(t))
				}
				e.SetRules(families(t, pruned))
				pass(time.Minute)
				if diff := cmp.Diff(tc.want, s.all(t)); diff != "" || len(s.asked()) > 0 {
					t.Errorf("%s Swept %v, recorded (-want +got):\n%s\n%s", tc.reason, s.asked(), diff, c.logText())
				}
				if told := strings.Contains(c.logText(), "sets are gone"); told != tc.told {
					t.Errorf("%s It is told: %t\n%s", tc.reason, told, c.logText())
				}
			})
		})
	}
}
