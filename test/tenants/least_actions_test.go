package tenants

import (
	"strings"
	"testing"
)

// allActions uses all actions, in all their kinds, on resources of their own as far as
// that can be.
const allActions = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: everything, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    sources: {version: v1, resource: configmaps, labelSelector: role=source}
    children: {version: v1, resource: limitranges, labelSelector: role=child}
    main: {version: v1, resource: services, fieldSelector: metadata.name=main}
    made: {version: v1, resource: serviceaccounts, fieldSelector: metadata.name=made}
    pods: {version: v1, resource: pods}
    quotas: {version: v1, resource: resourcequotas}
    doomed: {version: v1, resource: podtemplates, labelSelector: doomed}
  rules:
  - name: hold
    watch: sources
    onDelete:
      actions:
      - event: {reason: Leaving, message: it goes}
      done: object.data?.free == "yes"
  - name: child
    watch: sources
    actions:
    - apply:
        resource: children
        manifest: {metadata: {name: "${object.metadata.name}", labels: {role: child}}, spec: {limits: []}}
        prune: true
  - name: keep
    watch: sources
    actions:
    - apply:
        resource: main
        existing: Keep
        manifest: {metadata: {name: main}, spec: {ports: [{port: 80}]}}
  - name: make
    watch: sources
    with: {made: {resource: made, name: made}, others: {resource: made, all: true}}
    when: made == nil
    actions:
    - create: {in: others, manifest: {metadata: {name: made}}}
  - name: label
    watch: sources
    with: {pods: {resource: pods, all: true}, quotas: {resource: quotas, all: true}}
    actions:
    - patch: {target: quotas, merge: {metadata: {labels: {merged: "yes"}}}}
    - when: object.metadata.labels.added == nil
      patch: {json: [{op: add, path: /metadata/labels/added, value: "yes"}]}
    - forEach: {pod: "${pods}"}
      patch: {target: pod, apply: {status: {message: seen}}, subresource: status, release: Remove}
    - forEach: {quota: "${quotas}"}
      patch: {target: quota, apply: {metadata: {labels: {applied: "yes"}}}}
  - name: doom
    watch: sources
    with: {doomed: {resource: doomed, all: true}}
    when: len(doomed) > 0
    actions:
    - delete: {target: doomed}
    - event: {reason: Doomed, message: it is gone, target: object}
`

const allActionsObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: NAMESPACE, labels: {role: source}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: a, namespace: NAMESPACE}
spec: {hard: {pods: "9"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: NAMESPACE}
spec: {containers: [{name: main, image: "registry.example.com/web:1.4"}]}
`

const doomedTemplate = `apiVersion: v1
kind: PodTemplate
metadata: {name: a, namespace: NAMESPACE, labels: {doomed: ""}}
template: {spec: {containers: [{name: main, image: "registry.example.com/web:1.4"}]}}
`

func worked(t *testing.T, namespace string) {
	t.Helper()
	apply(t, cluster(t), namespace, allActionsObjects)
	eventually(t, "everything is done", func() bool {
		return get(t, cluster(t), limitranges, namespace, "a") != nil && get(t, cluster(t), services, namespace, "main") != nil &&
			get(t, cluster(t), serviceaccounts, namespace, "made") != nil &&
			field(get(t, cluster(t), pods, namespace, "a"), "status", "message") == "seen" &&
			owned(get(t, cluster(t), resourcequotas, namespace, "a")) &&
			field(get(t, cluster(t), configmaps, namespace, "a"), "metadata", "labels", "added") == "yes"
	})
	for _, again := range []bool{false, true} {
		apply(t, cluster(t), namespace, doomedTemplate)
		eventually(t, "it is gone", func() bool { return get(t, cluster(t), podtemplates, namespace, "a") == nil })
		counted(t, cluster(t), namespace, "Doomed", again)
		eventually(t, "the rule has seen that it is gone, which ends the episode", mendedBy(t, ruleSets, namespace, "everything", "doom"))
	}
	apply(t, cluster(t), namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: NAMESPACE, labels: {role: source}}\n")
	eventually(t, "it has a finalizer and a child", func() bool {
		return len(get(t, cluster(t), configmaps, namespace, "b").GetFinalizers()) > 0 && get(t, cluster(t), limitranges, namespace, "b") != nil
	})
	kubectl(t, controlPlane(t), "delete", "configmap", "b", "-n", namespace, "--wait=false")
	counted(t, cluster(t), namespace, "Leaving", false)
	edit(t, cluster(t), configmaps, namespace, "b", `{"data": {"free": "yes"}}`)
	eventually(t, "what was held and its child are gone", func() bool {
		return get(t, cluster(t), configmaps, namespace, "b") == nil && get(t, cluster(t), limitranges, namespace, "b") == nil
	})
}

func workedLeft(t *testing.T, namespace string) string {
	t.Helper()
	var out []string
	if len(get(t, cluster(t), configmaps, namespace, "a").GetFinalizers()) > 0 {
		out = append(out, "a finalizer")
	}
	if get(t, cluster(t), limitranges, namespace, "a") != nil {
		out = append(out, "a child")
	}
	if owned(get(t, cluster(t), resourcequotas, namespace, "a")) {
		out = append(out, "a field that it owns")
	}
	if field(get(t, cluster(t), pods, namespace, "a"), "status", "message") != nil {
		out = append(out, "a field that was to go")
	}
	return strings.Join(out, ", ")
}
