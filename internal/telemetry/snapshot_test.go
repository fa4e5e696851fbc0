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
		Queued: 7,
		Caches: []informer.Status{
			{Key: informer.Key{GVR: tidbclusters}, Synced: true, Objects: 3, Bytes: 300, Heard: time.Unix(2000, 5e8)},
			{Key: informer.Key{GVR: tidbclusters, Namespace: "shop"}, Synced: true, Objects: 1, Bytes: 100, Heard: time.Unix(1000, 5e8)},
			{Key: informer.Key{GVR: tidbclusters, Namespace: "play"}, Heard: time.Unix(3000, 0)},
			{Key: informer.Key{GVR: tidbclusters, Namespace: "work"}, Err: errors.New("forbidden")},
			{Key: informer.Key{GVR: pods}, Synced: true, Objects: 7, Bytes: 700, Heard: time.Unix(4000, 0)},
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
		`dyncontroller_queue_length 7`,
		`dyncontroller_informers{synced="true"} 3`,
		`dyncontroller_informers{synced="false"} 2`,
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

// TestRuleOfTwo holds that there are never two series with the same labels, which would
// make a scrape fail: a rule may be known twice while it passes from one identity to another.
func TestRuleOfTwo(t *testing.T) {
	t.Parallel()
	id := ruleOf("a", "b")
	cases := map[string]struct {
		reason string
		rules  []Rule
		want   []string
	}{
		"twice the same": {
			"It looks at the same objects, which are not two of each.",
			[]Rule{
				{ID: id, Standing: Active, Matched: 3, Failing: 2, Quarantined: 1, Contested: map[string]int64{"kubectl": 4}},
				{ID: id, Standing: Active, Matched: 3, Failing: 2, Quarantined: 1, Contested: map[string]int64{"kubectl": 4}},
			},
			[]string{
				`contested_objects{rival="kubectl"} 4`, `quarantined_objects{} 1`, `rule_failing{} 2`, `rule_matched{mode="Enforce"} 3`, `rule_paused{} 0`,
			},
		},
		"one has just begun": {
			"The one that knows more is believed, whichever it is.",
			[]Rule{{ID: id, Standing: Active, Matched: 1, Failing: 5}, {ID: id, Standing: Paused, Matched: 7}},
			[]string{`quarantined_objects{} 0`, `rule_failing{} 5`, `rule_matched{mode="Enforce"} 7`, `rule_paused{} 1`},
		},
		"other modes": {
			"These are told apart by a label.",
			[]Rule{{ID: id, Standing: Audited, Matched: 2}, {ID: id, Standing: Active, Matched: 1}},
			[]string{`quarantined_objects{} 0`, `rule_failing{} 0`, `rule_matched{mode="Audit"} 2`, `rule_matched{mode="Enforce"} 1`, `rule_paused{} 0`},
		},
		"no namespace either": {
			"The kind is no label.",
			[]Rule{{ID: id, Standing: Active, Matched: 2}, {ID: plan.Rule{Kind: "RuleSet", Set: "a", Name: "b"}, Standing: Active, Matched: 1}},
			[]string{`quarantined_objects{} 0`, `rule_failing{} 0`, `rule_matched{mode="Enforce"} 2`, `rule_paused{} 0`},
		},
		"names that are told alike": {
			"What is not a character is replaced.",
			[]Rule{{ID: id, Standing: Active, Contested: map[string]int64{"a\xff": 1, "a\xfe": 2}}},
			[]string{`contested_objects{rival="a�"} 2`, `quarantined_objects{} 0`, `rule_failing{} 0`, `rule_matched{mode="Enforce"} 0`, `rule_paused{} 0`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := NewMetrics("v1", func() Snapshot { return Snapshot{Rules: tc.rules} })
			if _, err := m.registry.Gather(); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
			var got []string
			for _, line := range samples(t, m) {
				if name, rest, is := strings.Cut(line, `rule="b",set="a",set_namespace=""`); is {
					got = append(got, strings.Replace(strings.TrimPrefix(name, namespace+"_")+rest, `",}`, `"}`, 1))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBrokenSnapshot holds that what cannot be asked does not take the rest along.
func TestBrokenSnapshot(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v1", func() Snapshot { panic("broken") })
	m.Reloaded(errors.New("line 3"))
	expectSamples(t, m, `dyncontroller_rules_reload_failed 1`)
}
