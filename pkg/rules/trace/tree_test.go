package trace_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func text(s string) trace.Value {
	data, _ := json.Marshal(s)
	return trace.ValueOf(s, string(data))
}

// whole has something of everything.
func whole() trace.Trace {
	rule := plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guard", Name: "quorum"}
	named := trace.Rule{Rule: rule}
	named.Description, named.ActsAs, named.At = "An odd number", "shop/guard", trace.Place{File: "a.yaml", Line: 7, Column: 9}
	later := noon.Add(time.Hour)
	element := text("web")
	return trace.Trace{
		Rule: named,
		Object: trace.ObjectOf(plan.Object{
			GVR: schema.GroupVersionResource{Group: "pingcap.com", Version: "v1", Resource: "tidbclusters"}, Namespace: "shop", Name: "basic", ResourceVersion: "7",
		}),
		Now:       noon,
		Decision:  trace.Decision{Outcome: plan.Waiting, Reason: "not yet", Next: &trace.Next{At: later, Because: "its condition has held for long enough"}},
		Obstacles: []trace.Obstacle{{Kind: trace.Forbidden, Text: "ServiceAccount shop/guard may not list pods"}},
		Condition: trace.Condition{
			When: &trace.Clause{
				Operator: trace.And, Source: "prod && x > 1", At: trace.Place{Line: 8, Column: 11}, Verdict: trace.Error, Error: "of both",
				Clauses: []trace.Clause{
					{Operator: trace.Let, Source: "prod", At: trace.Place{Line: 8, Column: 11}, Verdict: trace.True, Clauses: []trace.Clause{
						{Source: "env == \"prod\"", Verdict: trace.True, Reads: []trace.Read{{Path: "env", Value: text("prod")}}, ChangesAt: &later},
					}},
					{Source: "x > 1", At: trace.Place{Line: 8, Column: 19}, Verdict: trace.Error, Error: "x is absent", Reads: []trace.Read{{Path: "x", Value: trace.Value{Absent: true}}}},
					{Source: "y", Verdict: trace.NotAsked},
				},
			},
			Done:  &trace.Clause{Source: "gone", Verdict: trace.False},
			For:   &trace.Hold{Duration: "1h0m0s", Since: noon, Until: &later},
			Names: []trace.Name{{Name: "n", Source: "1 + 1", At: trace.Place{Line: 3, Column: 5}, Value: trace.ValueOf(int64(2), "2")}, {Name: "m", Source: "x", Error: "no"}},
			Lookups: []trace.Lookup{
				{Name: "a", Resource: "pods.v1", Asked: true, By: "labels app=web", Found: []string{"shop/p"}, Count: 1},
				{Name: "b", Resource: "pods.v1", Asked: true, By: "name x, y", Found: []string{"shop/x"}, Missing: []string{"y"}, Count: 1},
				{Name: "c", Resource: "pods.v1", Asked: true, By: "all", Found: []string{"shop/p"}, Count: 9},
				{Name: "d", Resource: "pods.v1", Asked: true, By: "name z in shop", Missing: []string{"z"}},
				{Name: "h", Resource: "pods.v1", Asked: true, By: "name (masked)", Count: 2},
				{Name: "e", Resource: "pods.v1", Asked: true},
				{Name: "f", Resource: "pods.v1", Asked: true, Error: "forbidden"},
				{Name: "g", Resource: "pods.v1", At: trace.Place{Line: 4, Column: 7}},
			},
		},
		Actions: []trace.Action{
			{Kind: "patch", At: trace.Place{Line: 9, Column: 7}, Reached: true, ForEach: "pod", Count: 4, Turns: []trace.Turn{{
				Element: &element, When: &trace.Clause{Source: "pod != nil", Verdict: trace.True},
				Wants: []trace.Want{
					{Type: plan.Merge, Object: "pods shop/p", Subresource: "status", Count: 3, Changes: []trace.Change{
						{Path: "spec.x", Before: text("a"), After: trace.Value{Summary: trace.Masked}, Owners: []plan.Manager{{Name: "kubectl", Operation: "Update"}, {Name: "flux", Operation: "Apply"}}},
					}},
					{Type: plan.Apply, Object: "configmaps shop/c", Already: true},
				},
				Events: []trace.Event{{Object: "pods shop/p", Type: "Warning", Reason: "Few", Message: "too few\x1b[31m"}},
				Error:  "refused",
			}}},
			{Kind: "delete", Count: 0, Reached: true, Error: "forEach wants a list"},
			{Kind: "event"},
		},
		Requests: []trace.Request{
			{Type: plan.Merge, Object: "pods shop/p", Subresource: "status", Manager: "dyncontroller", Rules: []string{"guard/quorum", "guard/other"}},
			{Type: plan.Delete, Object: "pods shop/p", Rules: []string{"guard/quorum"}, Audited: true},
		},
		Others: []trace.Other{{Rule: "guard/other", Outcome: plan.Matched}, {Rule: "guard/third", Outcome: plan.Unmatched}, {Rule: "guard/more", Outcome: plan.Matched}},
		Controller: &trace.Memory{Waits: "for a cache", Records: []trace.Record{
			{Rule: plan.Rule{Kind: "ClusterRuleSet", Set: "guard", Name: "quorum"}, Outcome: plan.Matched},
			{
				Rule: rule, Outcome: plan.Failed, Reason: "x is absent", Audited: true, At: noon, Since: noon, HeldSince: noon, LookAgainAt: later, WrittenAt: noon,
				Trouble: trace.Trouble{Failure: "the API server refuses it", Attempts: 3, Next: later, Quarantined: true, Contest: "kubectl undoes spec.x", Paused: "past its limits"},
			},
		}},
	}
}

// TestTree compares all that a tree can have, and its JSON, with files.
func TestTree(t *testing.T) {
	data, err := yaml.Marshal(whole()) // By its JSON.
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"whole.txt": whole().Tree(), "brief.txt": whole().Brief(), "whole.yaml": string(data)} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +have); run with -update if this is meant:\n%s", name, diff)
		}
	}
}

// TestJSON holds that what is written can be read.
func TestJSON(t *testing.T) {
	data, err := json.Marshal(whole())
	if err != nil {
		t.Fatal(err)
	}
	var read trace.Trace
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole(), read); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestResult(t *testing.T) {
	tests := map[string]struct {
		reason string
		given  trace.Trace
		want   string
	}{
		"Obstacle": {"What is in the way comes first.", trace.Trace{Obstacles: []trace.Obstacle{{Text: "it is elsewhere"}, {Text: "and off"}}}, "not asked: it is elsewhere"},
		"Nothing":  {"Where nobody knows.", trace.Trace{}, "not asked"},
		"Settled":  {"Where there is nothing to do.", trace.Trace{Decision: trace.Decision{Outcome: plan.Matched, Settled: true}}, "matched, and all is as the rule wants it"},
		"Audited":  {"Where nothing is done.", trace.Trace{Decision: trace.Decision{Outcome: plan.Matched, Audited: true}}, "matched, and nothing is written in mode Audit"},
		"Reason":   {"With a reason.", trace.Trace{Decision: trace.Decision{Outcome: plan.Unmatched, Reason: "x is false", Audited: true}}, "not matched: x is false"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.given.Result(); got != tc.want {
				t.Errorf("%s got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	rule := plan.Rule{Kind: "RuleSet", Namespace: "a", Set: "s", Name: "r"}
	other := rule
	other.Namespace = "b"
	memory := &trace.Memory{Records: []trace.Record{{Rule: other, Reason: "other"}, {Rule: rule, Reason: "own"}}}
	if got := memory.Of(rule); got == nil || got.Reason != "own" {
		t.Errorf("the record is %v", got)
	}
	if got := (*trace.Memory)(nil).Of(rule); got != nil {
		t.Errorf("nobody remembers %v", got)
	}
	if got := memory.Of(plan.Rule{Name: "r"}); got != nil {
		t.Errorf("of another set it remembers %v", got)
	}
}

// TestUnseen holds that a tree says why no rule is asked about an object, where the
// controller remembers nothing of the rule.
func TestUnseen(t *testing.T) {
	rule := plan.Rule{Kind: "ClusterRuleSet", Set: "guard", Name: "quorum"}
	unseen := trace.Trouble{Failure: "the API server is silent", Attempts: 9, Next: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Quarantined: true}
	tests := map[string]struct {
		reason string
		memory trace.Memory
		says   []string
		hides  []string
	}{
		"Unseen": {
			"It says why, and until when.",
			trace.Memory{Trouble: unseen},
			[]string{"the object cannot be looked at, by any rule\n", "failed 9 times: the API server is silent\n", "tried only now and then", "tried again at "},
			[]string{"it remembers nothing"},
		},
		"Seen": {
			"What is remembered of the rule says it.",
			trace.Memory{Trouble: unseen, Records: []trace.Record{{Rule: rule, Outcome: plan.Matched, Trouble: unseen}}},
			[]string{"decided: matched\n", "failed 9 times"},
			[]string{"by any rule"},
		},
		"Unknown": {"There is nothing to say.", trace.Memory{}, []string{"it remembers nothing of the rule and the object\n"}, []string{"by any rule"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tree := trace.Trace{Rule: trace.Rule{Rule: rule}, Controller: &tc.memory}.Tree()
			for _, want := range tc.says {
				if !strings.Contains(tree, want) {
					t.Errorf("%s %q is missing in\n%s", tc.reason, want, tree)
				}
			}
			for _, other := range tc.hides {
				if strings.Contains(tree, other) {
					t.Errorf("%s %q is in\n%s", tc.reason, other, tree)
				}
			}
		})
	}
}
