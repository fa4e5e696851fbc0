package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// rolling is a rule that comes in waves.
const rolling = `
  - name: grows
    watch: widgets
    rollout: {waves: [1, 10%, 50%], soak: 10m, timeout: 30m, healthy: object.spec.sick != true}
    when: object.spec.size < 3
    actions: [{patch: {merge: {spec: {size: 3}}}}]
`

// sicken has an object become unhealthy, or healthy.
func (c *cluster) sicken(t *testing.T, name string, sick bool) {
	t.Helper()
	c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s}, spec: {size: %d, sick: %t}}`, name, size(c, name), sick))
}

// TestRollout holds for how many objects a rule writes in each wave, that it stops for one that is not healthy in time, tells so, and goes
// on when it is asked to.
func TestRollout(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 200)
	runWith(t, c, s.house(false), load(t, rolling), func(t *testing.T, e *engine.Engine) {
		grown := func(after time.Duration, want int) {
			t.Helper()
			pass(after)
			if n := c.grown(); n != want {
				t.Fatalf("it has written for %d objects, want %d", n, want)
			}
		}
		grown(time.Minute, 1)
		grown(8*time.Minute, 1)
		grown(2*time.Minute, 20)
		sick := slices.DeleteFunc(c.list(widgets), func(name string) bool { return size(c, name) != int64(3) })[7]
		c.sicken(t, sick, true)
		grown(29*time.Minute, 20)
		if len(e.Paused()) > 0 {
			t.Fatalf("paused %v", e.Paused())
		}
		grown(2*time.Minute, 20)
		want := "objects that it has written for are not healthy 30m later: widgets.example.com ns/" + sick +
			" (object.spec.sick != true is false; object.spec.sick is true); it has written for 20 of 200; " +
			"look at them, then put the annotation dyncontroller.dev/resume=grows on ClusterRuleSet set, in its file if it has one, or change the rule"
		if paused := e.Paused(); len(paused) != 1 || paused[0].String() != want {
			t.Fatalf("paused %v\nwant   [%s]", paused, want)
		}
		if stored := s.paused(t); len(stored) != 1 || stored[0] != e.Paused()[0] {
			t.Errorf("stored %v", stored)
		}
		if text := c.logText(); strings.Count(text, "rule is paused") != 1 || !strings.Contains(text, "ns/"+sick) {
			t.Errorf("the log tells\n%s", text)
		}
		c.sicken(t, sick, false)
		grown(time.Hour, 20)
		s.resume(e, "grows")
		grown(9*time.Minute, 20)
		grown(2*time.Minute, 100)
		grown(11*time.Minute, 200)
		c.putFrom(t, 200, 260)
		grown(time.Second, 260)
	})
}

// TestRolloutTells holds that each object that waits is told what for as soon as all are looked at, and that settling has not failed
// for it, whatever is settled first.
func TestRolloutTells(t *testing.T) {
	const want = "it waits for a later wave of the rollout: wave 1 of 3 is for 1 of 40 objects"
	c, s := newCluster(), &shelf{}
	c.putMany(t, 40)
	runWith(t, c, s.house(false), load(t, rolling), func(t *testing.T, e *engine.Engine) {
		pass(time.Second)
		waiting := 0
		for _, name := range c.list(widgets) {
			record := e.Recorded(engine.Key{GVR: widgets, Namespace: "ns", Name: name}).Records[0]
			if record.Trouble.Failure != "" || record.Trouble.Wave != want && record.Trouble.Wave != "" {
				t.Errorf("%s: %+v", name, record.Trouble)
			}
			if record.Trouble.Wave != "" {
				waiting++
			}
		}
		if waiting != 39 {
			t.Errorf("%d objects wait, want 39", waiting)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.putMany(t, 40)
		report, err := c.engineWith(s.house(false)).Settle(t.Context(), load(t, rolling))
		if err != nil || report.Written != 1 || len(report.Failures) > 0 || len(report.Deferred) != 39 {
			t.Fatalf("%d written, %d failures, %d wait, %v", report.Written, len(report.Failures), len(report.Deferred), err)
		}
		for _, one := range report.Deferred {
			if one.Err.Error() != want {
				t.Errorf("%s: %v", one.Key.Name, one.Err)
			}
		}
	})
}

// TestRolloutSurvives holds that processes that die, with what they had not stored, write for as many objects as one that lives, and that a
// wave goes on soaking.
func TestRolloutSurvives(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 200)
	synctest.Test(t, func(t *testing.T) {
		for _, want := range []int{1, 20, 100, 200} {
			c.after = func(_ plan.Operation, result write.Result) write.Result {
				s.failing(errRefused) // From its first write on, the process stores nothing any more.
				return result
			}
			stop := start(t, c.engineWith(s.house(false)), load(t, rolling))
			pass(11 * time.Minute)
			stop()
			c.restart()
			s.failing(nil)
			c.after = nil
			stop = start(t, c.engineWith(s.house(false)), load(t, rolling))
			pass(time.Minute)
			if n := c.grown(); n != want {
				t.Errorf("two processes have written for %d objects, want %d", n, want)
			}
			stop()
			c.restart()
		}
	})
}

// TestRolloutSuspended holds that a rule which is suspended stays where it is, and goes on from there: without a wave that nobody has seen
// healthy, and with time for what is not. So it is if no process runs when it is resumed.
func TestRolloutSuspended(t *testing.T) {
	whole := rolling + "  suspend: true\n"
	for name, tc := range map[string]struct {
		suspended string
		restart   bool // while it is suspended
		down      bool // when it is resumed
		healthy   bool // all of them are, and soak
	}{
		"Rule":             {suspended: strings.Replace(rolling, "watch:", "suspend: true\n    watch:", 1)},
		"Set":              {suspended: whole},
		"Restarted":        {suspended: whole, restart: true},
		"Down":             {suspended: whole, down: true},
		"Soaking":          {suspended: whole, healthy: true},
		"SoakingRestarted": {suspended: whole, restart: true, healthy: true},
		"SoakingDown":      {suspended: whole, down: true, healthy: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			c.putMany(t, 200)
			synctest.Test(t, func(t *testing.T) {
				e := c.engineWith(s.house(false))
				stop := start(t, e, load(t, rolling))
				again := func(rules string) {
					stop()
					c.restart()
					e = c.engineWith(s.house(false))
					stop = start(t, e, load(t, rules))
				}
				grown := func(after time.Duration, want int) {
					t.Helper()
					pass(after)
					if n := c.grown(); n != want || len(e.Paused()) > 0 {
						t.Fatalf("it has written for %d objects, want %d; paused %v", n, want, e.Paused())
					}
				}
				grown(12*time.Minute, 20)
				sick := slices.DeleteFunc(c.list(widgets), func(name string) bool { return size(c, name) != int64(3) })[7]
				c.sicken(t, sick, !tc.healthy)
				pass(time.Minute)
				e.SetRules(load(t, tc.suspended))
				grown(2*time.Hour, 20)
				if tc.restart {
					again(tc.suspended)
					grown(2*time.Hour, 20)
				}
				if tc.down {
					again(rolling)
				} else {
					e.SetRules(load(t, rolling))
				}
				if !tc.healthy {
					grown(29*time.Minute, 20)
					c.sicken(t, sick, false)
				}
				grown(9*time.Minute, 20)
				grown(2*time.Minute, 100)
				stop()
			})
		})
	}
}

// TestSuspendRestores holds that neither a rollout nor a pause keeps a rule that is suspended from restoring what it has changed.
func TestSuspendRestores(t *testing.T) {
	const resting = `
  - name: rests
    watch: widgets
    BOUNDS
    actions: [{patch: {merge: {spec: {size: SIZE}}, restore: true}}]
`
	for name, tc := range map[string]struct {
		bounds  string
		first   int // objects that are changed before
		restart bool
	}{
		"Rollout":          {"rollout: {waves: [1], soak: 10m, timeout: 30m, healthy: object.spec.sick != true}", 40, false},
		"RolloutRestarted": {"rollout: {waves: [1], soak: 10m, timeout: 30m, healthy: object.spec.sick != true}", 40, true},
		"Paused":           {"limits: {maxObjects: 3, per: 1h}", 3, false},
		"PausedRestarted":  {"limits: {maxObjects: 3, per: 1h}", 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{}
			c.putMany(t, 40)
			with := func(size, end string) *rules.Set {
				return load(t, strings.NewReplacer("BOUNDS", tc.bounds, "SIZE", size).Replace(resting)+end)
			}
			changed := func() (n int) {
				for _, name := range c.list(widgets) {
					if size(c, name) != int64(1) {
						n++
					}
				}
				return n
			}
			synctest.Test(t, func(t *testing.T) {
				e := c.engineWith(s.house(false))
				stop := start(t, e, with("3", ""))
				pass(30 * time.Minute)
				if n := changed(); n != tc.first {
					t.Fatalf("it has changed %d objects", n)
				}
				if tc.first == 40 {
					e.SetRules(with("4", ""))
					pass(time.Minute)
				}
				size := map[bool]string{true: "4", false: "3"}[tc.first == 40]
				if tc.restart {
					stop()
					c.restart()
					e = c.engineWith(s.house(false))
					stop = start(t, e, with(size, "  suspend: true\n"))
				} else {
					e.SetRules(with(size, "  suspend: true\n"))
				}
				pass(5 * time.Minute)
				if n := changed(); n != 0 {
					t.Errorf("%d objects are not restored:\n%s", n, c.logText())
				}
				stop()
			})
		})
	}
}

// TestRolloutStoresWaves holds that a wave is stored once, whatever time its writes take: no object of it waits for that of another one.
func TestRolloutStoresWaves(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 200)
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		pass(time.Second)
		return result
	}
	runWith(t, c, s.house(false), load(t, rolling), func(t *testing.T, _ *engine.Engine) {
		for _, want := range []int{20, 100, 200} { // The first two come at once.
			before := s.changes()
			pass(12 * time.Minute)
			// Which are chosen, that they soak, and that the wave is over.
			if n := c.grown(); n != want || s.changes()-before > 3 {
				t.Errorf("it has written for %d objects, want %d, and stored %d times", n, want, s.changes()-before)
			}
		}
	})
}

// TestRolloutGoesOn holds that a wave soaks on after a restart, and that nobody waits for an object that is gone.
func TestRolloutGoesOn(t *testing.T) {
	put := func(t *testing.T, c *cluster, name, metadata, spec string) {
		t.Helper()
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s, %s}, spec: {%s}}`, name, metadata, spec))
	}
	const selected = `labels: {other: "yes"}`
	for name, tc := range map[string]struct {
		reason string
		// sick is one of the second wave, and restart says that another process goes on.
		sick, restart bool
		then          func(t *testing.T, c *cluster, sick string)
		after         time.Duration
	}{
		"Restarted": {"It has soaked for 5 minutes before.", false, true, func(*testing.T, *cluster, string) {}, 6 * time.Minute},
		"Gone":      {"The others are healthy.", true, false, func(_ *testing.T, c *cluster, sick string) { c.remove(sick) }, 11 * time.Minute},
		"Going": {"Its finalizer keeps it.", true, false, func(t *testing.T, c *cluster, sick string) {
			put(t, c, sick, selected+`, deletionTimestamp: "2000-01-01T00:00:00Z", finalizers: [theirs]`, "size: 3, sick: true")
		}, 11 * time.Minute},
		"Unselected": {"The rule does not watch it any more.", true, false, func(t *testing.T, c *cluster, sick string) {
			put(t, c, sick, "labels: {}", "size: 3, sick: true")
		}, 11 * time.Minute},
		"GoneWhileDown": {"It is not there when the next process begins.", true, true, func(_ *testing.T, c *cluster, sick string) { c.remove(sick) }, 11 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := newCluster(), &shelf{}
				for i := range 40 {
					put(t, c, fmt.Sprint("w", i), selected, "size: 1")
				}
				set := load(t, strings.Replace(rolling, "watch: widgets", "watch: others", 1)+labelled)
				stop := start(t, c.engineWith(s.house(false)), set)
				pass(11 * time.Minute)
				sick := slices.DeleteFunc(c.list(widgets), func(name string) bool { return size(c, name) != int64(3) })[2]
				if tc.sick {
					put(t, c, sick, selected, "size: 3, sick: true")
				}
				pass(4 * time.Minute)
				if n := c.grown(); n != 4 {
					t.Fatalf("it has written for %d objects", n)
				}
				if tc.restart {
					stop()
					c.restart()
				}
				tc.then(t, c, sick)
				if tc.restart {
					stop = start(t, c.engineWith(s.house(false)), set)
				}
				pass(tc.after)
				if n := c.grown(); n < 18 || n > 20 {
					t.Errorf("%s it has written for %d objects, want half of them", tc.reason, n)
				}
				stop()
			})
		})
	}
}

// TestRolloutOfOneThatGoes holds that a wave lasts for as long as its objects have to be healthy, also if none of them is left to be so; and that
// another one takes the place of an object that went while no process ran, and of which it is not known whether it was written for.
func TestRolloutOfOneThatGoes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		objects     int // at first
		then        time.Duration
		down        bool // no process runs when it goes
		unwritten   bool // the process ends before it writes
		atOnce, end int  // how many are written for, and how many after another soak
	}{
		"WrittenFor":     {"Others wait, and the second wave is for 19 of 199.", 200, time.Second, false, false, 0, 18},
		"Soaking":        {"Of its ten minutes, nine are over.", 200, 9 * time.Minute, false, false, 0, 18},
		"TheOnlyOne":     {"Others come a moment later: the second wave is for 3 of 39.", 1, time.Second, false, false, 0, 2},
		"HealthyAndDown": {"It is stored that all are healthy, so it was written for.", 200, time.Minute, true, false, 0, 18},
		"ChosenAndDown":  {"Another one is first.", 200, 0, true, true, 1, 19},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := newCluster(), &shelf{}
				c.putMany(t, tc.objects)
				if tc.unwritten {
					c.answer = refuses("grows")
				}
				stop := start(t, c.engineWith(s.house(false)), load(t, rolling))
				pass(time.Second + tc.then)
				if n := c.grown(); n == 1 == tc.unwritten {
					t.Fatalf("it has written for %d objects", n)
				}
				if tc.down {
					stop()
					c.restart()
					c.answer = nil
				}
				c.remove("w0") // The first by its name.
				if tc.objects == 1 {
					c.putFrom(t, 1, 40)
				}
				if tc.down {
					stop = start(t, c.engineWith(s.house(false)), load(t, rolling))
				}
				pass(30 * time.Second)
				if n := c.grown(); n != tc.atOnce {
					t.Errorf("%s it has written for %d objects, want %d", tc.reason, n, tc.atOnce)
				}
				pass(10 * time.Minute)
				if n := c.grown(); n != tc.end {
					t.Errorf("%s after another soak it has written for %d objects, want %d", tc.reason, n, tc.end)
				}
				stop()
			})
		})
	}
}

// TestRolloutCountsWhatIsGone holds that no other objects take the places of those that a rule is known to have written for, also in another
// process.
func TestRolloutCountsWhatIsGone(t *testing.T) {
	for name, down := range map[string]bool{"WhileItRuns": false, "WhileItIsDown": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := newCluster(), &shelf{}
				c.putMany(t, 200)
				stop := start(t, c.engineWith(s.house(false)), load(t, rolling))
				pass(12 * time.Minute)
				written := slices.DeleteFunc(c.list(widgets), func(name string) bool { return size(c, name) != int64(3) })
				c.sicken(t, written[0], true) // So the wave lasts.
				pass(time.Minute)
				gone := func() {
					for _, name := range written[1:6] {
						c.remove(name)
					}
				}
				if !down {
					gone()
					pass(time.Minute)
				}
				stop()
				c.restart()
				if down {
					gone()
				}
				stop = start(t, c.engineWith(s.house(false)), load(t, rolling))
				pass(time.Minute)
				if n := c.grown(); len(written) != 20 || n != 15 {
					t.Errorf("it has written for %d, of which 5 are gone; now there are %d", len(written), n)
				}
				stop()
			})
		})
	}
}

// TestRolloutOrder holds which objects come first.
func TestRolloutOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, by string
		want       []string
	}{
		"Names": {"The names are the order of which users think.", "", []string{"a"}},
		"By":    {"What has no label comes first, then the first stage.", ", by: object.metadata.labels.stage", []string{"c"}},
		"Moved": {"Numbers have their own order.", ", by: 0 - object.spec.nth", []string{"d"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			for i, stage := range []string{"prod", "test", "canary", "prod"} {
				c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %c, labels: {stage: %s}}, spec: {size: 1, nth: %d}}`, 'a'+i, stage, i))
			}
			text := strings.Replace(rolling, "sick != true", "sick != true"+tc.by, 1)
			runWith(t, c, (&shelf{}).house(false), load(t, text), func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				got := slices.DeleteFunc(c.list(widgets), func(name string) bool { return size(c, name) != int64(3) })
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestRolloutOfAChange holds that a rule that changes begins anew, and one that stays as it is does not.
func TestRolloutOfAChange(t *testing.T) {
	c := newCluster()
	c.putMany(t, 40)
	runWith(t, c, (&shelf{}).house(false), load(t, rolling), func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if n := c.grown(); n != 40 {
			t.Fatalf("it has written for %d objects", n)
		}
		e.SetRules(load(t, strings.ReplaceAll(rolling, "3}", "4}")+labelled))
		pass(time.Minute)
		if n := c.grown(); n != 40 {
			t.Errorf("the rule wants nothing, and %d objects are as they were", n)
		}
		e.SetRules(load(t, strings.ReplaceAll(rolling, "3", "4")+labelled))
		pass(time.Minute)
		if n := c.grown(); n != 39 {
			t.Errorf("the rule has changed, and %d of 40 objects are as they were", n)
		}
	})
}

// TestRolloutOfAFewThatMatch holds that a rollout begins although most objects need nothing, and that what a rule does for objects that go
// is no part of a wave.
func TestRolloutOfAFewThatMatch(t *testing.T) {
	const makes = `
  - name: makes
    watch: widgets
    rollout: {waves: [1], soak: 10m, healthy: object.spec.sick != true}
    when: object.spec.size < 3
    actions: [{apply: {resource: items, owned: false, prune: true, manifest: {metadata: {name: "${object.metadata.name}"}}}}]
`
	c, s := newCluster(), &shelf{fails: errRefused}
	for i := range 40 {
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: large%d}, spec: {size: 5}}`, i))
	}
	c.putMany(t, 5)
	runWith(t, c, s.house(false), families(t, makes), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		s.failing(nil) // It is known only now how far the rollout is, after all objects were looked at.
		pass(6 * time.Minute)
		if got := c.list(items); len(got) != 1 {
			t.Fatalf("it has made %v", got)
		}
		pass(time.Hour)
		if got := c.list(items); len(got) != 5 {
			t.Fatalf("it has made %v", got)
		}
		e.SetRules(families(t, strings.Replace(makes, "owned: false, prune: true, manifest: {", "owned: false, prune: true, manifest: {spec: {size: 1}, ", 1)))
		pass(time.Minute)
		changed := s.changes()
		c.remove("w4")
		pass(time.Minute)
		if got := c.list(items); len(got) != 4 || slices.Contains(got, "w4") {
			t.Errorf("there are %v", got)
		}
		if n := s.changes() - changed; n > 2 {
			t.Errorf("that took %d writes to the inventory", n)
		}
	})
}

// TestRolloutTimeout holds that the time for which an object may be unhealthy does not run before it is written for: not while the chosen objects
// cannot be stored, nor while the rule is paused for another reason.
func TestRolloutTimeout(t *testing.T) {
	c, s := newCluster(), &shelf{}
	c.putMany(t, 3)
	runWith(t, c, s.house(false), load(t, rolling), func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		s.failing(errRefused)
		e.SetRules(load(t, strings.ReplaceAll(rolling, "3", "4")))
		pass(2 * time.Hour)
		if len(e.Paused()) > 0 {
			t.Errorf("paused %v", e.Paused())
		}
		s.failing(nil)
		pass(20 * time.Minute)
		if got := c.grown(); got > 2 || len(e.Paused()) > 0 {
			t.Errorf("%d objects are as they were, paused %v", got, e.Paused())
		}
	})
}
