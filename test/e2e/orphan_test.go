package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const orphanRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: orphan, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: owned
    watch: tidbclusters
    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-owned"}, data: {a: b}}, prune: true}}]
  - name: alone
    watch: tidbclusters
    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-alone"}}, owned: false, prune: true}}]
`

// TestOrphaned holds that children that garbage collection lets go, since their owner is deleted with --cascade=orphan, are let go:
// while the process runs and while it does not. What was never owned is pruned.
func TestOrphaned(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	args := []string{"--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, orphanRules)}
	children := func(name string) (owned, alone bool) {
		return len(find(t, configmaps, namespace, name+"-owned")) == 1, len(find(t, configmaps, namespace, name+"-alone")) == 1
	}
	orphan := func(name string) {
		t.Helper()
		policy := metav1.DeletePropagationOrphan
		if err := client(t).Resource(tidbclusters).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			t.Fatal(err)
		}
		edit(t, configmaps, namespace, name+"-owned", `{"metadata":{"ownerReferences":null}}`) // As garbage collection does, which does not run here.
		edit(t, tidbclusters, namespace, name, `{"metadata":{"finalizers":null}}`)
		eventually(t, name+" is gone", func() bool { return len(find(t, tidbclusters, namespace, name)) == 0 })
	}
	for _, name := range []string{"running", "down"} {
		tidbCluster(t, namespace, name, "")
	}
	p := start(t, args...)
	eventually(t, "all children are there", func() bool {
		owned, alone := children("running")
		others, more := children("down")
		return owned && alone && others && more
	})
	released := func(name string) {
		t.Helper()
		eventually(t, "what was not owned is pruned, and what was owned is released", func() bool {
			_, alone := children(name)
			found := find(t, configmaps, namespace, name+"-owned")
			return !alone && len(found) == 1 && found[0].GetLabels()[plan.LabelSet] == "" && field(&found[0], "data", "a") == "b"
		})
	}
	orphan("running")
	released("running")
	p.wait(t)
	orphan("down")
	start(t, args...)
	released("down")
	released("running")
}
