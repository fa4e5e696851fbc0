package tenants

import "testing"

// guard labels each ConfigMap of its namespace that asks for it, and makes a copy.
const guard = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: guard, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: color
    watch: configmaps
    when: object.data?.color == "blue"
    actions:
    - patch: {merge: {metadata: {labels: {color: "${object.data.color}"}}}}
`

const editor = `{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, patch, delete]}`

// TestSetObject holds that a set in the cluster is run as its ServiceAccount, and says so.
func TestSetObject(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "bot", editor)
		start(t, cluster(t))
		apply(t, cluster(t), namespace, guard)
		apply(t, cluster(t), namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE}\ndata: {color: blue}\n")
		ready(t, cluster(t), ruleSets, namespace, "guard")
		eventually(t, "the label", func() bool {
			return field(get(t, cluster(t), configmaps, namespace, "a"), "metadata", "labels", "color") == "blue"
		})
	})
}
