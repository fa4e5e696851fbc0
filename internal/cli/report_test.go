//go:build !operator

package cli

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

var update = flag.Bool("update", false, "write the golden of report anew")

// everyVerdict has a rule for each word of a report, about a ConfigMap with the color red and a long text.
const everyVerdict = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: shop}
spec:
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: color
    watch: configmaps
    when: object.data?.color != "blue"
    actions: [{patch: {merge: {data: {color: blue}}}}, {event: {reason: Painted, message: it is blue now}}]
  - {name: text, watch: configmaps, actions: [{patch: {merge: {data: {text: a text that is as long as it is}}}}]}
  # dyncontroller:ignore conflict: that is what late is for
  - {name: late, watch: configmaps, actions: [{patch: {merge: {data: {color: green}}}}]}
  - {name: tells, watch: configmaps, actions: [{event: {reason: Seen, message: hello}}]}
  - {name: lasts, watch: configmaps, for: 1h, actions: [{patch: {merge: {data: {old: "true"}}}}]}
  - {name: fails, watch: configmaps, when: 'int(object.data?.color ?? "") > 1', actions: [{patch: {merge: {data: {old: "true"}}}}]}
  - {name: audited, watch: configmaps, mode: Audit, actions: [{patch: {merge: {data: {checked: "yes", text: another text}}}}]}
  - {name: hears, watch: configmaps, mode: Audit, actions: [{event: {type: Warning, reason: Heard, message: "it is ${object.data?.color ?? 1}"}}]}
  - {name: elsewhere, watch: configmaps, when: 'object.data?.color == "white"', actions: [{patch: {merge: {data: {old: "true"}}}}]}
  - {name: asleep, watch: configmaps, suspend: true, actions: [{patch: {merge: {data: {old: "true"}}}}]}
`

// The instants of an evaluation, in a reason and in a Report.
var (
	instants   = regexp.MustCompile(`since [-0-9:TZ]+`)
	timestamps = regexp.MustCompile(`(seconds|nanos): [0-9]+`)
)

// reportedData is that of the ConfigMap of which a report is made.
var reportedData = map[string]any{"color": "red", "text": "a text that is as long as it is"}

// reported runs the command with rules from the standard input. Instants are replaced.
func reported(t *testing.T, api *apiServer, rules string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	api.configMap("a", reportedData)
	var out, errOut output
	code = Run(t.Context(), Process{
		Args:  append([]string{"report", "--kubeconfig", api.kubeconfig(), "--rules", "-"}, args...),
		Stdin: strings.NewReader(rules), Stdout: &out, Stderr: &errOut, Version: "v1.2.3",
	})
	stdout = timestamps.ReplaceAllString(instants.ReplaceAllString(out.String(), "since INSTANT"), "$1: 1")
	return code, stdout, errOut.String()
}

func TestReport(t *testing.T) {
	t.Parallel()
	const most = `OBJECT                 RULE           DECISION       DETAILS
configmaps default/a   shop/audited   audited        data.checked: none -> "yes", data.text: "a text
                                                     that is as long as it is" -> "another text"
configmaps default/a   shop/color     would change   data.color: "red" -> "blue"
configmaps default/a   shop/fails     failed         spec.rules[5].when: "red" is not a 64-bit
                                                     integer
configmaps default/a   shop/hears     audited        record Warning event Heard: it is red
configmaps default/a   shop/lasts     waiting        when holds since INSTANT, and must
                                                     hold for 1h0m0s
configmaps default/a   shop/late      withheld       data.color is decided by rule shop/color, which
                                                     comes first
configmaps default/a   shop/tells     reports        it only records Events
configmaps default/a   shop/text      as wanted      all is as the rule wants it
`
	cases := map[string]struct {
		reason         string
		rules          string
		args           []string
		change         func(*apiServer)
		code           int
		stdout, stderr string
	}{
		"Every": {
			reason: "Each decision has a row, and what is too long goes on in the next line.", rules: everyVerdict, code: exitFinding,
			stdout: most, stderr: "1 object looked at: 1 would change, 2 audited, 1 as wanted, 1 reports, 1 waiting, 1 withheld, 1 failed\n",
		},
		"All": {
			reason: "What did not match is shown if it is asked for, with the reason.", rules: colors("red"), args: []string{"--all"},
			stdout: `OBJECT                 RULE         DECISION      DETAILS
configmaps default/a   shop/color   not matched   object.data?.color != "red" is false;
                                                  object.data?.color is "red"
`,
			stderr: "1 object looked at: 1 not matched\n",
		},
		"Nothing": {
			reason: "Where no rule matches there is no table.", rules: colors("red"), stderr: "1 object looked at: no rule matches\n",
		},
		"Unchanged": {
			reason: "What the API server takes and does not store is no change.", rules: colors("blue"), change: func(a *apiServer) { a.keeps = true },
			stdout: `OBJECT                 RULE         DECISION    DETAILS
configmaps default/a   shop/color   as wanted   all is as the rule wants it
`,
			stderr: "1 object looked at: 1 as wanted\n",
		},
		"Refused": {
			reason: "What the API server refuses fails.", rules: colors("blue"), change: func(a *apiServer) { a.refuse = "not on a friday" }, code: exitFinding,
			stdout: `OBJECT                 RULE         DECISION   DETAILS
configmaps default/a   shop/color   failed     writing configmaps default/a: not on a friday
`,
			stderr: "1 object looked at: 1 failed\n",
		},
		"Unlisted": {
			reason: "What cannot be looked at is not known.", rules: colors("blue"), args: []string{"--cache-sync-timeout=1s"},
			change: func(a *apiServer) { a.unlisted = true }, code: exitUsage,
			stderr: "dyncontroller: failed listing configmaps.v1 -n default: configmaps is forbidden: you cannot list them\n" +
				"0 objects looked at: no rule matches, 1 failure\n",
		},
		"Restored": {
			reason: "What the rule notes on the object is told only where there is nothing else.",
			rules:  strings.NewReplacer("color: blue}}}", "color: blue}}, restore: true}", "data?.color != \"blue\"", "metadata.name != \"b\"").Replace(colors("blue")), code: exitFinding,
			stdout: `OBJECT                 RULE         DECISION       DETAILS
configmaps default/a   shop/color   would change   data.color: "red" -> "blue"
`,
			stderr: "1 object looked at: 1 would change\n",
		},
		"AuditedEvent": {
			reason: "A rule in mode Audit records no Event, and an Event changes nothing.",
			rules: strings.ReplaceAll(colors("blue")[:strings.Index(colors("blue"), "    actions:")], "name: color", "name: color\n    mode: Audit") +
				"    actions: [{event: {reason: Seen, message: hello}}]\n",
			stdout: `OBJECT                 RULE         DECISION   DETAILS
configmaps default/a   shop/color   audited    record Normal event Seen: hello
`,
			stderr: "1 object looked at: 1 audited\n",
		},
		"WrongRules": {
			reason: "Neither is it with rules that are wrong.", rules: "kind: Nothing\n", code: exitUsage,
			stderr: "<stdin>:1:7: kind: unknown kind \"Nothing\"\n  1 | kind: Nothing\n    |       ^^^^^^^\n" +
				"  hint: rules are of kind RuleSet or ClusterRuleSet\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPIServer(t)
			if tc.change != nil {
				api.set(tc.change)
			}
			code, stdout, stderr := reported(t, api, tc.rules, tc.args...)
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("%s: want exit code %d, got %d\n-want +got:\n%s%s", tc.reason, tc.code, code, cmp.Diff(tc.stdout, stdout), cmp.Diff(tc.stderr, stderr))
			}
			for line := range strings.Lines(stdout) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > tableWidth {
					t.Errorf("%s: a line has %d columns: %s", tc.reason, n, line)
				}
			}
			if got := api.data("a"); !cmp.Equal(got, reportedData) {
				t.Errorf("something was stored: %v", got)
			}
		})
	}
}

// TestReportJSON holds what programs are given.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	code, stdout, _ := reported(t, newAPIServer(t), everyVerdict, "-o", "json")
	var got struct {
		Objects  int
		Findings []map[string]any
		Failures []string
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitFinding {
		t.Fatalf("exit code %d, %v:\n%s", code, err, stdout)
	}
	if got.Objects != 1 || len(got.Findings) != 8 || len(got.Failures) > 0 {
		t.Fatalf("want 8 findings of 1 object and no failures, have %s", stdout)
	}
	want := map[string]any{
		"resource": "configmaps.v1", "kind": "ConfigMap", "namespace": "default", "name": "a", "uid": "uid-a",
		"rule":     map[string]any{"kind": "RuleSet", "namespace": "default", "set": "shop", "name": "audited"},
		"decision": "audited", "outcome": "matched", "audited": true,
		"details": `data.checked: none -> "yes", data.text: "a text that is as long as it is" -> "another text"`,
		"writes": []any{map[string]any{
			"action": "would patch", "type": "merge", "resource": "configmaps.v1", "namespace": "default", "name": "a",
			"remark": "in mode Audit, so not sent", "rules": []any{"shop/audited"},
			"changes": []any{
				map[string]any{"rule": "shop/audited", "path": "data.checked", "before": nil, "after": "yes"},
				map[string]any{"rule": "shop/audited", "path": "data.text", "before": reportedData["text"], "after": "another text"},
			},
		}},
	}
	if diff := cmp.Diff(want, got.Findings[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestReportOpenReports holds that what is printed are Reports as the definition of OpenReports has them, and what they say.
func TestReportOpenReports(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/openreports.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := crd.Read("openreports.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	known := types.NewCatalog(crd.NewSource(definitions))

	code, stdout, _ := reported(t, newAPIServer(t), everyVerdict, "-o", "openreports", "--all")
	if code != exitFinding {
		t.Errorf("want exit code %d, got %d", exitFinding, code)
	}
	const golden = "testdata/report.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(stdout), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), stdout); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// An object without a namespace has a report of another kind.
	var cluster strings.Builder
	nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	if err := showReports(&cluster, []*finding{{object: plan.Object{GVR: nodes, Kind: "Node", Name: "n"}, outcome: plan.Waiting}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{stdout, cluster.String()} {
		data, err := document.ParseData(text, value.NewBudget(0))
		if err != nil {
			t.Fatal(err)
		}
		object, _ := data.(map[string]any)
		resource := map[string]string{"ClusterReport": "clusterreports", "Report": "reports"}[plan.Text(object, "kind")]
		group, version, _ := strings.Cut(plan.Text(object, "apiVersion"), "/")
		found := known.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
		if found == nil || found.Namespaced != (plan.Text(object, "metadata", "namespace") != "") {
			t.Fatalf("OpenReports has no such kind:\n%s", text)
		}
		for _, wrong := range found.Type.Validate(object, types.Whole) {
			t.Errorf("%v: %s in\n%s", wrong.Path, wrong.Message, text)
		}
		results, _ := object["results"].([]any)
		delete(results[0].(map[string]any), "policy")
		if found.Type.Validate(object, types.Whole) == nil {
			t.Error("a result without a policy is valid, so the definition is not the one that is meant")
		}
	}
}

// TestOpenReports holds that there is a report for each namespace, and that it counts.
func TestOpenReports(t *testing.T) {
	t.Parallel()
	in := func(namespace string, outcome plan.Outcome, more func(*finding)) *finding {
		out := &finding{object: plan.Object{Namespace: namespace, Name: "x"}, outcome: outcome}
		out.rule = plan.Rule{Kind: "ClusterRuleSet", Set: "guard", Name: "r"}
		if more != nil {
			more(out)
		}
		return out
	}
	got := openReports([]*finding{
		in("", plan.Matched, nil),
		in("a", plan.Matched, func(f *finding) { f.writes = []simulated{{}} }),
		in("a", plan.Matched, func(f *finding) { f.tells = true }),
		in("a", plan.Matched, func(f *finding) { f.tells, f.audited, f.events = true, true, []plan.Event{{}} }),
		in("a", plan.Matched, func(f *finding) { f.undone = verdictFailed }),
		in("a", plan.Withheld, nil),
		in("b", plan.Refused, func(f *finding) { f.rule = plan.Rule{Kind: "RuleSet", Namespace: "b", Set: "own", Name: "r"} }),
		in("b", plan.Failed, nil),
		in("b", plan.Waiting, nil),
		in("b", plan.Unmatched, nil),
		in("b", plan.Skipped, nil),
	})
	type told struct {
		Kind, Namespace string
		Summary         reportSummary
		Policies        []string
	}
	var all []told
	for _, one := range got {
		now := told{Kind: one.Kind, Namespace: one.Metadata.Namespace, Summary: one.Summary}
		for _, result := range one.Results {
			now.Policies = append(now.Policies, result.Policy+" "+result.Result)
		}
		all = append(all, now)
	}
	want := []told{
		{"ClusterReport", "", reportSummary{Pass: 1}, []string{"guard pass"}},
		{"Report", "a", reportSummary{Fail: 1, Warn: 3, Error: 1}, []string{"guard fail", "guard warn", "guard warn", "guard error", "guard warn"}},
		{"Report", "b", reportSummary{Error: 2, Skip: 3}, []string{"b/own error", "guard error", "guard skip", "guard skip", "guard skip"}},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
