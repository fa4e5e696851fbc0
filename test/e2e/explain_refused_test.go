package e2e

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// TestExplainRefused holds that explain tells what the version in effect does of a set whose newest version is refused, and
// never that there is no rule.
func TestExplainRefused(t *testing.T) {
	virtually(t, func(t *testing.T) {
		installOwnCRDs(t)
		namespace := cluster(t).Namespace(t)
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")
		const set = `{apiVersion: dyncontroller.dev/v1alpha1, kind: RuleSet, metadata: {name: NAME}, spec: {serviceAccountName: default,
		resources: {configmaps: {version: v1, resource: configmaps}},
		rules: [{name: RULE, watch: configmaps, when: "object.data?.a == '1'", actions: [{event: {reason: A, message: a}}]}]}}`
		for _, named := range []*strings.Replacer{strings.NewReplacer("NAME", "guard", "RULE", "works"), strings.NewReplacer("NAME", "beside", "RULE", "other")} {
			keep(t, v1alpha1.RuleSets(), namespace, decode(t, named.Replace(set)))
		}
		p := serve(t, "--rules-from-cluster")
		judged := func(name string, generation int64) v1alpha1.Status {
			var status v1alpha1.Status
			eventually(t, "the status is of the newest generation", func() bool {
				object := get(t, v1alpha1.RuleSets(), namespace, name)
				status = v1alpha1.StatusOf(&unstructured.Unstructured{Object: object.Object})
				return status.ObservedGeneration == generation
			})
			return status
		}
		judged("guard", 1)
		edit(t, v1alpha1.RuleSets(), namespace, "guard", `{"spec": {"rules": [{"name": "renamed", "watch": "configmps", "actions": [{"event": {"reason": "A", "message": "a"}}]}]}}`)
		if status := judged("guard", 2); len(status.Rules) != 1 || status.Rules[0].Name != "works" {
			t.Fatalf("the version before is not in effect: %+v", status)
		}

		const refused = `generation 2 is refused: spec.rules[0].watch: no resource "configmps" is declared`
		tests := map[string]struct {
			reason, rule string
			asks         bool // the controller
			code         int
			want         []string
		}{
			"InEffect": {"The controller has the text.", "guard/works", true, 0, []string{
				"rule    guard/works (RuleSet " + namespace + "/guard: spec.rules[0]", "result  not matched: object.data?.a == '1' is false",
				refused, "generation 1 is in effect, and is explained here",
			}},
			"NewName":   {"The rule is only in the refused version.", "guard/renamed", true, 1, []string{"there is no rule", refused, "generation 1 is in effect"}},
			"NotAsked":  {"Only the controller has the text.", "guard/works", false, 1, []string{"there is no rule", refused, "the version in effect is not known here: ask the controller with --controller"}},
			"Beside":    {"Rules of both sets are evaluated together.", "other", true, 0, []string{"not matched: guard/works", "RuleSet " + namespace + "/guard: " + refused, "generation 1 is in effect"}},
			"Unrelated": {"What is evaluated besides is not known.", "other", false, 0, []string{"RuleSet " + namespace + "/guard: " + refused, "the version in effect is not known here"}},
		}
		for _, tc := range tests {
			var args []string
			if tc.asks {
				args = []string{"--controller", p.address("metrics")}
			}
			stdout, stderr, code := explain(t, namespace, "", append(args, tc.rule, "configmaps/web")...)
			if code != tc.code {
				t.Errorf("%s it ended with %d, want %d:\n%s%s", tc.reason, code, tc.code, stdout, stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout+stderr, part) {
					t.Errorf("%s nothing is said of %q:\n%s%s", tc.reason, part, stdout, stderr)
				}
			}
		}
		told := asTrace(t, namespace, "", "guard/works", "configmaps/web", "--controller", p.address("metrics"))
		if len(told.Sets) != 1 || told.Sets[0].Newest != 2 || told.Sets[0].InEffect != 1 || told.Sets[0].Refused == "" {
			t.Errorf("a program is told %+v", told.Sets)
		}

		// Not all that a controller refuses is wrong by itself.
		edit(t, v1alpha1.RuleSets(), namespace, "beside", `{"spec": {"resources": {"secrets": {"version": "v1", "resource": "secrets"}}, "rules": [
		{"name": "other", "watch": "secrets", "actions": [{"patch": {"merge": {"data": {"a": "YQ=="}}}}]}]}}`)
		judged("beside", 2)
		stdout, stderr, code := explain(t, namespace, "", "other", "configmaps/web")
		if code != 1 || !strings.Contains(stdout, "/beside: generation 2 is refused: ") || !strings.Contains(stdout, "--allow-sensitive") ||
			!strings.Contains(stdout, "the version in effect is not known here: ask the controller with --controller; generation 2 is explained here") {
			t.Errorf("it ended with %d:\n%s%s", code, stdout, stderr)
		}
	})
}
