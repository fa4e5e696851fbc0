package telemetry

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// full has a series of everything.
func full() Snapshot {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	return Snapshot{
		Caches: []informer.Status{{Synced: true}, {Synced: true}, {Err: errors.New("forbidden")}},
		Loads: []informer.Load{
			{Key: informer.Key{GVR: tidbclusters}, Objects: 3, Bytes: 300, Heard: time.Unix(2000, 5e8)},
			{Key: informer.Key{GVR: tidbclusters, Namespace: "shop"}, Objects: 1, Bytes: 100, Heard: time.Unix(1000, 5e8)},
			{Key: informer.Key{GVR: tidbclusters, Namespace: "play"}, Heard: time.Unix(3000, 0)},
			{Key: informer.Key{GVR: pods}, Objects: 7, Bytes: 700, Heard: time.Unix(4000, 0)},
		},
		Rules: []Rule{
			{ID: ruleOf("guardrails", "odd"), Standing: Active, Matched: 5, Failing: 2, Quarantined: 1, Contested: map[string]int64{"kubectl": 1}},
			{ID: ruleOf("guardrails", "even"), Standing: Audited, Matched: 9},
			{ID: ruleOf("guardrails", "old"), Standing: Suspended},
			{ID: plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guardrails", Name: "odd"}, Standing: Paused, Matched: 1},
			{ID: plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guardrails", Name: "even"}, Standing: Active},
		},
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	state := full()
	m := NewMetrics("v1.2.3", func() Snapshot { return state })
	expectSamples(t, m,
		`dyncontroller_informers{synced="true"} 2`,
		`dyncontroller_informers{synced="false"} 1`,
		`dyncontroller_cached_objects{group="pingcap.com",resource="tidbclusters",version="v1alpha1"} 4`,
		`dyncontroller_cached_bytes{group="pingcap.com",resource="tidbclusters",version="v1alpha1"} 400`,
		`dyncontroller_watch_last_heard_timestamp_seconds{group="pingcap.com",resource="tidbclusters",version="v1alpha1"} 1000.5`,
		`dyncontroller_cached_objects{group="",resource="pods",version="v1"} 7`,
		`dyncontroller_rules{state="active"} 2`,
		`dyncontroller_rules{state="audited"} 1`,
		`dyncontroller_rules{state="suspended"} 1`,
		`dyncontroller_rules{state="paused"} 1`,
		`dyncontroller_rule_matched{mode="Enforce",rule="odd",set="guardrails",set_namespace=""} 5`,
		`dyncontroller_rule_matched{mode="Audit",rule="even",set="guardrails",set_namespace=""} 9`,
		`dyncontroller_rule_matched{mode="Enforce",rule="odd",set="guardrails",set_namespace="shop"} 1`,
		`dyncontroller_rule_matched{mode="Enforce",rule="even",set="guardrails",set_namespace="shop"} 0`,
		`dyncontroller_rule_failing{rule="odd",set="guardrails",set_namespace=""} 2`,
		`dyncontroller_quarantined_objects{rule="odd",set="guardrails",set_namespace=""} 1`,
		`dyncontroller_contested_objects{rival="kubectl",rule="odd",set="guardrails",set_namespace=""} 1`,
		`dyncontroller_rule_paused{rule="odd",set="guardrails",set_namespace=""} 0`,
		`dyncontroller_rule_paused{rule="odd",set="guardrails",set_namespace="shop"} 1`,
	)
	state = Snapshot{}
	for _, line := range samples(t, m) {
		if strings.Contains(line, "guardrails") || strings.Contains(line, "tidbclusters") {
			t.Errorf("what is gone leaves no series behind, have %s", line)
		}
	}
	expectSamples(t, m, `dyncontroller_rules{state="active"} 0`, `dyncontroller_informers{synced="false"} 0`)
}

// TestRivals holds that names which anybody can choose make a bounded number of series.
func TestRivals(t *testing.T) {
	t.Parallel()
	many := map[string]int64{otherRivals: 4, "a\xffb": 100}
	for i := range 20 {
		many[fmt.Sprintf("manager-%02d", i)] = int64(i + 1)
	}
	cases := map[string]struct {
		reason string
		rivals map[string]int64
		want   []string
	}{
		"none": {reason: "No fight, no series."},
		"few":  {"Each is told.", map[string]int64{"b": 1, "a": 1, "c": 2}, []string{`"a" 1`, `"b" 1`, `"c" 2`}},
		"many": {
			"The greatest are told, the others summed up, whatever they are called.", many,
			[]string{
				`"a�b" 100`,
				`"manager-11" 12`, `"manager-12" 13`, `"manager-13" 14`, `"manager-14" 15`, `"manager-15" 16`,
				`"manager-16" 17`, `"manager-17" 18`, `"manager-18" 19`, `"manager-19" 20`,
				fmt.Sprintf(`"others" %d`, 11*12/2+4),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := Rule{ID: ruleOf("guardrails", "odd"), Contested: tc.rivals}
			m := NewMetrics("v1", func() Snapshot { return Snapshot{Rules: []Rule{rule}} })
			var got []string
			for _, line := range samples(t, m) {
				if rest, is := strings.CutPrefix(line, "dyncontroller_contested_objects{rival="); is {
					rival, _, _ := strings.Cut(rest, ",")
					got = append(got, rival+line[strings.LastIndex(line, " "):])
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSnapshotIsAskedForOnce holds that all of one scrape is of one moment.
func TestSnapshotIsAskedForOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	m := NewMetrics("v1", func() Snapshot {
		asked++
		return full()
	})
	if code, _ := get(t, m.Handler(), "/metrics"); code != http.StatusOK || asked != 1 {
		t.Errorf("status %d, asked %d times", code, asked)
	}
}

// TestBrokenSnapshot holds that what contradicts itself does not take the rest along.
func TestBrokenSnapshot(t *testing.T) {
	t.Parallel()
	twice := Snapshot{Rules: []Rule{{ID: ruleOf("a", "b")}, {ID: ruleOf("a", "b")}}}
	m := NewMetrics("v1", func() Snapshot { return twice })
	m.Queued(3)
	expectSamples(t, m, `dyncontroller_queue_length 3`)
}
