package engine_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestRetriesWithoutEnd(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} }
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		early := c.count()
		if early < 13 || early > 30 {
			t.Errorf("tried %d times in the first hour, want a back-off that is capped at 5 minutes", early)
		}
		pass(10 * time.Hour)
		if later := c.count() - early; later < 115 || later > 125 {
			t.Errorf("tried %d times in the next ten hours, want every 5 minutes", later)
		}
		c.mu.Lock()
		c.answer = nil
		c.mu.Unlock()
		pass(6 * time.Minute)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v: it did not recover", got)
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Overloaded, Err: errRefused, RetryAfter: 17 * time.Second}
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(16 * time.Second)
		if c.count() != 1 {
			t.Errorf("wrote %d times before the time that the API server asked for", c.count())
		}
		pass(2 * time.Second)
		if c.count() != 2 {
			t.Errorf("wrote %d times, want a second attempt after 17 s", c.count())
		}
	})
}

func TestRetryAfterAddsToTheBackOff(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Overloaded, Err: errRefused, RetryAfter: time.Second}
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if c.count() > 30 {
			t.Errorf("wrote %d times in an hour: an overloaded API server gets no rest", c.count())
		}
	})
}

// TestRetryWhenTheServerIsBack holds that objects for which the API server did not answer are tried again soon when it answers for one of
// them, however long it has not, and that few requests are sent until then.
func TestRetryWhenTheServerIsBack(t *testing.T) {
	unreached := &url.Error{Op: "Patch", URL: "https://a", Err: errors.New("refused")}
	for name, tc := range map[string]struct {
		objects int
		err     error
		class   write.Class
		within  time.Duration // until the first of them is written
		most    int           // requests in a minute
	}{
		"One":         {1, unreached, write.Unreachable, 7500 * time.Millisecond, 13},
		"Many":        {400, unreached, write.Unreachable, time.Second, 11 * 60},
		"Ambiguous":   {400, unreached, write.Ambiguous, time.Second, 11 * 60},
		"Unavailable": {400, apierrors.NewServiceUnavailable("starting"), write.Ambiguous, time.Second, 11 * 60},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			for i := range tc.objects {
				c.put(t, strings.ReplaceAll(small, "name: a", fmt.Sprintf("name: a%d", i)))
			}
			c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: tc.class, Err: tc.err} }
			run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
				written := func() (n int) {
					for i := range tc.objects {
						if size(c, fmt.Sprintf("a%d", i)) == int64(3) {
							n++
						}
					}
					return n
				}
				pass(10 * time.Minute)
				before := c.count()
				pass(time.Minute)
				if sent := c.count() - before; sent > tc.most {
					t.Errorf("sent %d requests in a minute, want %d or fewer", sent, tc.most)
				}
				c.locked(func() { c.answer = nil })
				pass(tc.within)
				if written() == 0 {
					t.Errorf("nothing is written %s after the API server is back", tc.within)
				}
				pass(time.Second)
				if got := written(); got != tc.objects {
					t.Errorf("%d of %d objects are written a second after the first", got, tc.objects)
				}
			})
		})
	}
}

// TestBackOffIsOfTheObject holds that an object for which the API server answers at last is tried again as soon as any other, however long
// it has waited before for what is not its own.
func TestBackOffIsOfTheObject(t *testing.T) {
	unreached := &write.Result{Class: write.Unreachable, Err: &url.Error{Op: "Patch", URL: "https://a", Err: errors.New("refused")}}
	conflict := func(o plan.Operation) *write.Result {
		return &write.Result{Class: write.Stale, Err: apierrors.NewConflict(widgets.GroupResource(), "a", errRefused), Echo: &write.Echo{Object: o.Target}}
	}
	broken := func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Ambiguous, Err: apierrors.NewInternalError(errRefused)}
	}
	busy := func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Overloaded, Err: apierrors.NewTooManyRequestsError("busy")}
	}
	for name, tc := range map[string]struct {
		reason     string
		unrecorded error
		unanswered *write.Result
		refused    func(plan.Operation) *write.Result // the first four times
	}{
		"Unrecorded":         {"It waits for the inventory.", errRefused, nil, conflict},
		"Unanswered":         {"The API server does not answer.", nil, unreached, conflict},
		"UnansweredAndFails": {"A webhook fails a few times after an outage.", nil, unreached, broken},
		"UnansweredAndBusy":  {"The API server is busy after an outage.", nil, unreached, busy},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), &shelf{fails: tc.unrecorded}
			var requests atomic.Int32
			c.put(t, parent)
			c.answer = func(plan.Operation) *write.Result { return tc.unanswered }
			runWith(t, c, s.house(false), families(t, holder), func(t *testing.T, _ *engine.Engine) {
				pass(20 * time.Minute)
				c.locked(func() {
					c.answer = func(o plan.Operation) *write.Result {
						if requests.Add(1) <= 4 {
							return tc.refused(o)
						}
						return nil
					}
				})
				s.failing(nil)
				for deadline := time.Now().Add(10 * time.Minute); requests.Load() == 0 && time.Now().Before(deadline); {
					pass(time.Second)
				}
				pass(5 * time.Second)
				if !strings.Contains(string(encode(c.get("a"))), "dyncontroller.dev/set.holder") {
					t.Errorf("%s It is not written 5 s after the API server answered for it", tc.reason)
				}
			})
		})
	}
}

// TestStalePatchIsNotSentAgain holds that a refused patch waits for the caches
// instead of being refused again.
func TestStalePatchIsNotSentAgain(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.lagging = true
	c.answer = func(o plan.Operation) *write.Result {
		now := o.Target
		now.ResourceVersion = "99"
		key := keyOf(decode(t, small))
		c.locked(func() {
			c.stored[key] = merged(c.stored[key], map[string]any{"metadata": map[string]any{"resourceVersion": "99"}})
		})
		return &write.Result{Class: write.Stale, Err: errRefused, Echo: &write.Echo{Object: now}}
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if c.count() != 1 {
			t.Errorf("sent %d times from a snapshot that is known to be out of date", c.count())
		}
	})
}

// TestStaleWaitsForTheCaches holds that an object on which rivals write all the time is tried again as soon as the caches show
// the write that came in between, however often that happens, and not after a back-off.
func TestStaleWaitsForTheCaches(t *testing.T) {
	const rivals = 20
	for name, tc := range map[string]struct {
		reason string
		after  time.Duration // until the caches show a rival's write
		told   bool          // by an event
		within time.Duration
	}{
		"Shown":  {"They show it by the time that the answer is there, and its event is no news for the rules.", 0, false, 0},
		"Soon":   {"The event queues the object.", 10 * time.Millisecond, true, rivals * 10 * time.Millisecond},
		"Untold": {"No event comes, as after a relist that has seen what it missed.", time.Millisecond, false, rivals * 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			key := keyOf(decode(t, small))
			show := func() {
				if tc.told {
					c.see(key)
					return
				}
				c.locked(func() {
					for _, cache := range c.caches {
						cache.objects[key] = c.stored[key]
						delete(cache.missed, key)
					}
				})
			}
			c.answer = func(plan.Operation) *write.Result {
				if c.count() > rivals {
					return nil
				}
				c.locked(func() {
					c.stored[key] = merged(c.stored[key], map[string]any{"metadata": map[string]any{"resourceVersion": c.next(key)}})
				})
				if tc.after == 0 {
					show()
				} else {
					c.locked(func() {
						for _, cache := range c.caches {
							c.miss(cache, key)
						}
					})
					time.AfterFunc(tc.after, show)
				}
				return nil // It is stale by now.
			}
			run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
				if tc.within > 0 {
					pass(tc.within + time.Millisecond)
				}
				if got := size(c, "a"); got != int64(3) || c.count() != rivals+1 {
					t.Errorf("%s After %s the size is %v, by %d requests; want 3 by %d", tc.reason, tc.within, got, c.count(), rivals+1)
				}
			})
		})
	}
}

// TestStaleWithoutNewsBacksOff holds that an answer which says that the object has changed, while it has not, is not asked for again at once.
func TestStaleWithoutNewsBacksOff(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(o plan.Operation) *write.Result {
		return &write.Result{Class: write.Stale, Err: errRefused, Echo: &write.Echo{Object: o.Target}}
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if n := c.count(); n < 10 || n > 30 {
			t.Errorf("sent %d times in an hour, want a back-off", n)
		}
	})
}

// TestOverloadDoesNotSplit holds that an overloaded API server does not get
// more requests.
func TestOverloadDoesNotSplit(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	overloaded := true
	c.answer = func(plan.Operation) *write.Result {
		if overloaded {
			overloaded = false
			return &write.Result{Class: write.Overloaded, Err: errRefused}
		}
		return nil
	}
	run(t, c, atLeastThree+labelled, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		if c.count() != 2 {
			t.Errorf("wrote %d times, want the joined request twice", c.count())
		}
	})
}

// TestRefusalsOfElementsAreLoggedOnce holds that the log says of each object that cannot be written why, and only once.
func TestRefusalsOfElementsAreLoggedOnce(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(o plan.Operation) *write.Result {
		if o.Target.Name == "good" {
			return nil
		}
		return &write.Result{Class: write.Terminal, Err: errors.New("refused: " + o.Target.Name)}
	}
	const rule = `
  - name: elements
    watch: widgets
    actions:
    - forEach: {name: "${['x', 'y', 'good', 'z']}"}
      apply: {resource: items, manifest: {metadata: {name: "${name}"}, spec: {x: 1}}}
`
	runWith(t, c, engine.Housekeeping{}, families(t, rule), func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if got := c.logged(`level=WARN msg="write failed"`); got != 3 {
			t.Errorf("it was said %d times:\n%s", got, c.log.String())
		}
	})
}

// TestRefusalsAreLoggedOnce holds that the log does not say the same of an object again and
// again, and does say it where it is news.
func TestRefusalsAreLoggedOnce(t *testing.T) {
	tests := map[string]struct {
		reason string
		errs   []error // of the writes in turn; the last one stays
		want   int
	}{
		"Same":      {"What is tried for an hour is said once.", []error{errRefused}, 1},
		"Other":     {"Another refusal is news.", []error{errRefused, errRefused, errors.New("other")}, 2},
		"Recovered": {"So is the same one after a write that succeeded.", []error{errRefused, nil, errRefused}, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.answer = func(plan.Operation) *write.Result {
				err := tc.errs[0]
				tc.errs = tc.errs[min(1, len(tc.errs)-1):]
				if err == nil {
					return nil
				}
				return &write.Result{Class: write.Terminal, Err: err}
			}
			run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				c.put(t, small)
				pass(time.Hour)
				if got := c.logged(`level=WARN msg="write failed"`); got != tc.want {
					t.Errorf("%s It was said %d times, want %d:\n%s", tc.reason, got, tc.want, c.log.String())
				}
			})
		})
	}
}
