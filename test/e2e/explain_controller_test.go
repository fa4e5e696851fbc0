package e2e

import (
	"strings"
	"testing"
)

const remembering = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: memory, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps}
    secrets: {version: v1, resource: secrets, fieldSelector: metadata.name=login}
  rules:
  - name: refused
    watch: configmaps
    with: {login: {resource: secrets, name: login}}
    when: object.metadata.name == "told"
    actions: [{patch: {merge: {data: {copy: "${fromBase64(login?.data?.key ?? '')}"}}}}]
  - name: holds
    watch: configmaps
    when: object.metadata.name == "told"
    for: 1h
    actions: [{event: {reason: Held, message: held}}]
`

// TestExplainController holds what is told of a controller's memory, which never has the value
// of a Secret, and that it can be asked for by a program.
func TestExplainController(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, secrets, namespace, canarySecret)
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, immutable: true, metadata: {name: told}}")
		path := rulesFile(t, namespace, remembering)
		p := serve(t, "--rules", path)
		eventually(t, "it is in quarantine", func() bool { return p.lines(0, "keeps failing and is in quarantine") > 0 })
		tests := map[string]struct {
			reason, rule, object string
			want                 []string
		}{
			"Refused": {"How often it was tried, and when it will be.", "refused", "cm/told", []string{
				"quarantined: it is tried only now and then", "refused: data: Forbidden: field is immutable", "tried again at 20", "(masked)",
			}},
			"Holds":   {"Since when it holds.", "holds", "cm/told", []string{"decided at 20", "when holds since 20", "looks again at 20"}},
			"Nothing": {"Of what is not there nothing is remembered.", "holds", "cm/absent", []string{"it remembers nothing of the rule and the object"}},
		}
		for _, tc := range tests {
			stdout, stderr, _ := explain(t, namespace, path, tc.rule, tc.object, "--controller", p.address("metrics"))
			tellsNone(t, tc.reason, stdout+stderr)
			for _, part := range tc.want {
				if !strings.Contains(stdout, part) {
					t.Errorf("%s nothing is said of %q:\n%s%s", tc.reason, part, stdout, stderr)
				}
			}
		}
		stdout, stderr, code := command(t, "status", "memory", "--controller", p.address("metrics"))
		tellsNone(t, "The status of the set names objects and errors.", stdout+stderr)
		for _, part := range []string{"RuleSet " + namespace + "/memory", "configmaps " + namespace + "/told", "quarantined", "waiting"} {
			if code != 0 || !strings.Contains(stdout, part) {
				t.Errorf("the status does not tell of %q, %d:\n%s%s", part, code, stdout, stderr)
			}
		}
		told := asTrace(t, namespace, path, "refused", "cm/told", "--controller", p.address("metrics"))
		if told.Controller == nil || len(told.Controller.Records) != 2 || !told.Controller.Records[0].Trouble.Quarantined {
			t.Errorf("a program is told %+v", told.Controller)
		}
	})
}
