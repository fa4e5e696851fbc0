package trace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// TestList holds what a list tells of each rule, and what it leaves out.
func TestList(t *testing.T) {
	object := trace.Object{Version: "v1", Resource: "pods", Namespace: "shop", Name: "web"}
	named := func(name string, t trace.Trace) trace.Trace {
		t.Rule.Set, t.Rule.Name = "guard", name
		if t.Object == (trace.Object{}) {
			t.Object = object
		}
		return t
	}
	wants := func(kind plan.Type, object string, count int, changes ...trace.Change) trace.Want {
		return trace.Want{Type: kind, Object: object, Count: count, Changes: changes}
	}
	change := func(path string) trace.Change {
		return trace.Change{Path: path, Before: trace.Value{Absent: true}, After: text("x")}
	}
	acts := func(audited bool, wants ...trace.Want) trace.Trace {
		out := trace.Trace{Decision: trace.Decision{Outcome: plan.Matched, Audited: audited}}
		turn := trace.Turn{Wants: wants, Events: []trace.Event{{Object: "pods shop/web", Type: "Warning", Reason: "Few", Message: "too few\x1b[31m"}}}
		out.Actions = []trace.Action{{Kind: "patch", Reached: true, Count: 1, Turns: []trace.Turn{turn}}}
		for _, want := range wants {
			out.Requests = append(out.Requests, trace.Request{Type: want.Type, Object: want.Object, Audited: audited})
		}
		return out
	}
	unsent := acts(false, wants(plan.Merge, "pods shop/web", 1, change("spec.a")))
	unsent.Decision.Outcome, unsent.Decision.Reason, unsent.Requests = plan.Withheld, "another rule decides it", nil
	forbidden := trace.Trace{Decision: trace.Decision{Outcome: plan.Waiting, Next: &trace.Next{At: noon, Because: "a time comes"}}}
	forbidden.Rule.ActsAs, forbidden.Rule.At = "shop/guard", trace.Place{File: "a.yaml", Line: 7, Column: 9}
	forbidden.Obstacles = []trace.Obstacle{{Kind: trace.Audit, Text: "it is in mode Audit"}, {Kind: trace.Forbidden, Text: "the account may not list pods"}}
	remembered := trace.Trace{Decision: trace.Decision{Outcome: plan.Matched, Settled: true}}
	remembered.Controller = &trace.Memory{Waits: "for a cache", Records: []trace.Record{
		{Rule: plan.Rule{Set: "guard", Name: "a"}, Trouble: trace.Trouble{Paused: "past its limits"}},
	}}
	masked := trace.Trace{Object: trace.Object{Version: "v1", Resource: "pods", Namespace: "shop", Name: trace.Masked}}
	masked.Obstacles = []trace.Obstacle{{Kind: trace.NotSelected, Text: "labelSelector wants x"}}
	tests := map[string]struct {
		reason string
		sets   []trace.Set
		given  []trace.Trace
		want   string
	}{
		"None": {"Where no rule watches it.", nil, nil, "object  pods shop/web\nresult  no rule watches pods\n"},
		"Wants": {
			"The first changes of the first objects.", nil,
			[]trace.Trace{named("a", acts(false,
				wants(plan.Merge, "pods shop/web", 5, change("spec.a"), change("spec.b"), change("spec.c"), change("spec.d")),
				wants(plan.Delete, "pods shop/a", 0), wants(plan.Delete, "pods shop/b", 0), wants(plan.Delete, "pods shop/c", 0),
				wants(plan.Delete, "pods shop/d", 0), wants(plan.Delete, "pods shop/e", 0),
			))},
			"object  pods shop/web\n\nguard/a\n  matched\n" +
				"  would merge pods shop/web: spec.a: absent -> \"x\", spec.b: absent -> \"x\", spec.c: absent -> \"x\" and 2 more\n" +
				"  would delete pods shop/a\n  would delete pods shop/b\n  would delete pods shop/c\n  would delete pods shop/d\n" +
				"  would record Warning event Few on pods shop/web: too few\\u001b[31m\n  and would write 1 more\n",
		},
		"Audited": {
			"No Event is recorded in mode Audit.", nil,
			[]trace.Trace{named("a", acts(true, wants(plan.Merge, "pods shop/web", 1, change("spec.a"))))},
			"object  pods shop/web\n\nguard/a\n  matched, and nothing is written in mode Audit\n  would merge pods shop/web: spec.a: absent -> \"x\"\n",
		},
		"Unsent": {
			"What is not sent is not told.", nil,
			[]trace.Trace{named("a", unsent)},
			"object  pods shop/web\n\nguard/a\n  withheld: another rule decides it\n",
		},
		"Obstacles": {
			"What the result does not say is said.", nil,
			[]trace.Trace{named("a", forbidden)},
			"object  pods shop/web\n\nguard/a (a.yaml:7:9), acts as ServiceAccount shop/guard\n  waiting\n" +
				"  in the way: the account may not list pods (forbidden)\n  next 2026-01-01T12:00:00Z: a time comes\n",
		},
		"Memory": {
			"A controller tells its troubles.",
			[]trace.Set{{Name: "ClusterRuleSet guard", Newest: 2, Refused: "it is wrong", InEffect: 1, Explained: 1}},
			[]trace.Trace{named("a", remembered)},
			"object  pods shop/web\nset     ClusterRuleSet guard: generation 2 is refused: it is wrong; generation 1 is in effect, and is explained here\n" +
				"\nthe controller\n  the object waits: for a cache\n\nguard/a\n  matched, and all is as the rule wants it\n  paused: past its limits\n",
		},
		"Elsewhere": {
			"Rules that do not apply come last, and one may have masked the name.", nil,
			[]trace.Trace{named("a", masked), named("b", unsent)},
			"object  pods shop/(masked)\n\nguard/b\n  withheld: another rule decides it\n\ndo not apply: guard/a (not-selected)\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, trace.List(object, tc.sets, tc.given)); diff != "" {
				t.Errorf("%s (-want +have):\n%s", tc.reason, diff)
			}
		})
	}
}
