package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// state is a snapshot of rules that act.
func state(rules ...plan.Rule) Snapshot {
	var out Snapshot
	for _, rule := range rules {
		out.Rules = append(out.Rules, Rule{ID: rule, Standing: Active})
	}
	return out
}

// counted lists the evaluations that a scrape tells of, as "set_namespace/set/rule count".
func counted(t *testing.T, m *Metrics) []string {
	t.Helper()
	var out []string
	for _, line := range samples(t, m) {
		if rest, is := strings.CutPrefix(line, "dyncontroller_evaluations_total{"); is {
			labels, value, _ := strings.Cut(rest, "} ")
			parts := strings.Split(labels, `"`)
			// By name: mode, outcome, rule, set, set_namespace.
			out = append(out, fmt.Sprintf("%s/%s/%s %s", parts[9], parts[7], parts[5], value))
		}
	}
	slices.Sort(out)
	return out
}

// TestRulesThatAreGone holds that what was counted of a rule goes with it for good, and
// nothing else does.
func TestRulesThatAreGone(t *testing.T) {
	t.Parallel()
	odd, even := ruleOf("guardrails", "odd"), ruleOf("guardrails", "even")
	namesake := plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guardrails", Name: "even"}
	cases := map[string]struct {
		reason string
		still  []plan.Rule
		late   []plan.Rule // evaluated once more, after a scrape that knew better
		want   []string
	}{
		"all stay": {"Nothing has changed.", []plan.Rule{odd, even, namesake}, nil, []string{"/guardrails/even 2", "/guardrails/odd 2", "shop/guardrails/even 2"}},
		"one is gone": {
			"Its namesake of another namespace is not, nor is the rest of its set.",
			[]plan.Rule{odd, namesake},
			nil,
			[]string{"/guardrails/odd 2", "shop/guardrails/even 2"},
		},
		"of a namespace": {"The set of the cluster has the same name.", []plan.Rule{odd, even}, nil, []string{"/guardrails/even 2", "/guardrails/odd 2"}},
		"a straggler": {
			"A turn that was under way ends after its rule.",
			[]plan.Rule{odd, namesake},
			[]plan.Rule{even, odd},
			[]string{"/guardrails/odd 3", "shop/guardrails/even 2"},
		},
		"stragglers alone": {"No rule is left.", nil, []plan.Rule{even, namesake}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := state(odd, even, namesake)
			m := NewMetrics("v1", func() Snapshot { return now })
			evaluate := func(rules ...plan.Rule) {
				for _, rule := range rules {
					m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Matched})
				}
			}
			evaluate(odd, even, namesake)
			evaluate(odd, even, namesake)
			m.Wrote(engine.Key{}, plan.Operation{Target: plan.Object{GVR: tidbclusters}}, write.Written)
			now = state(tc.still...)
			counted(t, m)
			evaluate(tc.late...)
			if diff := cmp.Diff(tc.want, counted(t, m)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			expectSamples(t, m,
				`dyncontroller_writes_total{class="written",group="pingcap.com",resource="tidbclusters"} 1`,
				`dyncontroller_events_total{result="success"} 0`,
			)
			now = state(odd, even, namesake)
			evaluate(even)
			if got := counted(t, m); !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "/guardrails/even ") }) {
				t.Errorf("a rule that is there again is counted again, have %q", got)
			}
		})
	}
}

// TestRulesThatCome holds that a rule which comes while it is being asked which there are
// keeps what was counted of it.
func TestRulesThatCome(t *testing.T) {
	t.Parallel()
	late := ruleOf("guardrails", "late")
	now := Snapshot{}
	var m *Metrics
	m = NewMetrics("v1", func() Snapshot {
		before := now
		if len(now.Rules) == 0 {
			now = state(late)
			m.Evaluated(engine.Key{}, plan.Decision{Rule: late, Outcome: plan.Matched})
		}
		return before
	})
	for range 2 {
		if diff := cmp.Diff([]string{"/guardrails/late 1"}, counted(t, m)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestStragglersAtTheSameTime holds that no evaluation which comes during a scrape leaves
// a series behind of a rule that is gone.
func TestStragglersAtTheSameTime(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v1", nothing)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 2000 {
				m.Evaluated(engine.Key{}, plan.Decision{Rule: ruleOf("gone", fmt.Sprint((i+worker)%7)), Outcome: plan.Matched})
			}
		})
		all.Go(func() {
			for range 20 {
				if _, err := m.registry.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := counted(t, m); len(got) > 0 {
		t.Errorf("have %q", got)
	}
	m.evaluations.known.Range(func(left, _ any) bool {
		t.Errorf("%q is remembered", left)
		return true
	})
}

// BenchmarkGather is a scrape of 10,000 rules with four outcomes each.
func BenchmarkGather(b *testing.B) {
	var rules []plan.Rule
	for i := range 10_000 {
		rules = append(rules, ruleOf(fmt.Sprint("set-", i/10), fmt.Sprint("rule-", i%10)))
	}
	m := NewMetrics("v1", func() Snapshot { return state(rules...) })
	for _, rule := range rules {
		for _, outcome := range []plan.Outcome{plan.Matched, plan.Unmatched, plan.Waiting, plan.Failed} {
			m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: outcome})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestManyRules holds that the series of metrics are bounded whatever the number of rules, that those beyond it are told together, and
// that a rule has its own again once there is room.
func TestManyRules(t *testing.T) {
	t.Parallel()
	var all []plan.Rule
	for i := range 10 * mostRules {
		all = append(all, plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "many", Name: fmt.Sprintf("r-%04d", i)})
	}
	other := plan.Rule{Kind: "RuleSet", Namespace: "play", Set: "few", Name: "r"}
	now := state(append(all, other)...)
	for i := range now.Rules {
		now.Rules[i].Matched, now.Rules[i].Failing = 1, 1
	}
	m := NewMetrics("v1", func() Snapshot { return now })
	for range 2 {
		for _, rule := range append(all, other) {
			m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Matched})
		}
	}
	lines := samples(t, m)
	count := 0
	for _, line := range lines {
		if strings.Contains(line, `set_namespace="shop"`) {
			count++
		}
	}
	if most := 6 * (mostRules + 1); count > most {
		t.Errorf("there are %d series of %d rules, want at most %d", count, len(all), most)
	}
	expectSamples(t, m,
		fmt.Sprintf(`dyncontroller_rule_matched{mode="Enforce",rule="others",set="",set_namespace="shop"} %d`, 9*mostRules),
		fmt.Sprintf(`dyncontroller_rule_failing{rule="others",set="",set_namespace="shop"} %d`, 9*mostRules),
		fmt.Sprintf(`dyncontroller_evaluations_total{mode="Enforce",outcome="matched",rule="others",set="",set_namespace="shop"} %d`, 2*9*mostRules),
		fmt.Sprintf(`dyncontroller_rules{state="active"} %d`, len(all)+1),
		`dyncontroller_rule_matched{mode="Enforce",rule="r",set="few",set_namespace="play"} 1`,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="matched",rule="r",set="few",set_namespace="play"} 2`,
	)
	last := all[len(all)-1]
	now = state(last)
	samples(t, m)
	m.Evaluated(engine.Key{}, plan.Decision{Rule: last, Outcome: plan.Matched})
	expectSamples(t, m, `dyncontroller_evaluations_total{mode="Enforce",outcome="matched",rule="r-4999",set="many",set_namespace="shop"} 1`)
}
