package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
  - name: both
    watch: tidbclusters
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-one"}, data: {a: b}}, prune: true}
    - apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-other"}}, owned: false, prune: true}
`

// TestOrphaned holds that children that garbage collection lets go, since their owner is deleted with --cascade=orphan, are let go:
// while the process runs and while it does not. What was never owned is pruned.
func TestOrphaned(t *testing.T) {
	virtually(t, func(t *testing.T) {
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
			for _, child := range []string{name + "-owned", name + "-one"} { // As garbage collection does, which does not run here.
				edit(t, configmaps, namespace, child, `{"metadata":{"ownerReferences":null}}`)
			}
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
				found := append(find(t, configmaps, namespace, name+"-owned"), find(t, configmaps, namespace, name+"-one")...)
				let := func(child unstructured.Unstructured) bool {
					return child.GetLabels()[plan.LabelSet] == "" && field(&child, "data", "a") == "b"
				}
				return !alone && len(found) == 2 && let(found[0]) && let(found[1])
			})
		}
		orphan("running")
		released("running")
		p.wait(t)
		orphan("down")
		start(t, args...)
		released("down")
		released("running")
	})
}

// TestOrphanedByARuleThatIsGone holds that a child that garbage collection has let go stays when the rule is removed before it has seen that.
func TestOrphanedByARuleThatIsGone(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		args := []string{"--namespace", namespace, "--instance", namespace, "--rules"}
		tidbCluster(t, namespace, "basic", "")
		p := start(t, append(args, rulesFile(t, namespace, orphanRules))...)
		eventually(t, "the children are there", func() bool {
			return len(find(t, configmaps, namespace, "basic-owned"))+len(find(t, configmaps, namespace, "basic-alone")) == 2
		})
		p.wait(t)
		edit(t, configmaps, namespace, "basic-owned", `{"metadata":{"ownerReferences":null}}`)
		start(t, append(args, rulesFile(t, namespace, orphanRules[:strings.Index(orphanRules, "  - name: owned")]+orphanRules[strings.Index(orphanRules, "  - name: both"):]))...)
		eventually(t, "what was not owned is cleaned up, and what was owned is released", func() bool {
			found := find(t, configmaps, namespace, "basic-owned")
			return len(find(t, configmaps, namespace, "basic-alone")) == 0 && len(found) == 1 && found[0].GetLabels()[plan.LabelSet] == ""
		})
	})
}
