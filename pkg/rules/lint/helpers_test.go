package lint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

const head = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  params: {least: 3, class: mesh, hosts: [a, b], containers: [{name: main, image: a}]}
  resources:
    a_pods: {version: v1, resource: pods, labelSelector: a=1}
    b_pods: {version: v1, resource: pods, labelSelector: b=1}
    gateways: {group: example.com, version: v1, resource: gateways}
    tenants: {group: example.com, version: v1, resource: tenants}
    things: {group: acme.io, version: v1, resource: things}
    deployments: {group: apps, version: v1, resource: deployments}
    statefulsets: {group: apps, version: v1, resource: statefulsets}
    daemonsets: {group: apps, version: v1, resource: daemonsets}
    configmaps: {version: v1, resource: configmaps}
    pods: {version: v1, resource: pods}
    web: {version: v1, resource: pods, labelSelector: app=web}
`

const noted = "    actions: [{event: {reason: A, message: a}}]\n"

// oneRule is a set of one rule that watches a resource.
func oneRule(watch, rest string) string {
	return "  rules:\n  - name: rule\n    watch: " + watch + "\n" + rest
}

func typed(t testing.TB) rules.Options {
	t.Helper()
	return rules.Options{DefaultNamespace: "default", Schemas: schemas.Catalog(t)}
}

// findings is all that is said of a set, right or wrong.
func findings(t testing.TB, text string) document.Errors {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, typed(t))
	if set != nil {
		return set.Warnings()
	}
	return errs
}

// said is what is found in the rest of a set, without notes on what is not known, one on a line.
func said(t testing.TB, rest string) []string {
	t.Helper()
	out := []string{}
	for _, err := range findings(t, head+rest) {
		if err.Code == document.CodeUntyped {
			continue
		}
		severity := ""
		if err.Severity != document.Mistake {
			severity = err.Severity.String() + " "
		}
		out = append(out, severity+err.Path+": "+err.Message)
	}
	return out
}

type saidCase struct {
	reason string
	rest   string
	want   []string
}

func testSaid(t *testing.T, tests map[string]saidCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.want == nil {
				tc.want = []string{}
			}
			if diff := cmp.Diff(tc.want, said(t, tc.rest)); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.rest, diff)
			}
		})
	}
}
