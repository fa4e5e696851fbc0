package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestSettleReportsPauses holds that --once fails for what is paused, and that the pause is
// stored by then.
func TestSettleReportsPauses(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 10)
	set := load(t, growing("{maxObjects: 20%}"))
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			report, err := c.engineWith(s.house(false)).Settle(t.Context(), set)
			if err != nil || report.Unkept != nil || len(report.Failures) != 8 {
				t.Fatalf("err %v, report %+v", err, report)
			}
			for _, failure := range report.Failures {
				if _, is := errors.AsType[*limit.PausedError](failure.Err); !is {
					t.Errorf("%v: %v", failure.Key, failure.Err)
				}
			}
		})
		if n, stored := c.grown(), s.paused(t); n != 2 || len(stored) != 1 {
			t.Errorf("it has written for %d objects, stored %v", n, stored)
		}
		c.restart()
	}
}

// paused lists the pauses that are recorded.
func (s *shelf) paused(t *testing.T) []limit.Pause {
	t.Helper()
	book, err := inventory.Load(context.WithoutCancel(t.Context()), s)
	if err != nil {
		t.Fatal(err)
	}
	var pauses []limit.Pause
	for rule, stored := range book.Limits() {
		if stored.Pause != nil {
			pauses = append(pauses, limit.Pause{Rule: rule, Pause: *stored.Pause})
		}
	}
	return pauses
}

// TestPauseSurvives holds that a rule is paused after a restart, until somebody has looked.
func TestPauseSurvives(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 6)
	set := load(t, growing("{maxObjects: 2}"))
	runWith(t, c, s.house(false), set, func(*testing.T, *engine.Engine) { pass(time.Minute) })
	c.restart()
	runWith(t, c, s.house(false), set, func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if n := c.grown(); n != 2 || len(e.Paused()) != 1 {
			t.Fatalf("it has written for %d objects, paused: %v", n, e.Paused())
		}
		if n := strings.Count(c.log.String(), "rule is paused"); n != 1 {
			t.Errorf("it was told %d times", n)
		}
		s.resume(e, "grows")
		pass(time.Minute)
		if n := c.grown(); n != 4 || len(s.paused(t)) != 1 || !s.paused(t)[0].Asked {
			t.Errorf("it has written for %d objects, stored %+v; want it paused again, asked already", n, s.paused(t))
		}
		s.resume(e)
		pass(time.Minute)
		if stored := s.paused(t); len(stored) != 1 || stored[0].Asked {
			t.Errorf("stored %+v; want it known that it is not asked any more", stored)
		}
	})
	c.restart()
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 3}")), func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if n := c.grown(); n != 6 {
			t.Errorf("the rule has changed and has written for %d objects", n)
		}
		if stored := s.paused(t); len(stored) != 0 {
			t.Errorf("stored %+v", stored)
		}
	})
}

// TestWaitsUntilPausesAreKnown holds that a rule with limits does not write before, and
// others do.
func TestWaitsUntilPausesAreKnown(t *testing.T) {
	c, s := newCluster(), &shelf{fails: errRefused}
	c.putMany(t, 3)
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 2}")+labelled), func(t *testing.T, e *engine.Engine) {
		pass(10 * time.Minute)
		if n := c.grown(); n != 0 || c.count() != 3 {
			t.Errorf("it has written for %d objects, %d writes in all", n, c.count())
		}
		s.failing(nil)
		pass(10 * time.Minute)
		if n := c.grown(); n != 2 || len(e.Paused()) != 1 || len(s.paused(t)) != 1 {
			t.Errorf("it has written for %d objects, paused %v, stored %v", n, e.Paused(), s.paused(t))
		}
	})
}

// TestPauseIsStoredAtLast holds that a rule stays paused though that cannot be stored, and
// that it is stored when it can.
func TestPauseIsStoredAtLast(t *testing.T) {
	c, s := newCluster(), &shelf{}
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 2}")), func(t *testing.T, e *engine.Engine) {
		c.putMany(t, 2)
		pass(time.Minute)
		s.failing(errRefused)
		c.putFrom(t, 2, 6)
		pass(time.Minute)
		if n := c.grown(); n != 2 || len(e.Paused()) != 1 {
			t.Errorf("it has written for %d objects, paused %v", n, e.Paused())
		}
		s.failing(nil)
		pass(10 * time.Minute)
		if stored := s.paused(t); len(stored) != 1 || stored[0] != e.Paused()[0] {
			t.Errorf("stored %+v", stored)
		}
	})
}

// TestCountsOutliveLeaders holds that a rule whose process is another one all the time writes for
// no more objects than it may, and that what was counted is stored now and then, not with
// each write.
func TestCountsOutliveLeaders(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		limit   string
		fails   bool
		objects int // that come with each process
		most    int // objects that are written for
		updates int // of what is stored, at most
	}{
		"One":      {reason: "Each is stored before the next.", limit: "{maxObjects: 1}", objects: 3, most: 1, updates: 3},
		"Few":      {reason: "The same.", limit: "{maxObjects: 5}", objects: 2, most: 5, updates: 7},
		"Many":     {reason: "All but a tenth of the limit, less one, by each of 10 processes.", limit: "{maxObjects: 100}", objects: 50, most: 100 + 10*9, updates: 25},
		"Unstored": {reason: "It cannot be stored.", limit: "{maxObjects: 100}", fails: true, objects: 50, most: 10},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			set := load(t, growing(tc.limit))
			for i := range 10 {
				runWith(t, c, s.house(false), set, func(t *testing.T, _ *engine.Engine) {
					pass(time.Second)
					if tc.fails {
						s.failing(errRefused)
					}
					for j := range tc.objects {
						c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: w%d}, spec: {size: 1}}`, i*tc.objects+j))
					}
					pass(10 * time.Second)
				})
				c.restart()
				if tc.fails {
					break
				}
			}
			if n := c.grown(); n > tc.most || n == 0 {
				t.Errorf("%s It has written for %d objects, want at most %d", tc.reason, n, tc.most)
			}
			if n := s.changes(); n > tc.updates {
				t.Errorf("%s %d updates of what is stored, want at most %d", tc.reason, n, tc.updates)
			}
		})
	}
}

// TestPausesOfRulesThatAreGone holds what is forgotten of them.
func TestPausesOfRulesThatAreGone(t *testing.T) {
	removed := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "removed"}
	away := plan.Rule{Kind: "ClusterRuleSet", Set: "away", Name: "rule"}
	pauses := map[plan.Rule]limit.Stored{
		removed: {Pause: &v1alpha1.Pause{Rule: "removed", Digest: "x"}}, away: {Pause: &v1alpha1.Pause{Rule: "rule", Digest: "x"}},
	}
	for _, tc := range []struct {
		reason string
		prune  bool
		want   int
	}{{"A set that is gone may come back.", false, 1}, {"Unless somebody says that it will not.", true, 0}} {
		c, s := newCluster(), &shelf{}
		if _, err := inventory.Update(t.Context(), s, func(b inventory.Book) inventory.Book { return b.Limiting(pauses) }); err != nil {
			t.Fatal(err)
		}
		runWith(t, c, s.house(tc.prune), load(t, labelled), func(t *testing.T, _ *engine.Engine) {
			pass(time.Minute)
			if stored := s.paused(t); len(stored) != tc.want {
				t.Errorf("%s stored %v", tc.reason, stored)
			}
		})
	}
}

// TestAnnotationOfAFile holds that a document can ask, and that it must ask anew.
func TestAnnotationOfAFile(t *testing.T) {
	asking := func(t *testing.T, names string) *rules.Set {
		t.Helper()
		with := strings.Replace(head, "{name: set}", "{name: set, annotations: {dyncontroller.dev/resume: \""+names+"\"}}", 1)
		return compile(t, rules.Options{}, with+"  rules:\n"+growing("{maxObjects: 1}"))
	}
	c, s := newCluster(), &shelf{}
	c.putMany(t, 4)
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 1}")), func(t *testing.T, e *engine.Engine) {
		for _, step := range []struct {
			names string
			want  int
		}{{"other", 1}, {"other, grows", 2}, {"grows", 2}, {"", 2}, {"grows", 3}} {
			e.SetRules(asking(t, step.names))
			pass(time.Minute)
			if n := c.grown(); n != step.want {
				t.Errorf("asked for %q, it has written for %d objects, want %d", step.names, n, step.want)
			}
		}
	})
}

// TestToldOfPauses holds that each pause is told when it comes.
func TestToldOfPauses(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 5)
	var mu sync.Mutex
	var told []string
	c.tune = func(options *engine.Options) {
		options.Observer = hooks{Observer: options.Observer, paused: func(p limit.Pause) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%s after %d", p.Rule, p.Objects))
		}}
	}
	runWith(t, c, s.house(false), load(t, growing("{maxObjects: 2}")), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		s.resume(e, "grows")
		pass(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]string{"set/grows after 2", "set/grows after 2"}, told); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
