package tenants

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// house is two namespaces, a and b, whose tenants both try to reach into that of the
// other, and a third, of the account of a ClusterRuleSet.
type house struct {
	a, b, home string
	process    *process
	since      time.Time
	treasures  map[string]string // the resourceVersion of what is not to be touched
	uids       map[string]string // its uid
}

func newHouse(t *testing.T, all bool) *house {
	t.Helper()
	h := &house{
		a: cluster(t).Namespace(t), b: cluster(t).Namespace(t), home: cluster(t).Namespace(t), since: time.Now(),
		treasures: map[string]string{}, uids: map[string]string{},
	}
	h.process = start(t, cluster(t))
	for _, namespace := range []string{h.a, h.b} {
		account(t, cluster(t), namespace, "bot", editor, mayTell)
		account(t, cluster(t), namespace, "stranger-"+namespace, editor, mayTell)
		if all {
			apply(t, cluster(t), namespace, everything)
		}
		apply(t, cluster(t), namespace, seed)
	}
	h.furnish(t)
	warden(t, h.home)
	return h
}

// mayTell allows Events.
const mayTell = `{apiGroups: [events.k8s.io], resources: [events], verbs: [create, get, patch]}`

// everything makes the account of a tenant an administrator of the cluster.
const everything = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all-NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: bot, namespace: NAMESPACE}]
`

// seed is what rules watch.
const seed = `apiVersion: v1
kind: ConfigMap
metadata: {name: seed, namespace: NAMESPACE, labels: {role: seed}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mayfly, namespace: NAMESPACE, labels: {role: mayfly}}
---
apiVersion: v1
kind: Secret
metadata: {name: vault, namespace: NAMESPACE}
stringData: {of: NAMESPACE}
`

// furnish gives each namespace what the other wants, and tells its rules of the other.
func (h *house) furnish(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{h.a, h.b} {
		owner := get(t, cluster(t), configmaps, namespace, "seed")
		apply(t, cluster(t), namespace, `apiVersion: v1
kind: ConfigMap
metadata:
  name: treasure
  namespace: NAMESPACE
  labels: {kind: treasure, of: NAMESPACE}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: seed, uid: `+string(owner.GetUID())+`, controller: true}]
data: {value: of NAMESPACE}
`)
		treasure := get(t, cluster(t), configmaps, namespace, "treasure")
		h.treasures[namespace], h.uids[namespace] = treasure.GetResourceVersion(), string(treasure.GetUID())
	}
	for _, one := range h.pairs() {
		for _, name := range []string{"seed", "mayfly"} {
			edit(t, cluster(t), configmaps, one.mine, name, `{"data": {"keep": "yes"}, "metadata": {"annotations": {"other": "`+one.other+`", "uid": "`+h.uids[one.other]+`",
				"path": "../../`+one.other+`/x",
				"manifest": "{\"metadata\": {\"name\": \"planted\", \"namespace\": \"`+one.other+`\"}}"}}}`)
		}
	}
}

// pair is a tenant and the other.
type pair struct{ mine, other string }

func (h *house) pairs() []pair { return []pair{{h.a, h.b}, {h.b, h.a}} }

// in writes the namespaces into a text.
func (p pair) in(text string) string {
	return strings.NewReplacer("NAMESPACE", p.mine, "OTHER", p.other).Replace(text)
}

// warden is a ClusterRuleSet that says of each seed what is in the Secret beside it.
func warden(t *testing.T, home string) {
	t.Helper()
	account(t, cluster(t), home, "warden")
	apply(t, cluster(t), home, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: warden-NAMESPACE}
rules:
- {apiGroups: [""], resources: [secrets, configmaps], verbs: [get, list, watch, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: warden-NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: warden-NAMESPACE}
subjects: [{kind: ServiceAccount, name: warden, namespace: NAMESPACE}]
---
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: NAMESPACE}
spec:
  serviceAccountName: warden
  serviceAccountNamespace: NAMESPACE
  resources:
    seeds: {version: v1, resource: configmaps, labelSelector: role=seed}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: seal
    watch: seeds
    with: {vault: {resource: secrets, name: vault}}
    when: vault?.data?.of != nil
    actions:
    - patch: {merge: {metadata: {annotations: {sealed: "${sha256(fromBase64(vault?.data?.of ?? ''))}"}}}}
`)
}

// leave takes away what is in no namespace.
func (h *house) leave(t *testing.T) {
	t.Helper()
	for _, one := range []struct {
		of   schema.GroupVersionResource
		name string
	}{
		{clusterRuleSets, h.home},
		{clusterRoleBindings, "all-" + h.a},
		{clusterRoleBindings, "all-" + h.b},
		{clusterRoleBindings, "warden-" + h.home},
		{clusterRoles, "warden-" + h.home},
	} {
		if get(t, cluster(t), one.of, "", one.name) != nil {
			remove(t, cluster(t), one.of, "", one.name)
		}
	}
}
