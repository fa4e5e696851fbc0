package e2e

import (
	"strings"
	"testing"
)

// TestMistypedResource holds that a rule which names a resource that is not served loses nothing of what it has made before, neither while the
// process runs nor when it starts, and goes on with it once it is corrected.
func TestMistypedResource(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		const right = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: copies}
spec:
  resources:
    services: {version: v1, resource: services, namespaces: [NAMESPACE]}
    configmaps: {version: v1, resource: configmaps, namespaces: [NAMESPACE]}
  rules:
  - name: copy
    watch: services
    actions:
    - apply: {resource: configmaps, prune: true, manifest: {metadata: {name: "${object.metadata.name}"}, data: {a: b}}}
`
		wrong := strings.Replace(right, "resource: configmaps, namespaces", "resource: configmapz, namespaces", 1)
		path := rulesFile(t, namespace, right)
		create(t, services, namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}")
		args := append(apart(namespace), "--rules", path)
		p := start(t, args...)
		eventually(t, "the child is made", func() bool { return exists(t, configmaps, namespace, "web") })
		uid := get(t, configmaps, namespace, "web").GetUID()
		const stays = "what rules have left stays until rule copies/copy can work"
		writeFile(t, path, strings.ReplaceAll(wrong, "NAMESPACE", namespace))
		eventually(t, "it is said why the child stays", func() bool { return strings.Contains(p.output.String(), stays) })
		p.wait(t)
		p = start(t, args...)
		eventually(t, "it is said after a start, too", func() bool { return strings.Contains(p.output.String(), stays) })
		writeFile(t, path, strings.ReplaceAll(right, "NAMESPACE", namespace))
		edit(t, configmaps, namespace, "web", `{"data":{"a":"c"}}`)
		eventually(t, "the rule goes on with the child", func() bool {
			return field(get(t, configmaps, namespace, "web"), "data", "a") == "b"
		})
		if now := get(t, configmaps, namespace, "web").GetUID(); now != uid {
			t.Error("the child was deleted, and made anew")
		}
		p.wait(t)
	})
}

// TestRestoreAround holds that a map which is atomic on the API server is restored with the keys that the rule does not write.
func TestRestoreAround(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		const page = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: page}
spec:
  resources: {services: {version: v1, resource: services, namespaces: [NAMESPACE]}}
  rules:
  - name: maintenance
    SUSPEND
    watch: services
    actions: [{patch: {merge: {spec: {selector: {app: maintenance}}}, restore: true}}]
`
		path := rulesFile(t, namespace, strings.Replace(page, "SUSPEND", "suspend: false", 1))
		create(t, services, namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web, tier: front}, ports: [{port: 80}]}}")
		selects := func(app string) func() bool {
			return func() bool {
				web := get(t, services, namespace, "web")
				return field(web, "spec", "selector", "app") == app && field(web, "spec", "selector", "tier") == "front"
			}
		}
		args := append(apart(namespace), "--rules", path)
		start(t, args...)
		eventually(t, "it is under maintenance", selects("maintenance"))
		settled(t, args...)
		writeFile(t, path, strings.NewReplacer("NAMESPACE", namespace, "SUSPEND", "suspend: true").Replace(page))
		eventually(t, "it is as before", selects("web"))
	})
}
