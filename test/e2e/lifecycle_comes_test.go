package e2e

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// lifecycleObject is the rule about things of lifecycle as a set object.
const lifecycleObject = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: told, namespace: NAMESPACE}
spec:
  serviceAccountName: life
  resources:
    things: {group: GROUP, version: v1, resource: PLURAL}
  rules:
  - name: tell
    watch: things
    when: object.spec?.size == 1
    actions: [{patch: {merge: {metadata: {labels: {told: "yes"}}}}}]
`

// account makes a ServiceAccount that may do all with things.
func (d definition) account(t *testing.T, namespace string) {
	t.Helper()
	create(t, serviceaccounts, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: life}}`)
	rbac := func(resource, text string) {
		t.Helper()
		gvr := definitions
		gvr.Group, gvr.Resource = "rbac.authorization.k8s.io", resource
		create(t, gvr, namespace, strings.NewReplacer("GROUP", d.group(), "PLURAL", d.plural, "NAMESPACE", namespace).Replace(text))
	}
	rbac("roles", `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: life},
  rules: [{apiGroups: [GROUP], resources: [PLURAL], verbs: [get, list, watch, patch]}]}`)
	rbac("rolebindings", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: life},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: life}, subjects: [{kind: ServiceAccount, name: life, namespace: NAMESPACE}]}`)
}

// ready is what the status of the set object says: the reason of Ready, and the message.
func ready(t *testing.T, namespace string) string {
	t.Helper()
	all, _ := field(get(t, v1alpha1.RuleSets(), namespace, "told"), "status", "conditions").([]any)
	for _, element := range all {
		condition, _ := element.(map[string]any)
		if condition["type"] == "Ready" {
			reason, _ := condition["reason"].(string)
			message, _ := condition["message"].(string)
			return reason + ": " + message
		}
	}
	return ""
}

// TestDefinitionComesAndGoes holds that rules follow the life of the resource that they
// are about, whoever runs them and wherever they come from, that status, readiness and
// metrics tell of it, and that other rules do not mind.
func TestDefinitionComesAndGoes(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "comings", versions: []version{{name: "v1", store: true, spec: sized}}}
	d.account(t, namespace)
	defer func() { d.remove(t) }()
	in := strings.NewReplacer("GROUP", d.group(), "PLURAL", d.plural, "NAMESPACE", namespace)
	keep(t, v1alpha1.RuleSets(), namespace, decode(t, in.Replace(lifecycleObject)))
	file := strings.Replace(d.rules("v1"), "watch: things", "watch: things\n    when: object.spec?.size == 1", 1)
	p := serve(t, "--rules", rulesFile(t, namespace, file), "--rules-from-cluster")
	informer := "informer comings.v1." + d.group() + " -n " + namespace
	follows := follows{p, informer, namespace}

	others(t, namespace, "1")
	follows.absent(t)

	d.install(t)
	d.thing(t, "v1", namespace, "a", "{size: 1}")
	follows.present(t, d, "a")
	others(t, namespace, "2")

	d.remove(t)
	follows.absent(t)
	others(t, namespace, "3")

	d.versions[0].spec = unsized
	d.install(t)
	d.thing(t, "v1", namespace, "b", "{color: red}")
	eventually(t, "the set object is refused", func() bool {
		return strings.HasPrefix(ready(t, namespace), "Refused: spec.rules[0].when: ") && strings.Contains(ready(t, namespace), `no field "size"`)
	})
	p.waits(t, "rules", "[!]", "do not fit the schemas of the cluster", "spec.rules[0].when", `no field "size"`)
	if metrics := p.says(t, "metrics", "/metrics"); !strings.Contains(metrics, "dyncontroller_rules_reload_failed 1") {
		t.Error("the metrics do not say that the rules do not fit")
	}
	others(t, namespace, "4")
	if d.seen(t, namespace, "b") {
		t.Error("the rule has acted where it does not match")
	}

	d.remove(t)
	d.versions[0].spec = sized
	d.install(t)
	d.thing(t, "v1", namespace, "c", "{size: 1}")
	follows.present(t, d, "c")
	p.waits(t, "rules", "[+]")
	others(t, namespace, "5")
	p.calm(t, d, 0, 40)
}

// follows are a file and a set object that are about the same.
type follows struct {
	*process
	informer, namespace string
}

// absent holds what is told of a resource that is not there.
func (f follows) absent(t *testing.T) {
	t.Helper()
	const why = "the API server has no resource"
	f.waits(t, f.informer, "[!]", why, "; rules wait for it: life/see")
	f.waits(t, f.informer+" as "+f.namespace+"/life", "[!]", why, "; rules wait for it: told/tell")
	eventually(t, "the status says so", func() bool { return strings.Contains(ready(t, f.namespace), why) })
	if got := ready(t, f.namespace); !strings.HasPrefix(got, "Unreachable: ") {
		t.Errorf("the status is %s", got)
	}
	if metrics := f.says(t, "metrics", "/metrics"); !strings.Contains(metrics, `dyncontroller_informers{synced="false"} 2`) {
		t.Error("the metrics do not say that two caches are not complete")
	}
}

// present holds that the rules act on a thing, and what is told then.
func (f follows) present(t *testing.T, d definition, name string) {
	t.Helper()
	eventually(t, "both rules act", func() bool {
		labels := get(t, d.gvr("v1"), f.namespace, name).GetLabels()
		return labels["seen"] == "yes" && labels["told"] == "yes"
	})
	f.waits(t, f.informer, "[+]", "synced")
	f.waits(t, f.informer+" as "+f.namespace+"/life", "[+]", "synced")
	eventually(t, "the status says so", func() bool { return ready(t, f.namespace) == "Running: 1 rule in effect" })
	if metrics := f.says(t, "metrics", "/metrics"); !strings.Contains(metrics, `dyncontroller_informers{synced="false"} 0`) {
		t.Error("the metrics do not say that all caches are complete")
	}
}
