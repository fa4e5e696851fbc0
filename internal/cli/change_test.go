package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

func TestDescribeWrite(t *testing.T) {
	t.Parallel()
	first := plan.Rule{Set: "shop", Name: "first"}
	second := plan.Rule{Set: "shop", Name: "second"}
	widget := plan.Object{GVR: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}, Namespace: "a", Name: "w", UID: "u"}
	secret := plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespace: "a", Name: "s", UID: "u"}
	cases := map[string]struct {
		reason    string
		operation plan.Operation
		class     write.Class
		want      string
	}{
		"fields beside their rules": {
			reason: "Who changed what, and from what.",
			operation: plan.Operation{Target: widget, Type: plan.Merge, Changes: []plan.Change{
				{Rule: first, Path: plan.Path{"spec", "size"}, Before: int64(1), After: int64(3)},
				{Rule: second, Path: plan.Path{"metadata", "labels", "example.com/x"}, After: "<y>"},
				{Rule: second, Path: plan.Path{"spec", "old"}, Before: []any{"z"}},
			}},
			class: write.Written,
			want: `patched widgets a/w (merge)
  shop/first: spec.size: 1 -> 3
  shop/second: metadata.labels["example.com/x"]: none -> "<y>"
  shop/second: spec.old: ["z"] -> none
`,
		},
		"a child": {
			reason: "What makes it one is told in words; a label that it had before is told whole.",
			operation: plan.Operation{Target: plan.Object{GVR: widget.GVR, Namespace: "a", Name: "w"}, Type: plan.Apply, Changes: []plan.Change{
				{Rule: first, Path: plan.Path{"metadata", "labels", "app"}, After: "x"},
				{Rule: first, Path: plan.Path{"metadata", "labels", plan.LabelOwnerUID}, After: "u"},
				{Rule: first, Path: plan.Path{"metadata", "labels", plan.LabelRule}, After: "first"},
				{Rule: first, Path: plan.Path{"metadata", "labels", plan.LabelSet}, Before: "other", After: "shop"},
				{Rule: first, Path: plan.Path{"metadata", "ownerReferences"}, After: []any{map[string]any{"kind": "Pod", "uid": "u"}}},
				{Rule: first, Path: plan.Path{"spec", "size"}, After: int64(3)},
			}},
			class: write.Written,
			want: `created widgets a/w (apply)
  shop/first: metadata.labels.app: none -> "x"
  shop/first: ownership (labels and ownerReferences)
  shop/first: metadata.labels["dyncontroller.dev/set"]: "other" -> "shop"
  shop/first: spec.size: none -> 3
`,
		},
		"a patch of an owner": {
			reason: "A merge makes no child.",
			operation: plan.Operation{Target: widget, Type: plan.Merge, Changes: []plan.Change{
				{Rule: first, Path: plan.Path{"metadata", "labels", plan.LabelRule}, After: "first"},
			}},
			class: write.Written,
			want:  "patched widgets a/w (merge)\n  shop/first: metadata.labels[\"dyncontroller.dev/rule\"]: none -> \"first\"\n",
		},
		"a dry run": {
			reason:    "It reads as what would be.",
			operation: plan.Operation{Target: widget, Type: plan.Apply, Subresource: "status", Body: map[string]any{"status": map[string]any{"n": int64(1)}}},
			class:     write.Simulated,
			want:      "would patch widgets a/w (apply, status)\n",
		},
		"without effect": {
			reason:    "It is not repeated, so it is told.",
			operation: plan.Operation{Target: widget, Type: plan.JSON},
			class:     write.Unchanged,
			want:      "patched widgets a/w (json): accepted, but nothing changed\n",
		},
		"a deletion without effect": {
			reason:    "Somebody else was faster.",
			operation: plan.Operation{Target: widget, Type: plan.Delete, Body: plan.Deletion{}},
			class:     write.Unchanged,
			want:      "deleted widgets a/w (delete): it was gone already\n",
		},
		"an audit": {
			reason:    "It reads as a dry run, and says that the rules are why.",
			operation: plan.Operation{Target: widget, Type: plan.Merge},
			class:     write.Audited,
			want:      "would patch widgets a/w (merge): in mode Audit, so not sent\n",
		},
		"a Secret": {
			reason: "None of its values is shown.",
			operation: plan.Operation{
				Target: secret, Type: plan.Merge, Body: map[string]any{"data": map[string]any{"password": "hunter2", "old": nil}},
				Changes: []plan.Change{{Rule: first, Path: plan.Path{"data", "password"}, Before: "hunter1", After: "hunter2"}},
			},
			class: write.Simulated,
			want:  "would patch secrets a/s (merge)\n  shop/first: data.password: \"(masked)\" -> \"(masked)\"\n",
		},
		"a new object": {
			reason: "An apply to what is not there makes it.",
			operation: plan.Operation{Target: plan.Object{GVR: widget.GVR, Namespace: "a", Name: "w"}, Type: plan.Apply, Changes: []plan.Change{
				{Rule: first, Path: plan.Path{"spec", "size"}, After: int64(3)},
			}},
			class: write.Written,
			want:  "created widgets a/w (apply)\n  shop/first: spec.size: none -> 3\n",
		},
		"a new object in a dry run": {
			reason: "It has the name that it would get.",
			operation: plan.Operation{Target: plan.Object{GVR: widget.GVR, Namespace: "a", Name: "w-x7k2p"}, Type: plan.Create, Body: map[string]any{
				"metadata": map[string]any{"name": "w-x7k2p"},
			}},
			class: write.Simulated,
			want:  "would create widgets a/w-x7k2p (create)\n",
		},
		"a deletion": {
			reason:    "There is nothing to show of it.",
			operation: plan.Operation{Target: widget, Type: plan.Delete, Body: plan.Deletion{PropagationPolicy: "Background"}},
			class:     write.Written,
			want:      "deleted widgets a/w (delete)\n",
		},
		"a deletion in an audit": {
			reason:    "It is not made either.",
			operation: plan.Operation{Target: widget, Type: plan.Delete, Body: plan.Deletion{PropagationPolicy: "Background"}},
			class:     write.Audited,
			want:      "would delete widgets a/w (delete): in mode Audit, so not sent\n",
		},
		"status without its subresource": {
			reason: "The commonest reason for a write without effect is told.",
			operation: plan.Operation{Target: widget, Type: plan.Merge, Changes: []plan.Change{
				{Rule: first, Path: plan.Path{"status", "phase"}, After: "x"},
			}},
			class: write.Unchanged,
			want: `patched widgets a/w (merge): accepted, but nothing changed; a status may need subresource: status
  shop/first: status.phase: none -> "x"
`,
		},
		"what a terminal would obey": {
			reason: "A value is shown on one line, shortened, and as it is.",
			operation: plan.Operation{Target: widget, Type: plan.Merge, Changes: []plan.Change{
				{Rule: first, Path: plan.Path{"spec"}, Before: "a\nb\x1b[2J\u009b", After: strings.Repeat("é", 200)},
			}},
			class: write.Written,
			want:  "patched widgets a/w (merge)\n  shop/first: spec: \"a\\nb\\u001b[2J\\u009B\" -> \"" + strings.Repeat("é", 99) + "...\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, describeWrite(mask.Operation(&redact.Values{}, tc.operation), tc.class, tc.class == write.Simulated)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDescribeReport(t *testing.T) {
	t.Parallel()
	key := engine.Key{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Namespace: "a", Name: "p"}
	again := engine.Failure{Key: key, Failure: guard.Failure{Rules: []plan.Rule{{Set: "s", Name: "r"}}, Err: errTest("no\x1b")}}
	report := engine.Report{Objects: 1, Written: 1, Simulated: 2, Failures: []engine.Failure{again, again, {Key: key, Failure: guard.Failure{Err: errTest("refused")}}}}
	want := "failed pods a/p: refused\nfailed pods a/p: s/r: no\\u001b\n"
	if diff := cmp.Diff(want+"1 write, 2 failures\n", describeReport(report, nil, 0, false)); diff != "" {
		t.Errorf("the same failure is shown once\n-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want+"2 writes (dry run, nothing is stored), 2 failures\n", describeReport(report, nil, 0, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDescribeReportOfWhatIsNotDone(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		report  engine.Report
		refused []error
		cleaned int
		dryRun  bool
		want    string
	}{
		"audited":         {report: engine.Report{Objects: 1, Audited: 2}, want: "0 writes, 2 in mode Audit not made, 0 failures\n"},
		"audited dry run": {report: engine.Report{Objects: 1, Simulated: 1, Audited: 2}, dryRun: true, want: "1 write (dry run, nothing is stored), 2 in mode Audit not made, 0 failures\n"},
		"waiting":         {report: engine.Report{Objects: 3, Waiting: 2}, want: "0 writes, 0 failures\n2 objects not waited for: a rule with \"for\" acts only once its condition has held for so long\n"},
		"deleted":         {report: engine.Report{Written: 1}, want: "1 write, 0 failures\n"},
		"cleaned up":      {report: engine.Report{}, cleaned: 2, want: "0 writes, 0 failures\n2 cleanups after rules that are gone\n"},
		"refused":         {report: engine.Report{Objects: 1}, refused: []error{errTest("acting as ServiceAccount a/b: there is none")}, want: "failed acting as ServiceAccount a/b: there is none\n0 writes, 1 failure\n"},
		"nothing":         {report: engine.Report{}, want: "0 writes, 0 failures\nno object is selected: check the namespaces and selectors of the rules\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, describeReport(tc.report, tc.refused, tc.cleaned, tc.dryRun)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// errTest is an error that is its text.
type errTest string

func (e errTest) Error() string { return string(e) }
