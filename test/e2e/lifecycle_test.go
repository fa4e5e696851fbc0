package e2e

import (
	"fmt"
	"strings"
	"testing"
)

const labelRule = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: label, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: label
    watch: configmaps
    when: object.metadata.name startsWith "cm"
    actions: [{patch: {merge: {metadata: {labels: {color: COLOR}}}}}]
`

func color(t *testing.T, namespace, name string) any {
	t.Helper()
	return field(get(t, configmaps, namespace, name), "metadata", "labels", "color")
}

func configMap(t *testing.T, namespace, name string) {
	t.Helper()
	create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}`, name))
}

// TestReload holds that a changed file takes effect, that a wrong one keeps the
// rules from before, and that the log says why.
func TestReload(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		configMap(t, namespace, "cm-1")
		text := func(color string) string {
			return strings.ReplaceAll(strings.ReplaceAll(labelRule, "NAMESPACE", namespace), "COLOR", color)
		}
		path := rulesFile(t, namespace, text("red"))
		p := start(t, "--rules", path)
		eventually(t, "red", func() bool { return color(t, namespace, "cm-1") == "red" })

		writeFile(t, path, text("blue"))
		eventually(t, "blue", func() bool { return color(t, namespace, "cm-1") == "blue" })

		writeFile(t, path, strings.Replace(text("green"), "watch:", "wacth:", 1))
		eventually(t, "the mistake is logged", func() bool {
			return strings.Contains(p.output.String(), "wacth") && strings.Contains(p.output.String(), `did you mean`)
		})
		configMap(t, namespace, "cm-2")
		eventually(t, "the rules from before act", func() bool { return color(t, namespace, "cm-2") == "blue" })

		writeFile(t, path, text("green"))
		for _, name := range []string{"cm-1", "cm-2"} {
			eventually(t, "green", func() bool { return color(t, namespace, name) == "green" })
		}
	})
}

// TestNamespaces holds that a RuleSet acts in its own namespace only.
func TestNamespaces(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ours, theirs := cluster(t).Namespace(t), cluster(t).Namespace(t)
		configMap(t, ours, "cm")
		configMap(t, theirs, "cm")
		rules := rulesFile(t, ours, strings.ReplaceAll(labelRule, "COLOR", "red"))
		if output, code := once(t, "--rules", rules); code != 0 {
			t.Fatalf("ended with %d:\n%s", code, output)
		}
		if got, other := color(t, ours, "cm"), color(t, theirs, "cm"); got != "red" || other != nil {
			t.Errorf("ours is %v, want red; theirs is %v, want none", got, other)
		}
	})
}

// TestMissingResource holds that a resource that cannot be listed holds back
// its own rules only, and that --once reports it.
func TestMissingResource(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		configMap(t, namespace, "cm-1")
		const missing = `
---
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: missing, namespace: NAMESPACE}
spec:
  resources:
    nothings: {group: example.com, version: v1, resource: nothings}
  rules:
  - name: never
    watch: nothings
    actions: [{event: {reason: Seen, message: never}}]
`
		rules := rulesFile(t, namespace, strings.ReplaceAll(labelRule, "COLOR", "red")+missing)
		output, code := once(t, "--rules", rules)
		if code != 1 || !strings.Contains(output, "nothings.v1.example.com") {
			t.Errorf("ended with %d, want 1 and the name of the missing resource:\n%s", code, output)
		}
		if got := color(t, namespace, "cm-1"); got != "red" {
			t.Errorf("the other rule did not act: %v", got)
		}
		configMap(t, namespace, "cm-2")
		start(t, "--rules", rules)
		eventually(t, "the other rule acts", func() bool { return color(t, namespace, "cm-2") == "red" })
	})
}

// TestDryRun holds that neither kind of dry run stores anything.
func TestDryRun(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
		rules := rulesFile(t, namespace, guardrails)
		for _, mode := range []string{"client", "server"} {
			before := requests(t)
			output, code := once(t, "--rules", rules, "--dry-run", mode)
			if code != 0 || !strings.Contains(output, "guardrails/pd-quorum") {
				t.Errorf("--dry-run=%s ended with %d:\n%s", mode, code, output)
			}
			if writes := ours(requests(t).Since(before)); len(writes) > 0 {
				t.Errorf("--dry-run=%s sent writes:\n%s", mode, writes)
			}
		}
	})
}

// TestWriteRefused holds that --once ends with 1 when the API server refuses a
// write, and says what and why: what nobody can know of a field beforehand is not
// taken for nothing.
func TestWriteRefused(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
		rules := rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: wrong, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: unknown-field
    watch: tidbclusters
    actions: [{patch: {merge: {spec: {pd: "${fromYAML('replcas: 3')}"}}}}]
`)
		output, code := once(t, "--rules", rules)
		if code != 1 || !strings.Contains(output, `unknown field "spec.pd.replcas"`) {
			t.Errorf("ended with %d:\n%s", code, output)
		}
	})
}
