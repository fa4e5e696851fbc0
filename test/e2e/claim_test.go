package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSecondOfAnInstance holds that a process is refused while another one runs as the same instance, unless it is forced, or is
// another instance, or stores nothing; and that it runs once the other has ended.
func TestSecondOfAnInstance(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
		rules := rulesFile(t, namespace, `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: first, namespace: NAMESPACE}
spec:
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: mark
    watch: configmaps
    when: object.metadata.name == "a"
    actions: [{patch: {merge: {data: {marked: "yes"}}}}]
`)
		args := []string{"--force=false", "--namespace", namespace, "--rules", rules}
		first := start(t, args...)
		eventually(t, "the first works", func() bool { return field(get(t, configmaps, namespace, "a"), "data", "marked") == "yes" })

		for name, tc := range map[string]struct {
			reason string
			more   []string
			code   int
		}{
			"once":     {"It would clean up after the rules of the other.", []string{"--once"}, 3},
			"forced":   {"Somebody knows better.", []string{"--once", "--force"}, 0},
			"instance": {"It has an inventory of its own.", []string{"--once", "--instance", "second"}, 0},
			"dry run":  {"It stores nothing.", []string{"--once", "--dry-run=server"}, 0},
		} {
			p := start(t, append(args, tc.more...)...)
			<-p.done
			told := strings.Contains(p.output.String(), "the instance default of the namespace "+namespace+": another process has it since ")
			if p.code != tc.code || told != (tc.code == 3) {
				t.Errorf("%s: %s It ended with %d:\n%s", name, tc.reason, p.code, p.output)
			}
		}
		if code := first.wait(t); code != 0 {
			t.Errorf("the first ended with %d", code)
		}
		if output, code := once(t, args...); code != 0 {
			t.Errorf("nobody else runs, and it ended with %d:\n%s", code, output)
		}
	})
}

// TestSecondOfTheCluster holds that a process is refused that runs the rule sets in the cluster while another one does, whether that one
// elects a leader or not.
func TestSecondOfTheCluster(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		args := []string{"--force=false", "--namespace", namespace, "--rules-from-cluster"}
		for name, more := range map[string][]string{"alone": nil, "leader": {"--leader-elect"}} {
			first := start(t, append(args, more...)...)
			eventually(t, "the first has the Lease", func() bool {
				found, err := client(t).Resource(leases).Namespace(namespace).Get(t.Context(), "dyncontroller", metav1.GetOptions{})
				return err == nil && field(found, "spec", "holderIdentity") != nil && field(found, "spec", "holderIdentity") != ""
			})
			holder, _ := field(get(t, leases, namespace, "dyncontroller"), "spec", "holderIdentity").(string)
			for _, once := range []string{"--once=false", "--once"} {
				second := start(t, append(args, once)...)
				<-second.done
				if told := second.output.String(); second.code != 3 || !strings.Contains(told, "the rule sets in the cluster") || !strings.Contains(told, holder) {
					t.Errorf("%s, %s: ended with %d:\n%s", name, once, second.code, told)
				}
			}
			if code := first.wait(t); code != 0 {
				t.Errorf("%s: the first ended with %d", name, code)
			}
		}
	})
}
