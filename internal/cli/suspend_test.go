package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestSuspensions holds what suspend and resume change of a set object, and say of it.
func TestSuspensions(t *testing.T) {
	const resume = "/metadata/annotations/dyncontroller.dev~1resume"
	set, rule := plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "s"}, plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "s", Name: "b"}
	for name, tc := range map[string]struct {
		suspend bool
		of      plan.Rule
		object  string
		want    []operation
		did     string
		but     string
	}{
		"Set":        {true, set, "{spec: {rules: []}}", []operation{{"add", "/spec/suspend", true}}, "suspended", ""},
		"Rule":       {true, rule, "{spec: {rules: [{name: a}, {name: b}]}}", []operation{{"add", "/spec/rules/1/suspend", true}}, "suspended", ""},
		"NotTrue":    {true, set, "{spec: {suspend: false}}", []operation{{"add", "/spec/suspend", true}}, "suspended", ""},
		"Already":    {true, rule, "{spec: {rules: [{name: b, suspend: true}]}}", nil, "is suspended already", ""},
		"WithItsSet": {true, rule, "{spec: {suspend: true, rules: [{name: b}]}}", []operation{{"add", "/spec/rules/0/suspend", true}}, "suspended", ""},
		"Refused": {
			true, set, "{spec: {}, status: {conditions: [{type: Ready, status: 'False', reason: Refused, message: wrong}]}}",
			[]operation{{"add", "/spec/suspend", true}},
			"suspended", "",
		},
		"ResumeRefused": {
			false, set, "{spec: {suspend: true}, status: {conditions: [{type: Ready, status: 'False', reason: Refused, message: wrong}]}}",
			[]operation{{Op: "remove", Path: "/spec/suspend"}},
			"resumed", "but the set is refused: what its version in effect suspends stays so until you correct it",
		},
		"ResumeSet":  {false, set, "{spec: {suspend: true}}", []operation{{Op: "remove", Path: "/spec/suspend"}}, "resumed", ""},
		"ResumeRule": {false, rule, "{spec: {rules: [{name: b, suspend: true}]}}", []operation{{Op: "remove", Path: "/spec/rules/0/suspend"}}, "resumed", ""},
		"Neither":    {false, rule, "{spec: {rules: [{name: b}]}}", nil, "is neither suspended nor paused", ""},
		"InASuspendedSet": {
			false, rule, "{spec: {suspend: true, rules: [{name: b, suspend: true}]}}",
			[]operation{{Op: "remove", Path: "/spec/rules/0/suspend"}},
			"resumed", "but its set is suspended: resume that too",
		},
		"Paused": {
			false, rule, "{spec: {rules: [{name: b}]}, status: {paused: [{rule: b}]}}",
			[]operation{{"add", "/metadata/annotations", map[string]any{}}, {"add", resume, "b"}},
			"resumed", "",
		},
		"PausedBesideOthers": {
			false, rule, "{metadata: {annotations: {dyncontroller.dev/resume: a}}, spec: {rules: [{name: b, suspend: true}]}, status: {paused: [{rule: b}]}}",
			[]operation{{Op: "remove", Path: "/spec/rules/0/suspend"}, {"add", resume, "a,b"}},
			"resumed", "",
		},
		"SetWithPauses": {
			false, set, "{spec: {rules: [{name: a}, {name: b}]}, status: {paused: [{rule: a}, {rule: b}]}}",
			nil, "is not suspended", "rules that are paused are resumed by their names: s/a, s/b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			got, did, but := (&suspending{suspend: tc.suspend}).patch(tc.of, object)
			if diff := cmp.Diff(tc.want, got); diff != "" || did != tc.did || but != tc.but {
				t.Errorf("it says %q and %q (-want +got):\n%s", did, but, diff)
			}
		})
	}
}

// TestPick holds which set or rule a user means, and that what is proposed tells it apart.
func TestPick(t *testing.T) {
	id := func(kind, namespace, set, rule string) plan.Rule {
		return plan.Rule{Kind: kind, Namespace: namespace, Set: set, Name: rule}
	}
	all := []plan.Rule{
		id("RuleSet", "a", "b", ""), id("RuleSet", "a", "b", "x"), id("RuleSet", "c", "a", ""), id("RuleSet", "c", "a", "b"),
		id("ClusterRuleSet", "", "b", ""), id("RuleSet", "a", "web", ""), id("RuleSet", "a", "web", "web"),
	}
	for written, want := range map[string]string{
		"b/x":              "RuleSet/a/b/x",
		"RuleSet/a/b":      "RuleSet/a/b",
		"ClusterRuleSet/b": "ClusterRuleSet/b",
		"web/web":          "RuleSet/a/web/web",
		"b":                `there are several sets or rules b: write one of RuleSet/a/b, RuleSet/c/a/b, ClusterRuleSet/b`,
		"a/b":              `there are several sets or rules a/b: write one of RuleSet/a/b, RuleSet/c/a/b`,
		"web":              `there are several sets or rules web: write one of RuleSet/a/web, web/web`,
		"wob":              `there is no set or rule "wob"; did you mean web?`,
	} {
		got, err := pick("set or rule", written, all)
		text := fullName(got)
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s: got %s\nwant %s", written, text, want)
		}
	}
}
