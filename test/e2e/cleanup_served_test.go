package e2e

import (
	"strings"
	"testing"
)

// TestCleanupWhileNotServed holds that a resource of which no version is served at present is not taken for one that is
// gone: its objects are still stored, and keep what rules have left. Once the CRD is gone, they are.
func TestCleanupWhileNotServed(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "sleepers", versions: []version{{name: "v1", store: true, spec: sized}}}
	d.install(t)
	d.thing(t, "v1", namespace, "a", "{}")
	const staying = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: sleep, namespace: NAMESPACE}
spec:
  resources:
    things: {group: GROUP, version: v1, resource: sleepers}
    configmaps: {version: v1, resource: configmaps, labelSelector: role=none}
  rules:
  - {name: stays, watch: configmaps, actions: [{patch: {merge: {data: {seen: "yes"}}}}]}
`
	const holding = staying + `  - {name: holds, watch: things, onDelete: {actions: [{event: {reason: Going, message: going}}]}}
`
	run := func(rules string, more ...string) (output string, code int) {
		return once(t, append(more, "--namespace", namespace, "--instance", namespace,
			"--rules", rulesFile(t, namespace, strings.ReplaceAll(rules, "GROUP", d.group())))...)
	}
	if output, code := run(holding); code != 0 || len(get(t, d.gvr("v1"), namespace, "a").GetFinalizers()) != 1 {
		t.Fatalf("ended with %d, want a finalizer:\n%s", code, output)
	}
	d.versions[0].unserved = true
	d.install(t)
	for _, more := range [][]string{{"--dry-run=client"}, {"--dry-run=server"}, nil} {
		if output, code := run(staying, more...); code != 1 || !strings.Contains(output, "no version of it is served") {
			t.Errorf("%v ended with %d, want to hear that nothing can be cleaned up now:\n%s", more, code, output)
		}
	}
	d.versions[0].unserved = false
	d.install(t)
	if output, code := run(staying); code != 0 || len(get(t, d.gvr("v1"), namespace, "a").GetFinalizers()) != 0 {
		t.Errorf("ended with %d, want the finalizer to be taken off:\n%s", code, output)
	}
	if output, code := run(holding); code != 0 {
		t.Fatalf("ended with %d:\n%s", code, output)
	}
	edit(t, d.gvr("v1"), namespace, "a", `{"metadata": {"finalizers": null}}`)
	d.remove(t)
	if output, code := run(staying); code != 0 {
		t.Errorf("ended with %d after the CRD is gone:\n%s", code, output)
	}
}
