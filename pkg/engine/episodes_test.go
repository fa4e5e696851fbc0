package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

func TestEpisodes(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		c.put(t, small)
		synctest.Wait()
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`)
		synctest.Wait()
		c.remove("a")
		synctest.Wait()
		c.put(t, `{metadata: {namespace: ns, name: a, uid: another}, spec: {size: 1}}`)
		synctest.Wait()
		want := []string{"Grown was 1", "Grown was 1 (again)", "Grown was 2 (again)", "Grown was 1"}
		if diff := cmp.Diff(want, c.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestEventIsRecordedOnceWhileARuleMatches(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	failures := 3
	c.eventOK = func() error {
		if failures--; failures >= 0 {
			return errRefused
		}
		return nil
	}
	const always = `
  - name: always
    watch: widgets
    actions: [{event: {reason: Seen, message: m}}]
`
	run(t, c, always, func(t *testing.T, _ *engine.Engine) {
		pass(time.Minute)
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 2}}`)
		pass(time.Minute)
		if diff := cmp.Diff([]string{"Seen m"}, c.events); diff != "" {
			t.Errorf("want the Event once, after the failures (-want +got):\n%s", diff)
		}
	})
}

// TestRestartIsNoNewEpisode holds that the first evaluation of a rule says
// nothing about earlier episodes, even if the object was looked at before.
func TestRestartIsNoNewEpisode(t *testing.T) {
	t.Run("SecondCache", func(t *testing.T) {
		c := newCluster()
		c.put(t, smallOther)
		text := labelled + strings.ReplaceAll(atLeastThree, "watch: widgets", "watch: others")
		selections := load(t, text).Selections()
		others := selections[len(selections)-1]
		c.unsynced[others] = true
		run(t, c, text, func(t *testing.T, _ *engine.Engine) {
			c.mu.Lock()
			delete(c.unsynced, others)
			c.mu.Unlock()
			c.handler.Synced(others)
			synctest.Wait()
			if diff := cmp.Diff([]string{"Grown was 1"}, c.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("RelatedCache", func(t *testing.T) {
		c := newCluster()
		c.put(t, small)
		c.unsynced[allItems] = true
		const few = `
  - name: few
    watch: widgets
    with: {every: {resource: items, all: true}}
    when: len(every) < 3
    actions: [{event: {reason: Few, message: "there are ${len(every)}"}}]
`
		runWith(t, c, engine.Housekeeping{}, families(t, labelled+few), func(t *testing.T, _ *engine.Engine) {
			synctest.Wait()
			c.mu.Lock()
			delete(c.unsynced, allItems)
			c.mu.Unlock()
			c.handler.Synced(allItems)
			synctest.Wait()
			if diff := cmp.Diff([]string{"Few there are 0"}, c.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("AfterARefusal", func(t *testing.T) {
		c := newCluster()
		c.put(t, small)
		c.answer = failures(2)
		run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
			pass(time.Minute)
			if diff := cmp.Diff([]string{"Grown was 1"}, c.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	})
}

// TestRefusedEventsAreBounded holds that Events that cannot be recorded are
// told in the log and do not pile up.
func TestRefusedEventsAreBounded(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 0}}`)
	attempts := 0
	c.eventOK = func() error {
		attempts++
		return errRefused
	}
	const always = `
  - name: always
    watch: widgets
    actions: [{event: {reason: Seen, message: "size is ${object.spec.size}"}}]
`
	run(t, c, always, func(t *testing.T, _ *engine.Engine) {
		for i := range 200 {
			c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a}, spec: {size: %d}}`, i+1))
			synctest.Wait()
		}
		if attempts > 400 {
			t.Errorf("%d attempts to record 200 events", attempts)
		}
		if !strings.Contains(c.log.String(), "events were not recorded") || strings.Count(c.log.String(), "not recorded") > 5 {
			t.Errorf("the log says:\n%s", c.log.String())
		}
		c.mu.Lock()
		c.eventOK = nil
		c.mu.Unlock()
		pass(time.Hour)
		if n := len(c.events); n == 0 || n > 20 {
			t.Errorf("%d events were recorded in the end, want the last ones", n)
		}
	})
}

// TestReloadKeepsPendingEvents holds that a cache that starts anew is not taken
// for an object that is gone.
func TestReloadKeepsPendingEvents(t *testing.T) {
	c := newCluster()
	c.put(t, smallOther)
	c.eventOK = func() error { return errRefused }
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		changed := strings.ReplaceAll(atLeastThree, "watch: widgets", "watch: others")
		key := load(t, changed).Selections()[0]
		c.mu.Lock()
		c.unsynced[key] = true
		c.mu.Unlock()
		e.SetRules(load(t, changed))
		synctest.Wait()
		c.mu.Lock()
		delete(c.unsynced, key)
		c.eventOK = nil
		c.mu.Unlock()
		c.handler.Synced(key)
		synctest.Wait()
		if diff := cmp.Diff([]string{"Grown was 1"}, c.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
