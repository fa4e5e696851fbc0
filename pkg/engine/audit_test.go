package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

const audited = `
  - name: audited
    watch: widgets
    mode: Audit
    when: object.spec.size < 3
    actions:
    - patch: {merge: {spec: {size: 3}}}
    - event: {reason: Grown, message: m}
`

func TestAuditWritesNothing(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, audited+labelled, func(t *testing.T, _ *engine.Engine) {
		for i := range 10 {
			c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a, labels: {seen: "yes"}}, spec: {size: 1, unrelated: %d}}`, i))
			synctest.Wait()
		}
		if got := size(c, "a"); got != int64(1) || len(c.events) > 0 {
			t.Errorf("size is %v, events %v: an audited rule acted", got, c.events)
		}
		log := c.log.String()
		if n := strings.Count(log, `"would write"`); n != 1 {
			t.Errorf("it was told %d times, want once:\n%s", n, log)
		}
		const want = `level=INFO msg="would write" gvr=widgets.v1.example.com namespace=ns name=a rules=[set/audited] ` +
			`changes=[spec.size] type=merge target="widgets ns/a" subresource="" mode=Audit`
		if !strings.Contains(log, want) {
			t.Errorf("want %s in:\n%s", want, log)
		}
	})
}

func TestAuditTellsEveryChange(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, audited, func(t *testing.T, _ *engine.Engine) {
		for i, step := range []struct {
			size int
			want int
		}{{1, 1}, {2, 2}, {2, 2}, {3, 2}, {2, 3}} {
			c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: a}, spec: {size: %d}}`, step.size))
			synctest.Wait()
			if c.seen.of(&c.seen.audited) != step.want {
				t.Errorf("step %d: told %d times, want %d", i, c.seen.audited, step.want)
			}
		}
	})
}

func TestSettleReportsAudits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.put(t, small)
		c.put(t, `{metadata: {namespace: ns, name: b}, spec: {size: 2}}`)
		report, err := c.engine().Settle(t.Context(), load(t, audited+labelled))
		if err != nil || report.Audited != 2 || report.Written != 2 || len(report.Failures) != 0 {
			t.Errorf("err %v, report %+v; want two writes and two that were not made", err, report)
		}
	})
}

// TestSuspended holds that a suspended rule does nothing, and that it starts where
// it is taken up again.
func TestSuspended(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	run(t, c, atLeastThree+"    suspend: true\n", func(t *testing.T, e *engine.Engine) {
		pass(time.Hour)
		if c.count() != 0 || len(c.events) > 0 {
			t.Errorf("a suspended rule wrote %+v, events %v", c.writes, c.events)
		}
		set(t, e, atLeastThree)
		synctest.Wait()
		if got := size(c, "a"); got != int64(3) {
			t.Errorf("size is %v after the rule was taken up again", got)
		}
	})
}
