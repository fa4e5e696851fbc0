package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// standby loads rules into an engine that does not run yet.
func standby(t *testing.T, c *cluster, s *shelf, text string) *engine.Engine {
	t.Helper()
	e := c.engineWith(s.house(false))
	e.SetRules(families(t, text))
	synctest.Wait()
	return e
}

// lead runs an engine that stood by until the returned function is called.
func lead(e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		e.Run(ctx)
	}()
	return func() {
		cancel()
		<-finished
	}
}

// TestStandby holds that an engine that does not run does nothing, remembers nothing of
// what comes and goes, and does all that is to be done once it runs.
func TestStandby(t *testing.T) {
	finalizer := families(t, holder).Rules()[0].ID.Finalizer()
	synctest.Test(t, func(t *testing.T) {
		c, s := newCluster(), remembering(t, families(t, lasting+heir))
		c.put(t, parent)
		c.put(t, strings.Replace(parent, "name: a", "name: lost", 1))
		stop := start(t, c.engine(), families(t, pruned)) // The process before.
		synctest.Wait()
		stop()
		c.restart()
		before := c.count()
		c.unsynced[allItems] = true
		e := standby(t, c, s, pruned+holder)
		c.remove("lost")
		c.put(t, another)
		c.put(t, `{metadata: {namespace: ns, name: stray, finalizers: [`+finalizer+`]}}`)
		for i := range 1000 {
			name := fmt.Sprintf("passing-%d", i)
			c.put(t, strings.Replace(parent, "name: a", "name: "+name, 1))
			c.remove(name)
		}
		c.sync(allItems)
		e.SetRules(families(t, pruned+holder+lasting))
		pass(time.Hour)
		if n := c.count() - before; n != 0 || c.gets+c.reads != 0 || len(s.asked()) != 0 {
			t.Errorf("%d writes, %d live reads, swept %v by an engine that does not run", n, c.gets+c.reads, s.asked())
		}
		if diff := cmp.Diff(map[string]int{}, e.Remembered()); diff != "" {
			t.Errorf("it remembers (-want +got):\n%s", diff)
		}
		defer lead(e)()
		pass(4 * time.Minute)
		if diff := cmp.Diff([]string{"a-child", "b-child"}, c.list(items)); diff != "" {
			t.Errorf("children (-want +got):\n%s", diff)
		}
		if strings.Contains(string(encode(c.get("stray"))), finalizer) || !strings.Contains(string(encode(c.get("a"))), finalizer) {
			t.Errorf("held are the stray, or not what is selected:\n%s\n%s", encode(c.get("stray")), encode(c.get("a")))
		}
		if diff := cmp.Diff([]string{strings.Replace(prunedText, "pruned", "heir", 1)}, s.asked()); diff != "" {
			t.Errorf("swept (-want +got):\n%s", diff)
		}
		if got := size(c, "a"); got != int64(1) {
			t.Errorf("size is %v before its time", got)
		}
		pass(2 * time.Minute)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v: no timer was set", got)
		}
	})
}

// TestStandbyDenied holds that what is denied meanwhile is denied when it runs.
func TestStandbyDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, smallOther)
		e := standby(t, c, &shelf{}, grown+labelled)
		allow := deny(t, e, otherWidgets)
		defer lead(e)()
		pass(time.Minute)
		if got := size(c, "a"); got != int64(1) || c.count() != 1 {
			t.Errorf("size is %v after %d writes", got, c.count())
		}
		allow()
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v", got)
		}
	})
}

// TestStandbyLateCache holds that a cache that is complete only when the engine runs is
// worked off as any.
func TestStandbyLateCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, smallOther)
		c.unsynced[otherWidgets] = true
		e := standby(t, c, &shelf{}, grown)
		defer lead(e)()
		pass(time.Minute)
		if c.count() != 0 {
			t.Errorf("wrote %+v", c.writes)
		}
		c.sync(otherWidgets)
		pass(time.Second)
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v", got)
		}
	})
}

// TestStandbyEnds holds that an engine that never worked ends by running with a context
// that is done: nothing of it goes on.
func TestStandbyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, parent)
		e := standby(t, c, &shelf{}, pruned+holder+lasting)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e.Run(ctx)
		if c.count() != 0 {
			t.Errorf("wrote %+v", c.writes)
		}
		e.Deny(map[informer.Key]error{otherWidgets: errNoRight})
	})
}
