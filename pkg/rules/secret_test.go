package rules_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestFailuresOnSecretsTellNoValues holds that what a rule fails with on a
// Secret is neither in its reason nor in its error, while the place is.
func TestFailuresOnSecretsTellNoValues(t *testing.T) {
	const secrets = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {secrets: {version: v1, resource: secrets}}
  rules:
  - name: r
    watch: secrets
`
	for name, text := range map[string]string{
		"When":       "    when: int(object.data.p) > 1\n    actions: [{event: {reason: R, message: m}}]",
		"NotMatched": "    when: object.data.p == \"x\"\n    actions: [{event: {reason: R, message: m}}]",
		"Base64":     "    actions: [{event: {reason: R, message: \"${fromBase64(object.data.p)}\"}}]",
		"Reason":     "    actions: [{event: {reason: \"${object.data.p + ' '}\", message: m}}]",
		"Operation":  "    actions: [{patch: {json: [{op: \"${object.data.p}\", path: /a}]}}]",
		"Path":       "    actions: [{patch: {json: [{op: remove, path: \"/data/${object.data.p}\"}]}}]",
	} {
		t.Run(name, func(t *testing.T) {
			set := mustLoad(t, secrets+text)
			secret := object(t, `{metadata: {name: s}, data: {p: "hunter2!"}}`)
			secret["apiVersion"], secret["kind"] = "v1", "Secret"
			decided := set.Evaluate(rules.Snapshot{
				GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Object: secret,
				SelectedBy: set.Selections(), Now: time.Unix(0, 0), Explain: true,
			})
			decision := decided.Decisions[0]
			if decision.Outcome == "matched" {
				t.Fatal("the rule did not fail")
			}
			shown := decision.Reason
			if decision.Err != nil {
				shown += decision.Err.Error()
			}
			if strings.Contains(shown, "hunter2") {
				t.Errorf("shown: %s", shown)
			}
			if shown == "" {
				t.Error("nothing is said")
			}
		})
	}
}
