package v1alpha1_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

const (
	inNamespace = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: set}
spec:
  serviceAccountName: rules
  resources: {pods: {version: v1, resource: pods}}
  rules: [{name: rule, watch: pods, actions: [{delete: {}}]}]
`
	clusterWide = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  serviceAccountName: rules
  serviceAccountNamespace: rules
  resources: {pods: {version: v1, resource: pods, namespaces: [a, b]}}
  rules: [{name: rule, watch: pods, actions: [{delete: {}}]}]
`
)

// unchecked is what the server adds where a mistake kept it from evaluating expressions.
const unchecked = ", <nil>: Invalid value: null: some validation rules were not checked"

// TestRefused holds what the API server says of sets that are wrong. The language refuses
// them too, but for one thing: a file needs no ServiceAccount.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, set, before, after string
		want                       string
		file                       bool // As a file, the set would be right.
	}{
		{
			reason: "whose rights are used must be said", set: inNamespace, before: "  serviceAccountName: rules\n", file: true,
			want: "spec.serviceAccountName: Required value: a set in the cluster names the ServiceAccount, of its own namespace, as which it reads and writes",
		},
		{
			reason: "a RuleSet does not leave its namespace, nor does its identity", set: inNamespace,
			before: "  serviceAccountName: rules\n", after: "  serviceAccountName: rules\n  serviceAccountNamespace: other\n",
			want: "spec.serviceAccountNamespace: Forbidden: leave it out: the ServiceAccount of a RuleSet is in its own namespace",
		},
		{
			reason: "a RuleSet does not leave its namespace", set: inNamespace,
			before: "resource: pods}", after: "resource: pods, namespaces: [default]}",
			want: "spec.resources: Forbidden: leave namespaces out, or make it a ClusterRuleSet: a RuleSet acts in its own namespace only",
		},
		{
			reason: "whose rights are used must be said", set: clusterWide,
			before: "  serviceAccountName: rules\n  serviceAccountNamespace: rules\n", file: true,
			want: "[spec.serviceAccountName: Required value: a set in the cluster names the ServiceAccount as which it reads and writes, " +
				"spec.serviceAccountNamespace: Required value: a ClusterRuleSet has no namespace, so its ServiceAccount needs one]",
		},
		{
			reason: "half an identity is none", set: clusterWide, before: "  serviceAccountNamespace: rules\n",
			want: "spec.serviceAccountNamespace: Required value: a ClusterRuleSet has no namespace, so its ServiceAccount needs one",
		},
		{
			reason: "half an identity is none", set: clusterWide, before: "  serviceAccountName: rules\n",
			want: "spec.serviceAccountName: Required value: a set in the cluster names the ServiceAccount as which it reads and writes",
		},
		{
			reason: "the form of RBAC is not a name", set: inNamespace,
			before: "serviceAccountName: rules", after: "serviceAccountName: system:serviceaccount:a:rules",
			want: `spec.serviceAccountName: Invalid value: "system:serviceaccount:a:rules": spec.serviceAccountName in body should match ` +
				`'^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'`,
		},
		{
			reason: "there are two modes", set: inNamespace, before: "spec:", after: "spec:\n  mode: Dry",
			want: `spec.mode: Unsupported value: "Dry": supported values: "Enforce", "Audit"`,
		},
		{
			reason: "a mode that lost its value", set: inNamespace, before: "spec:", after: "spec:\n  mode:",
			want: `spec.mode: Unsupported value: null: supported values: "Enforce", "Audit"`,
		},
		{
			reason: "no condition is about nothing", set: inNamespace, before: "watch: pods", after: `watch: ""`,
			want: "spec.rules[0].watch: Required value: name what the rule watches: a key of resources, or several with commas",
		},
		{
			reason: "a rule watches something", set: inNamespace, before: "watch: pods, ",
			want: "spec.rules[0].watch: Required value",
		},
		{
			reason: "a rule does something", set: inNamespace, before: ", actions: [{delete: {}}]",
			want: "spec.rules[0].actions: Required value: a rule has actions, or onDelete with some",
		},
		{
			reason: "a list of nothing does nothing", set: inNamespace, before: "[{delete: {}}]", after: "[]",
			want: "spec.rules[0].actions: Invalid value: 0: spec.rules[0].actions in body should have at least 1 items",
		},
		{
			reason: "the name of a rule is part of labels", set: inNamespace, before: "name: rule", after: "name: My_Rule",
			want: `spec.rules[0].name: Invalid value: "My_Rule": spec.rules[0].name in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'`,
		},
		{
			reason: "a label has 63 characters", set: inNamespace, before: "name: rule", after: "name: " + strings.Repeat("a", 64),
			want: "spec.rules[0].name: Too long: may not be more than 63 bytes",
		},
		{
			reason: "rules are told apart by their names", set: inNamespace,
			before: "[{name: rule", after: "[{name: rule, watch: pods, actions: [{delete: {}}]}, {name: rule",
			want: `spec.rules[1]: Duplicate value: {"name":"rule"}`,
		},
		{
			reason: "there is nothing to watch", set: inNamespace, before: "{pods: {version: v1, resource: pods}}", after: "{}",
			want: "spec.resources: Invalid value: 0: spec.resources in body should have at least 1 properties",
		},
		{
			reason: "a subresource is not watched", set: inNamespace, before: "resource: pods", after: "resource: pods/status",
			want: `spec.resources.pods.resource: Invalid value: "pods/status": spec.resources.pods.resource in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'`,
		},
		{
			reason: "a selection of no namespace selects nothing", set: clusterWide, before: "[a, b]", after: "[]",
			want: "spec.resources.pods.namespaces: Invalid value: 0: spec.resources.pods.namespaces in body should have at least 1 items",
		},
		{
			reason: "every one is meant by leaving it out", set: clusterWide, before: "[a, b]", after: `["*"]`,
			want: `spec.resources.pods.namespaces[0]: Invalid value: "*": spec.resources.pods.namespaces[0] in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'`,
		},
		{
			reason: "there is no set without rules", set: inNamespace, before: "\n  rules: [{name: rule, watch: pods, actions: [{delete: {}}]}]",
			want: "spec.rules: Required value",
		},
	} {
		if !strings.Contains(tc.set, tc.before) {
			t.Fatalf("%s: there is no %q", tc.reason, tc.before)
		}
		text := strings.Replace(tc.set, tc.before, tc.after, 1)
		kind := text[strings.Index(text, "kind: ")+6 : strings.Index(text, "\nmetadata")]
		want := kind + `.dyncontroller.dev "set" is invalid: ` + tc.want
		_, got := stored(t, decoded(t, []byte(text)))
		if first, _, cut := strings.Cut(got, unchecked); cut {
			got = strings.Replace(first, "[", "", 1)
		}
		if got != want {
			t.Errorf("%s: the server says\n%s\nwant\n%s", tc.reason, got, want)
		}
		if right(text) != tc.file {
			t.Errorf("%s: as a file it is right: %t", tc.reason, !tc.file)
		}
	}
}

// TestAccepted holds the other side of what is refused.
func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, set, before, after string }{
		{"all that a RuleSet needs", inNamespace, "", ""},
		{"a ClusterRuleSet may choose namespaces", clusterWide, "", ""},
		{"the longest name of a rule", inNamespace, "name: rule", "name: " + strings.Repeat("a", 63)},
		{"the longest name of a set: what is made of it is cut", inNamespace, "name: set", "name: " + strings.Repeat("a.", 126) + "a"},
		{"onDelete is enough", inNamespace, "actions: [{delete: {}}]", "onDelete: {actions: [{event: {reason: Gone, message: gone}}]}"},
		{"several are watched", inNamespace, "watch: pods", "watch: ' pods , pods'"},
		{"the core group may be written out", inNamespace, "{version: v1", `{group: "", version: v1`},
		{"Audit", inNamespace, "spec:", "spec:\n  mode: Audit"},
		{"rules of other names", inNamespace, "[{name: rule", "[{name: other, watch: pods, actions: [{delete: {}}]}, {name: rule"},
	} {
		text := strings.Replace(tc.set, tc.before, tc.after, 1)
		if problem := unchanged(t, decoded(t, []byte(text))); problem != "" || text == tc.set && tc.before != "" {
			t.Errorf("%s: %s", tc.reason, problem)
		}
	}
}

// TestManyRules says that a set of the size that the language takes is not too much for
// the expressions of the schema.
func TestManyRules(t *testing.T) {
	t.Parallel()
	set := decoded(t, []byte(inNamespace))
	body := child(set, "spec")
	rule, _ := body["rules"].([]any)
	first, _ := rule[0].(map[string]any)
	var all []any
	for i := range 3000 {
		one := maps.Clone(first)
		one["name"] = fmt.Sprintf("rule-%d", i)
		all = append(all, one)
	}
	body["rules"] = all
	if _, problem := stored(t, set); problem != "" {
		t.Errorf("%.300s", problem)
	}
}
