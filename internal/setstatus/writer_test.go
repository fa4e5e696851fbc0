package setstatus

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// pass lets time of the bubble pass.
func pass(d time.Duration) { <-time.After(d) }

// sent is what has been sent since the last time, once all is quiet for a while.
func (c *cluster) sent(while time.Duration) []string {
	pass(while)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.patches
	c.patches = nil
	return out
}

func (c *cluster) expect(while time.Duration, reason string, want ...string) {
	c.t.Helper()
	if got := c.sent(while); !slices.Equal(got, want) {
		c.t.Errorf("%s\nwant %q, got %q", reason, want, got)
	}
}

// write runs a writer until the test ends.
func (c *cluster) write(t *testing.T) (*Writer, *bytes.Buffer) {
	var log bytes.Buffer
	w := NewWriter(c, c.snapshot, clock.RealClock{}, slog.New(slog.NewTextHandler(&log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w, &log
}

var (
	ofShop  = plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guard"}
	overall = plan.Rule{Kind: "ClusterRuleSet", Namespace: "", Set: "overall"}
)

const soon = 250 * time.Millisecond

func TestWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop, overall)
		c.objects[ofShop].Object["status"] = map[string]any{"inventory": []any{map[string]any{"rule": "a"}}, "paused": []any{map[string]any{"rule": "b"}}, "counted": []any{map[string]any{"rule": "b"}}, "later": "kept"}
		w, log := c.write(t)
		c.expect(0, "What has no status gets one.", "guard conditions,observedGeneration,rules,summary", "overall conditions,observedGeneration,rules,summary")
		if status := c.objects[ofShop].Object["status"].(map[string]any); status["inventory"] == nil || status["paused"] == nil || status["counted"] == nil || status["later"] != "kept" {
			t.Errorf("what is not ours is lost: %v", status)
		}
		c.expect(time.Hour, "A quiet cluster has no writes.")
		for range 100 {
			w.Nudge()
		}
		c.expect(time.Minute, "Nor has it any for nothing.")

		c.want(ofShop, func(in *Input) { in.Caches = unsyncedPods() })
		w.Nudge()
		c.expect(100*time.Millisecond, "A burst is waited for.")
		c.expect(soon, "Conditions are told at once.", "guard conditions")
		c.want(ofShop, func(in *Input) { in.Caches = nil })
		w.Nudge()
		c.expect(soon, "And again at once.", "guard conditions")
		c.want(ofShop, func(in *Input) { in.Rules = nil })
		w.Nudge()
		c.expect(soon, "What is not there any more goes.", "guard conditions,rules,summary")
		if log.Len() > 0 {
			t.Errorf("nothing was to be told: %s", log)
		}
	})
}

func unsyncedPods() []informer.Status { return []informer.Status{{Key: informer.Key{GVR: pods}}} }

func TestWriterCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop)
		w, _ := c.write(t)
		c.sent(time.Minute)
		count := func() {
			c.want(ofShop, func(in *Input) { in.Rules[0].Matched++ })
			w.Nudge()
		}
		count()
		c.expect(soon, "The first is told.", "guard rules,summary")
		for range 90 {
			count()
			pass(100 * time.Millisecond)
		}
		c.expect(0, "More have to wait, for ten seconds.")
		c.expect(2*time.Second, "Then they are one write.", "guard rules,summary")
		count()
		c.want(ofShop, func(in *Input) { in.NotRecorded = errors.New("no") })
		w.Nudge()
		c.expect(soon, "They come along with what is urgent.", "guard conditions,rules,summary")
		c.want(ofShop, func(in *Input) { in.Rules[0].Errors++ })
		c.expect(21*time.Second, "Nobody has to say that they change.", "guard rules,summary")
	})
}

// TestWriterLags holds that what it has written counts although the snapshot does not
// show it yet.
func TestWriterLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop)
		old := c.objects[ofShop]
		c.do(func() { c.lag[ofShop] = old })
		w, log := c.write(t)
		c.expect(0, "It is written.", "guard conditions,observedGeneration,rules,summary")
		w.Nudge()
		c.expect(time.Minute, "It is known to be written.")
		c.want(ofShop, func(in *Input) { in.Generation = 2 })
		w.Nudge()
		c.expect(soon, "The next write goes on from the last.", "guard conditions,observedGeneration")
		c.do(func() { // Somebody else writes, and all is seen.
			delete(c.lag, ofShop)
			c.objects[ofShop] = c.objects[ofShop].DeepCopy()
			c.version++
			c.objects[ofShop].SetResourceVersion(strconv.Itoa(c.version))
			delete(c.objects[ofShop].Object["status"].(map[string]any), "conditions")
		})
		w.Nudge()
		c.expect(soon, "What somebody takes away comes back.", "guard conditions")
		c.do(func() { // Somebody else writes, and it is not seen yet.
			c.lag[ofShop] = c.objects[ofShop]
			c.objects[ofShop] = c.objects[ofShop].DeepCopy()
			c.version++
			c.objects[ofShop].SetResourceVersion(strconv.Itoa(c.version))
		})
		c.want(ofShop, func(in *Input) { in.Generation = 3 })
		w.Nudge()
		c.expect(soon, "A newer object is not overwritten.", "guard fails")
		c.expect(2*time.Second, "It is tried again soon, by the object as it is, whatever is seen of it.", "guard conditions,observedGeneration")
		c.do(func() { // A user writes the set, and it is not seen yet.
			c.lag[ofShop] = c.objects[ofShop]
			c.objects[ofShop] = c.objects[ofShop].DeepCopy()
			c.version++
			c.objects[ofShop].SetResourceVersion(strconv.Itoa(c.version))
			c.objects[ofShop].SetGeneration(5)
		})
		c.want(ofShop, func(in *Input) { in.Generation = 4 })
		w.Nudge()
		c.expect(time.Minute, "The status of the present set says nothing about the set as it was.", "guard fails")
		c.want(ofShop, func(in *Input) { in.Generation = 5 })
		c.do(func() { delete(c.lag, ofShop) })
		w.Nudge()
		c.expect(soon, "The set is seen.", "guard conditions,observedGeneration")
		if log.Len() > 0 {
			t.Errorf("a conflict is no news: %s", log)
		}
	})
}

func TestWriterFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop, overall)
		c.fails[ofShop] = errors.New("connection refused")
		w, log := c.write(t)
		c.expect(0, "One does not hold up the other.", "guard fails", "overall conditions,observedGeneration,rules,summary")
		for range 600 {
			w.Nudge()
			pass(time.Second)
		}
		if got := len(c.sent(0)); got < 12 || got > 20 {
			t.Errorf("%d attempts in ten minutes", got)
		}
		if got := strings.Count(log.String(), "cannot write the status of a set"); got != 1 || !strings.Contains(log.String(), "connection refused") {
			t.Errorf("it is logged %d times:\n%s", got, log)
		}
		c.do(func() { c.fails[ofShop] = errors.New("etcd is slow") })
		c.sent(2 * time.Minute)
		if got := strings.Count(log.String(), "cannot write"); got != 2 {
			t.Errorf("another cause is news, it is logged %d times:\n%s", got, log)
		}
		c.do(func() { delete(c.fails, ofShop) })
		c.expect(time.Minute, "It recovers.", "guard conditions,observedGeneration,rules,summary")
	})
}

func TestWriterGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop)
		w, log := c.write(t)
		c.sent(time.Minute)
		c.do(func() {
			c.lag[ofShop] = c.objects[ofShop]
			delete(c.objects, ofShop)
		})
		c.want(ofShop, func(in *Input) { in.Generation = 2 })
		w.Nudge()
		c.expect(soon, "It is gone, but nobody has told.", "guard fails")
		c.create(ofShop, "v")
		c.do(func() { delete(c.lag, ofShop) })
		c.expect(2*time.Second, "Another of the name is another.", "guard conditions,observedGeneration,rules,summary")
		c.do(func() { delete(c.wanted, ofShop) })
		w.Nudge()
		c.expect(time.Minute, "What is not wanted is left alone.")
		if len(w.known) > 0 || log.Len() > 0 {
			t.Errorf("it remembers %v, and tells %s", w.known, log)
		}
	})
}

// TestWriterPruned holds that what an old CRD does not store is not sent for ever.
func TestWriterPruned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop)
		c.prunes = "rules"
		w, _ := c.write(t)
		c.expect(time.Minute, "It is tried once more.", "guard conditions,observedGeneration,rules,summary", "guard rules,summary for nothing")
		w.Nudge()
		c.expect(time.Hour, "Then it is known.")
		c.want(ofShop, func(in *Input) { in.Generation = 2 })
		w.Nudge()
		c.expect(time.Minute, "Something else is sent.", "guard conditions,observedGeneration,rules,summary", "guard rules,summary for nothing")
	})
}

// TestWriterLeadsAgain holds that who leads anew trusts nothing but what is there.
func TestWriterLeadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ofShop)
		w := NewWriter(c, c.snapshot, clock.RealClock{}, slog.New(slog.DiscardHandler))
		for _, want := range [][]string{{"guard conditions,observedGeneration,rules,summary"}, nil, {"guard rules,summary"}} {
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { w.Run(ctx) })
			c.expect(time.Second, "It writes what differs.", want...)
			cancel()
			running.Wait()
			w.Nudge()
			c.expect(time.Minute, "Nothing is written while somebody else leads.")
			if want == nil {
				c.do(func() {
					delete(c.objects[ofShop].Object["status"].(map[string]any), "rules")
				})
			}
		}
	})
}

// TestStatusIsWhole holds that each field of a status is known to be composed, or to be the inventory's, and each of a
// rule to be a counter or not.
func TestStatusIsWhole(t *testing.T) {
	fields := func(of reflect.Type) []string {
		var out []string
		for field := range of.Fields() {
			out = append(out, field.Name)
		}
		return out
	}
	for name, pair := range map[string]struct {
		got  reflect.Type
		want []string
	}{
		"status": {reflect.TypeFor[v1alpha1.Status](), []string{"ObservedGeneration", "Conditions", "Summary", "Rules", "Inventory", "Paused", "Counted", "Rollouts"}},
		"rule":   {reflect.TypeFor[v1alpha1.RuleStatus](), []string{"Name", "Standing", "Matched", "Writes", "LastWrite", "Errors", "LastError", "Quarantined", "Contested", "Missing"}},
	} {
		if diff := cmp.Diff(pair.want, fields(pair.got)); diff != "" {
			t.Errorf("a field of a %s that the writer does not know (-known +there):\n%s", name, diff)
		}
	}
}
