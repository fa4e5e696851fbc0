package engine_test

import (
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
		c.remove("ns", "a")
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
