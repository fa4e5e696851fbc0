package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestObstacles holds what is said of selections that do not have an object.
func TestObstacles(t *testing.T) {
	const set = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    labelled: {version: v1, resource: pods, labelSelector: "app=web,tier in (a,b),!skip"}
    spaced: {version: v1, resource: pods, namespaces: [b, a], labelSelector: app=web}
  rules:
  - {name: labelled, watch: labelled, actions: [{event: {reason: A, message: a}}]}
  - {name: spaced, watch: spaced, actions: [{event: {reason: A, message: a}}]}
  - {name: several, watch: "spaced,labelled", actions: [{event: {reason: A, message: a}}]}
`
	const local = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: local, namespace: a}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules: [{name: local, watch: pods, actions: [{event: {reason: A, message: a}}]}]
`
	tests := map[string]struct {
		reason, rule, object string
		want                 []string
	}{
		"Labels": {
			"each requirement that is not met, with what there is", "labelled", "{metadata: {name: p, namespace: a, labels: {tier: c, skip: x}}}",
			[]string{
				"labelSelector wants app=web, and the object has no label app (not-selected)",
				"labelSelector wants !skip, and the label skip is \"x\" (not-selected)",
				"labelSelector wants tier in (a,b), and the label tier is \"c\" (not-selected)",
			},
		},
		"Namespaces": {"where the resource is elsewhere", "spaced", "{metadata: {name: p, namespace: c, labels: {app: web}}}", []string{"resources select the namespaces a, b, and the object is in namespace c (not-selected)"}},
		"Nearest":    {"of several selections, of those that could have it", "several", "{metadata: {name: p, namespace: c, labels: {app: web}}}", []string{"labelSelector wants tier in (a,b), and the object has no label tier (not-selected)"}},
		"Here":       {"in a namespace that is selected", "spaced", "{metadata: {name: p, namespace: a}}", []string{"labelSelector wants app=web, and the object has no label app (not-selected)"}},
		"Local":      {"where a set may act", "local", "{metadata: {name: p, namespace: b}}", []string{"RuleSet a/local acts in its own namespace, and the object is in namespace b: a ClusterRuleSet acts everywhere (other-namespace)"}},
		"Scope":      {"of what is in none", "local", "{metadata: {name: p}}", []string{"RuleSet a/local acts in its own namespace, and the object has no namespace: a ClusterRuleSet acts everywhere (other-namespace)"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			loaded := mustLoad(t, set+"---"+local)
			for _, rule := range loaded.Rules() {
				if rule.ID.Name != tc.rule {
					continue
				}
				var got []string
				for _, o := range rule.Obstacles(rules.Snapshot{GVR: pods, Object: object(t, tc.object), Now: noon}) {
					got = append(got, o.Text+" ("+string(o.Kind)+")")
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +have):\n%s", tc.reason, diff)
				}
			}
		})
	}
}
