package spec

import "testing"

// TestServiceAccountHint holds that what RBAC calls a ServiceAccount is taken apart.
func TestServiceAccountHint(t *testing.T) {
	const want = "write serviceAccountName: rules, and in a ClusterRuleSet serviceAccountNamespace: db"
	for _, text := range []string{"system:serviceaccount:db:rules", "db:rules"} {
		if wrong := serviceAccount(text); wrong == nil || wrong.hint != want {
			t.Errorf("%s: %+v", text, wrong)
		}
	}
}
