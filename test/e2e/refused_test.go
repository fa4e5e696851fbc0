package e2e

import (
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRefusedElements holds that children which the API server refuses keep no other child from being made, and that the log tells each of
// them once, however often the object changes.
func TestRefusedElements(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		tidbCluster(t, namespace, "db", "")
		p := start(t, "--instance", namespace, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: refused, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: mirror
    watch: tidbclusters
    when: object.metadata.labels.poke != object.metadata.labels.seen
    actions: [{patch: {merge: {metadata: {labels: {seen: "${object.metadata.labels.poke}"}}}}}]
  - name: children
    watch: tidbclusters
    actions:
    - forEach: {name: "${['Bad_1', 'Bad_2', 'good', 'Bad_3']}"}
      apply: {resource: configmaps, manifest: {metadata: {name: "${name}"}, data: {of: "${object.metadata.labels.poke ?? 'none'}"}}}
`))
		eventually(t, "the child that is right is made", func() bool { return exists(t, configmaps, namespace, "good") })
		for _, poke := range []string{"once", "twice"} {
			edit(t, tidbclusters, namespace, "db", `{"metadata":{"labels":{"poke":"`+poke+`"}}}`)
			eventually(t, "the child that is right follows", func() bool { return field(get(t, configmaps, namespace, "good"), "data", "of") == poke })
		}
		for _, name := range []string{"Bad_1", "Bad_2", "Bad_3"} {
			eventually(t, "the log tells that "+name+" is refused", func() bool { return p.lines(0, "write failed", name) > 0 })
			if n := p.lines(0, "write failed", name); n != 1 {
				t.Errorf("the log tells %d times that %s was refused", n, name)
			}
		}
	})
}

// TestNamespaceGoes holds that an onDelete that makes an object in a namespace which is being deleted does not hold the namespace up.
func TestNamespaceGoes(t *testing.T) {
	for name, action := range map[string]string{
		"apply":  `apply: {resource: tombs, owned: false, manifest: {metadata: {name: "tomb-${object.metadata.name}", labels: {tomb: "yes"}}}}`,
		"create": `create: {in: found, owned: false, manifest: {metadata: {name: "tomb-${object.metadata.name}", labels: {tomb: "yes"}}}}`,
	} {
		runVirtually(t, name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			for _, name := range []string{"going", "before"} {
				create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, labels: {buried: "yes"}}}`)
			}
			start(t, "--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: tomb, namespace: NAMESPACE}
spec:
  resources:
    maps: {version: v1, resource: configmaps, labelSelector: buried=yes}
    tombs: {version: v1, resource: configmaps, labelSelector: tomb=yes}
  rules:
  - name: tombstone
    watch: maps
    with: {found: {resource: tombs, all: true}}
    onDelete:
      actions:
      - event: {reason: Deleted, message: it is being deleted}
      - `+action+`
`))
			eventually(t, "both are held", func() bool {
				return len(get(t, configmaps, namespace, "going").GetFinalizers())+len(get(t, configmaps, namespace, "before").GetFinalizers()) == 2
			})
			deleteObject(t, configmaps, namespace, "before")
			eventually(t, "the tombstone is made, and its object goes", func() bool {
				return exists(t, configmaps, namespace, "tomb-before") && !exists(t, configmaps, namespace, "before")
			})
			deleteObject(t, namespacesGVR, "", namespace)
			for _, name := range []string{"going", "tomb-before"} { // As the namespace controller does, which does not run here.
				deleteObject(t, configmaps, namespace, name)
			}
			eventually(t, "the object goes, too", func() bool { return !exists(t, configmaps, namespace, "going") })
		})
	}
}

// TestChildOfAnEarlierObject holds what is said of a child whose owner was deleted and made anew before garbage collection has deleted the
// child, and that the child is made anew once it has.
func TestChildOfAnEarlierObject(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		args := []string{"--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, strings.Replace(childRules, "OPTIONS", "owned: true", 1))}
		const told = "belongs to an earlier TidbCluster db, which is gone, and is not deleted yet"
		tidbCluster(t, namespace, "db", "")
		child := func() bool {
			found := find(t, configmaps, namespace, "db-child")
			return len(found) == 1 && metav1.IsControlledBy(&found[0], get(t, tidbclusters, namespace, "db"))
		}
		p := start(t, args...)
		eventually(t, "the child is made", child)
		for _, restart := range []bool{false, true} {
			if restart {
				p.wait(t)
			}
			deleteObject(t, tidbclusters, namespace, "db")
			anew := tidbCluster(t, namespace, "db", "")
			if restart {
				p = start(t, args...)
			}
			eventually(t, "the log and an Event say that an earlier one is gone", func() bool {
				return strings.Contains(p.output.String(), told) && slices.ContainsFunc(listEvents(t, namespace), func(event eventsv1.Event) bool {
					return event.Regarding.UID == anew.GetUID() && event.Reason == "NotOurs" && strings.Contains(event.Note, told)
				})
			})
			deleteObject(t, configmaps, namespace, "db-child") // As garbage collection does, which does not run here.
			eventually(t, "the child is made anew", child)
		}
	})
}
