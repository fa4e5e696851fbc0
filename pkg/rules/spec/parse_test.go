package spec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// everything has every field that there is.
const everything = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata:
  name: every.thing
  labels: {a: b}
  annotations: {c: d}
  uid: u-1
  resourceVersion: "7"
  generation: 2
  creationTimestamp: "2026-01-01T00:00:00Z"
  managedFields: []
  finalizers: [x]
  ownerReferences: []
spec:
  description: all of it
  serviceAccountName: rules
  serviceAccountNamespace: rules-ns
  mode: Audit
  params: {least: 3, deep: {a: [1]}}
  let: {prod: object.spec.prod, second: "true"}
  resources:
    deployments:
      group: apps
      version: v1
      resource: deployments
      namespaces: [a, b]
      labelSelector: app=web,tier in (x,y)
      fieldSelector: metadata.name!=z
    pods: {version: v1, resource: pods}
  rules:
  - name: one
    description: it does one
    watch: pods, deployments
    with: {mine: {resource: pods, all: true}, other: {resource: pods, name: x}}
    let: {size: len(mine)}
    when: size > 1
    for: 5m
    actions: [{delete: {}}, {event: {reason: Seen, message: seen}}]
    onDelete: {actions: [{delete: {target: mine}}], done: size == 0, hold: true}
    suspend: true
    mode: Enforce
    limits: {maxObjects: 12.5%, per: 1d12h}
  - name: two
    watch: pods
    actions: [{delete: {}}]
status: {observedGeneration: 2}
`

func parse(t *testing.T, texts ...string) ([]*spec.Set, document.Errors) {
	t.Helper()
	var files []document.File
	for i, text := range texts {
		files = append(files, document.File{Name: string(rune('a'+i)) + ".yaml", Data: []byte(text)})
	}
	return spec.Parse(files, "default")
}

func mustParse(t *testing.T, texts ...string) []*spec.Set {
	t.Helper()
	sets, errs := parse(t, texts...)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return sets
}

// shown is a definition as text.
func shown(all []spec.Definition) []string {
	var out []string
	for _, d := range all {
		value := d.Value.Text()
		if d.Value.Kind() == document.KindMap || d.Value.Kind() == document.KindList {
			value = d.Value.Kind().String()
		}
		out = append(out, d.Name+"="+d.Key.Text()+"="+value)
	}
	return out
}

func TestParseSet(t *testing.T) {
	set := mustParse(t, everything)[0]
	got := map[string]any{
		"File": set.File, "Kind": set.Kind, "Namespace": set.Namespace, "Name": set.Name, "Description": set.Description,
		"Identity": set.Identity, "Mode": set.Mode, "Params": shown(set.Params), "Let": shown(set.Let), "Resources": set.Resources,
		"Rules": len(set.Rules), "Node": set.Node().Get("kind").Text(),
	}
	want := map[string]any{
		"File": "a.yaml", "Kind": spec.KindClusterRuleSet, "Namespace": "", "Name": "every.thing", "Description": "all of it",
		"Identity": types.NamespacedName{Namespace: "rules-ns", Name: "rules"}, "Mode": spec.Audit,
		"Params": []string{"least=least=3", "deep=deep=a map"},
		"Let":    []string{"prod=prod=object.spec.prod", "second=second=true"},
		"Resources": []spec.Resource{
			{
				Name: "deployments", GVR: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
				Namespaces: []string{"a", "b"}, LabelSelector: "app=web,tier in (x,y)", FieldSelector: "metadata.name!=z",
			},
			{Name: "pods", GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}},
		},
		"Rules": 2, "Node": spec.KindClusterRuleSet,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRule(t *testing.T) {
	rule := mustParse(t, everything)[0].Rules[0]
	if rule.OnDelete == nil || rule.Limits == nil {
		t.Fatalf("onDelete %v, limits %v", rule.OnDelete, rule.Limits)
	}
	got := map[string]any{
		"Name": rule.Name, "Description": rule.Description, "Watch": rule.Watch.Text(), "With": shown(rule.With), "Let": shown(rule.Let),
		"When": rule.When.Text(), "For": rule.For.Text(), "Actions": len(rule.Actions), "Suspend": rule.Suspend, "Mode": rule.Mode,
		"Limits": *rule.Limits, "OnDelete": len(rule.OnDelete.Actions), "Done": rule.OnDelete.Done.Text(), "Hold": rule.OnDelete.Hold,
		"Node": rule.Node().Get("when") == rule.When,
	}
	want := map[string]any{
		"Name": "one", "Description": "it does one", "Watch": "pods, deployments",
		"With": []string{"mine=mine=a map", "other=other=a map"}, "Let": []string{"size=size=len(mine)"},
		"When": "size > 1", "For": "5m", "Actions": 2, "Suspend": true, "Mode": spec.Enforce,
		"Limits":   spec.Limits{Share: spec.Share{Percent: 12.5}, Per: 36 * time.Hour},
		"OnDelete": 1, "Done": "size == 0", "Hold": true, "Node": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestParseDefaults holds what is meant where a field is left out.
func TestParseDefaults(t *testing.T) {
	rule := mustParse(t, everything)[0].Rules[1]
	if rule.When != nil || rule.For != nil || rule.OnDelete != nil || rule.Limits != nil || rule.Mode != "" || rule.Suspend {
		t.Errorf("the second rule has %+v", rule)
	}
	text := minimal("RuleSet", "name: a", "    limits: {maxObjects: 3}\n    onDelete: {actions: [{delete: {}}]}\n")
	set := mustParse(t, text)[0]
	rule = set.Rules[0]
	if set.Namespace != "default" || set.Mode != "" || set.Identity != (types.NamespacedName{}) {
		t.Errorf("the set is in %q, mode %q, as %v", set.Namespace, set.Mode, set.Identity)
	}
	if !rule.OnDelete.Hold || rule.OnDelete.Done != nil || *rule.Limits != (spec.Limits{Share: spec.Share{Objects: 3}, Per: 10 * time.Minute}) {
		t.Errorf("onDelete %+v, limits %+v", rule.OnDelete, rule.Limits)
	}
}

// minimal is a set with one rule, which may have more fields.
func minimal(kind, metadata, more string) string {
	return "apiVersion: dyncontroller.dev/v1alpha1\nkind: " + kind + "\nmetadata: {" + metadata + "}\nspec:\n" +
		"  resources: {pods: {version: v1, resource: pods}}\n  rules:\n  - name: rule\n    watch: pods\n    actions: [{delete: {}}]\n" + more
}

func TestNamespaces(t *testing.T) {
	account := func(text, more string) string { return strings.Replace(text, "spec:\n", "spec:\n"+more, 1) }
	tests := map[string]struct {
		reason, text string
		namespace    string
		identity     types.NamespacedName
	}{
		"defaulted": {"As kubectl does.", minimal("RuleSet", "name: a", ""), "default", types.NamespacedName{}},
		"given":     {"It is the set's own.", minimal("RuleSet", "name: a, namespace: ns", ""), "ns", types.NamespacedName{}},
		"cluster":   {"A ClusterRuleSet has none.", minimal("ClusterRuleSet", "name: a", ""), "", types.NamespacedName{}},
		"account": {
			"The ServiceAccount of a RuleSet is beside it.",
			account(minimal("RuleSet", "name: a, namespace: ns", ""), "  serviceAccountName: rules\n"),
			"ns",
			types.NamespacedName{Namespace: "ns", Name: "rules"},
		},
		"account, defaulted": {
			"Wherever that is.", account(minimal("RuleSet", "name: a", ""), "  serviceAccountName: rules\n"),
			"default",
			types.NamespacedName{Namespace: "default", Name: "rules"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := mustParse(t, tc.text)[0]
			if set.Namespace != tc.namespace || set.Identity != tc.identity {
				t.Errorf("%s in %q as %v, want %q and %v", tc.reason, set.Namespace, set.Identity, tc.namespace, tc.identity)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         spec.Limits
		all          bool
	}{
		"number":      {"So many objects.", "{maxObjects: 5}", spec.Limits{Share: spec.Share{Objects: 5}, Per: 10 * time.Minute}, false},
		"share":       {"Or a share of them.", `{maxObjects: "10%", per: 90s}`, spec.Limits{Share: spec.Share{Percent: 10}, Per: 90 * time.Second}, false},
		"fraction":    {"Of any size.", "{maxObjects: 0.1%, per: 60}", spec.Limits{Share: spec.Share{Percent: 0.1}, Per: time.Minute}, false},
		"everything":  {"All of them is consent.", "{maxObjects: 100%}", spec.Limits{Share: spec.Share{Percent: 100}, Per: 10 * time.Minute}, true},
		"hexadecimal": {"A number is what YAML reads.", "{maxObjects: 0x10}", spec.Limits{Share: spec.Share{Objects: 16}, Per: 10 * time.Minute}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustParse(t, minimal("ClusterRuleSet", "name: a", "    limits: "+tc.text+"\n"))[0].Rules[0].Limits
			if *got != tc.want || got.Everything() != tc.all {
				t.Errorf("%s have %+v, everything %t, want %+v", tc.reason, *got, got.Everything(), tc.want)
			}
		})
	}
	for _, wrong := range []string{"1e1%", "+5%", "0x1p3%", "Inf%", "1_0%", " 5%", "5 %", "%5", "100.1%", "0.0%"} {
		if _, errs := parse(t, minimal("ClusterRuleSet", "name: a", "    limits: {maxObjects: \""+wrong+"\"}\n")); len(errs) != 1 {
			t.Errorf("%s: want one error, have %v", wrong, errs)
		}
	}
}

// TestFiles holds which documents are sets, and which sets are the same.
func TestFiles(t *testing.T) {
	const test = "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\nmetadata: {name: t}\nspec: {anything: [1]}\n"
	tests := map[string]struct {
		reason string
		files  []string
		sets   int
		want   string
	}{
		"none":                 {"Nothing is nothing.", nil, 0, ""},
		"empty":                {"An empty file is no mistake here.", []string{"", "# Only a comment.\n", "---\n"}, 0, ""},
		"several in one":       {"A file may hold several.", []string{minimal("RuleSet", "name: a", "") + "---\n" + minimal("RuleSet", "name: b", "")}, 2, ""},
		"tests among them":     {"Tests are passed over.", []string{test, minimal("RuleSet", "name: a", ""), test}, 1, ""},
		"kinds apart":          {"The kind tells sets apart.", []string{minimal("RuleSet", "name: a", ""), minimal("ClusterRuleSet", "name: a", "")}, 2, ""},
		"namespaces apart":     {"So does the namespace.", []string{minimal("RuleSet", "name: a", ""), minimal("RuleSet", "name: a, namespace: b", "")}, 2, ""},
		"the same":             {"Two of the same name are a mistake.", []string{minimal("RuleSet", "name: a", ""), minimal("RuleSet", "name: a", "")}, 2, `b.yaml:3:11: metadata: RuleSet "a" is in a.yaml:1 already; rename one of them`},
		"the same, defaulted":  {"Even if only one says its namespace.", []string{minimal("RuleSet", "name: a, namespace: default", ""), minimal("RuleSet", "name: a", "")}, 2, `b.yaml:3:11: metadata: RuleSet "a" is in a.yaml:1 already; rename one of them`},
		"the same in one file": {"Even in one file.", []string{minimal("RuleSet", "name: a", "") + "---\n" + minimal("RuleSet", "name: a", "")}, 2, `a.yaml:13:11: metadata: RuleSet "a" is on line 1 already; rename one of them`},
		"all files":            {"One broken file hides nothing in another.", []string{"a: [", minimal("RuleSett", "name: a", ""), minimal("RuleSet", "name: A", "")}, 1, "a.yaml:1:4: \"[\" is not closed; add the closing bracket\nb.yaml:2:7: kind: unknown kind \"RuleSett\"; did you mean \"RuleSet\"?\nc.yaml:3:18: metadata.name: \"A\" is not a name that Kubernetes takes; use lower-case letters, digits, - and ., with a letter or a digit at both ends"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sets, errs := parse(t, tc.files...)
			if len(sets) != tc.sets {
				t.Errorf("%s: %d sets, want %d", tc.reason, len(sets), tc.sets)
			}
			if diff := cmp.Diff(tc.want, errs.Sorted().Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilesUnseen holds that of two sets of one name no line is told where nobody has the text.
func TestFilesUnseen(t *testing.T) {
	file := document.File{Name: "RuleSet default/a", Data: []byte(minimal("RuleSet", "name: a", "")), Unseen: true}
	_, errs := spec.Parse([]document.File{file, file}, "default")
	if got, want := errs.Error(), `RuleSet default/a: metadata: RuleSet "a" is in RuleSet default/a already; rename one of them`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestShare holds how many objects a share is.
func TestShare(t *testing.T) {
	tests := map[string]struct {
		reason  string
		share   spec.Share
		watched int
		want    int
	}{
		"Number":       {"A number is what it is.", spec.Share{Objects: 5}, 2, 5},
		"Share":        {"A share is of the objects there are.", spec.Share{Percent: 10}, 100, 10},
		"RoundedDown":  {"It is never more than the share.", spec.Share{Percent: 10}, 109, 10},
		"AtLeastOne":   {"A rule that may do nothing would be suspended.", spec.Share{Percent: 10}, 9, 1},
		"OfNothing":    {"Also where there is nothing left, as a rule deletes.", spec.Share{Percent: 10}, 0, 1},
		"Inexact":      {"4.35 percent of 10,000 is 435, whatever a float64 makes of it.", spec.Share{Percent: 4.35}, 10_000, 435},
		"InexactSmall": {"So is 0.1 percent.", spec.Share{Percent: 0.1}, 3000, 3},
		"Half":         {"And half of an odd number.", spec.Share{Percent: 50}, 3, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.share.Of(tc.watched); got != tc.want {
				t.Errorf("%s got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
