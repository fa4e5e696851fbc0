package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTooLarge holds that children which the API server can never store, since they are too large, keep no other child from being made,
// however it says so.
func TestTooLarge(t *testing.T) {
	alongside(t)
	d := definition{plural: "sheets", versions: []version{{name: "v1", store: true, spec: "{text: {type: string}}"}}}
	d.install(t)
	defer d.remove(t)
	for name, tc := range map[string]struct {
		parts int // of 900 KiB each
		told  string
	}{
		"etcd's limit":              {2, "etcdserver: request is too large"},
		"the limit of etcd's calls": {3, "trying to send message larger than max"},
		"the limit of a request":    {4, "Request entity too large"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			for part := range tc.parts {
				create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: part-%d, labels: {part: "yes"}}, data: {text: %s}}`,
					part, strings.Repeat("x", 900<<10)))
			}
			tidbCluster(t, namespace, "basic", "")
			p := start(t, "--instance", namespace, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: large, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    parts: {version: v1, resource: configmaps, labelSelector: part=yes}
    sheets: {group: `+d.group()+`, version: v1, resource: sheets}
  rules:
  - name: sheets
    watch: tidbclusters
    with: {parts: {resource: parts, all: true}}
    let: {text: 'join(map(parts, .data?.text ?? ""), "")'}
    actions:
    - forEach: {number: "${1..6}"}
      apply: {resource: sheets, manifest: {metadata: {name: "s-${number}"}, spec: {text: "${number <= 3 ? text : 'small'}"}}}
`))
			eventually(t, "those that fit are made", func() bool {
				return slices.Equal(names(t, d.gvr("v1"), namespace, ""), []string{"s-4", "s-5", "s-6"})
			})
			eventually(t, "the log says why the others are not", func() bool { return strings.Contains(p.output.String(), tc.told) })
		})
	}
}

// TestRefusedElements holds that children which the API server refuses keep no other child from being made, and that the log tells each of
// them once, however often the object changes.
func TestRefusedElements(t *testing.T) {
	alongside(t)
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
}

// TestNamespaceGoes holds that an onDelete that makes an object in a namespace which is being deleted does not hold the namespace up.
func TestNamespaceGoes(t *testing.T) {
	alongside(t)
	for name, action := range map[string]string{
		"apply":  `apply: {resource: tombs, owned: false, manifest: {metadata: {name: "tomb-${object.metadata.name}", labels: {tomb: "yes"}}}}`,
		"create": `create: {in: found, owned: false, manifest: {metadata: {name: "tomb-${object.metadata.name}", labels: {tomb: "yes"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
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
	alongside(t)
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
}
