package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// TestRestore holds when a rule restores what it has changed for a while, and when it does not yet know.
func TestRestore(t *testing.T) {
	const (
		before = `{metadata: {name: a, namespace: ns}, spec: {pd: {replicas: 3}, paused: false}}`
		while  = `{metadata: {name: a, namespace: ns, annotations: {dyncontroller.dev/restore: KEPT}}, spec: {pd: {replicas: 0}, paused: false}}`
		patch  = "\n    actions:\n    - patch: {merge: {spec: {pd: {replicas: 0}}}, restore: true}"
	)
	for name, tc := range map[string]struct {
		reason, rule string
		object       string
		unselected   bool
		want         string // the spec afterwards, empty where nothing is sent
	}{
		"Begins":       {"The rule matches.", patch, before, false, `{pd: {replicas: 0}, paused: false}`},
		"GoesOn":       {"It still does.", patch, while, false, ""},
		"Ends":         {"The rule does not match any more.", "\n    when: object.metadata.name == \"b\"" + patch, while, false, `{pd: {replicas: 3}, paused: false}`},
		"ActionEnds":   {"The action does not.", "\n    actions:\n    - {when: 'object.metadata.name == \"b\"', patch: {merge: {spec: {pd: {replicas: 0}}}, restore: true}}", while, false, `{pd: {replicas: 3}, paused: false}`},
		"Suspended":    {"It changes nothing any more.", "\n    suspend: true" + patch, while, false, `{pd: {replicas: 3}, paused: false}`},
		"Audited":      {"So it is then.", "\n    mode: Audit" + patch, while, false, `{pd: {replicas: 3}, paused: false}`},
		"Unselected":   {"The rule has nothing to do with the object any more.", patch, while, true, `{pd: {replicas: 3}, paused: false}`},
		"OtherField":   {"The rule changes another one now.", "\n    actions:\n    - patch: {merge: {spec: {paused: true}}, restore: true}", while, false, `{pd: {replicas: 3}, paused: true}`},
		"StaysForGood": {"The patch is not for a while any more, so it stays.", "\n    actions:\n    - patch: {merge: {spec: {pd: {replicas: 0}}}}", before, false, `{pd: {replicas: 0}, paused: false}`},
		"Waiting":      {"Nothing is known before it has held for so long.", "\n    for: 1h" + patch, while, false, ""},
		"Deleted":      {"It goes as it is.", patch, `{metadata: {name: a, namespace: ns, deletionTimestamp: "2026-01-01T00:00:00Z", annotations: {dyncontroller.dev/restore: KEPT}}, spec: {pd: {replicas: 0}}}`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := mustLoad(t, head+"  rules:\n  - name: rule\n    watch: tidbclusters"+tc.rule)
			current := object(t, tc.object)
			if metadata := current["metadata"].(map[string]any); metadata["annotations"] != nil {
				metadata["annotations"].(map[string]any)[plan.RestoreAnnotation] = kept(set)
			}
			s := snapshot(set, current)
			if tc.unselected {
				s.SelectedBy, s.LeftBy = nil, set.Selections()
			}
			var got any
			for _, operation := range set.Evaluate(s).Operations {
				got = operation.Predicted["spec"]
			}
			var want any
			if tc.want != "" {
				want = object(t, "spec: "+tc.want)["spec"]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// kept is what the rule of the test has recorded of its object.
func kept(set *rules.Set) string {
	rule := set.Rules()[0].ID
	id := rule.Finalizer()[len("dyncontroller.dev/"):]
	return `{"` + id + `":[{"path":["f:spec","f:pd","f:replicas"],"before":3,"written":0}]}`
}

// TestRestoreOfSecrets holds that nothing of a Secret is kept in an annotation.
func TestRestoreOfSecrets(t *testing.T) {
	for name, tc := range map[string]struct{ rule, want string }{
		"Secret":  {"watch: secrets\n    actions: [{patch: {merge: {data: {a: Yg==}}, restore: true}}]", "restore is not for Secrets: what they had before would be kept in an annotation"},
		"Derived": {"watch: maps\n    with: {secret: {resource: secrets, name: s}}\n    actions: [{patch: {merge: {data: {a: \"${sha256(secret?.data?.a ?? '')}\"}}, restore: true}}]", "the patch writes what it makes of a Secret, which would be kept in an annotation"},
		"Fixed":   {"watch: maps\n    with: {secret: {resource: secrets, name: s}}\n    when: secret?.data?.a != nil\n    actions: [{patch: {merge: {data: {a: b}}, restore: true}}]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleSet\nmetadata: {name: set}\nspec:\n  resources: {secrets: {version: v1, resource: secrets}, maps: {version: v1, resource: configmaps}}\n  rules:\n  - name: rule\n    " + tc.rule
			_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
			told := slices.ContainsFunc(errs, func(err *document.Error) bool { return err.Message == tc.want })
			if tc.want != "" && !told || tc.want == "" && len(errs) > 0 {
				t.Errorf("got %v, want %q", errs, tc.want)
			}
		})
	}
}
