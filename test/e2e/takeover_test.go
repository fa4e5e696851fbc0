package e2e

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// siteRules make a Service, a Deployment and a ConfigMap of a TidbCluster. The parts in capitals are what a test changes.
const siteRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: SET, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    services: {version: v1, resource: services}
    deployments: {group: apps, version: v1, resource: deployments}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: RULE-service
    watch: tidbclusters
    actions:
    - apply:
        resource: services
        manifest:
          metadata: {name: shop}
          spec: {selector: {app: shop}, ports: [{name: http, port: PORT, targetPort: 8080}]}
        OPTIONS
  - name: RULE-deployment
    watch: tidbclusters
    actions:
    - apply:
        resource: deployments
        manifest:
          metadata: {name: shop}
          spec:
            replicas: 0
            selector: {matchLabels: {app: shop}}
            template:
              metadata: {labels: {app: shop}}
              spec:
                containers:
                - {name: web, image: "example.com/web:1", ports: [{containerPort: PORT, name: http}], env: [{name: TOKEN, TOKEN}]}
        OPTIONS
  - name: RULE-config
    watch: tidbclusters
    actions:
    - apply:
        resource: configmaps
        manifest: {metadata: {name: shop, labels: {LABEL: "yes"}}, data: {image: "1", DATA: "1"}}
        OPTIONS
`

// site is what the rules are to be.
type site struct{ set, rule, port, token, label, data, options string }

func (s site) text() string {
	return strings.NewReplacer("SET", s.set, "RULE", s.rule, "PORT", s.port, "TOKEN, TOKEN", "TOKEN, "+s.token, "LABEL", s.label, "DATA", s.data,
		"OPTIONS", strings.ReplaceAll(s.options, ", ", "\n        ")).Replace(siteRules)
}

var (
	oldSite = site{set: "site", rule: "old", port: "80", token: "value: plain", label: "tier", data: "old", options: "prune: true"}
	newSite = site{set: "site", rule: "old", port: "8081", token: "valueFrom: {secretKeyRef: {name: x, key: token}}", label: "level", data: "new", options: "prune: true"}
)

// shop is what there is of it.
type shop struct{ Ports, ContainerPorts, Env, Data, Labels any }

func shopIn(t *testing.T, namespace string) shop {
	t.Helper()
	column := func(list any, keys ...string) (out []any) {
		elements, _ := list.([]any)
		for _, element := range elements {
			for _, key := range keys {
				if value := element.(map[string]any)[key]; value != nil {
					out = append(out, value)
				}
			}
		}
		return out
	}
	containers, _ := field(get(t, deployments, namespace, "shop"), "spec", "template", "spec", "containers").([]any)
	web := containers[0].(map[string]any)
	config := get(t, configmaps, namespace, "shop")
	labels := config.GetLabels()
	for name := range labels {
		if strings.HasPrefix(name, "dyncontroller.dev/") {
			delete(labels, name)
		}
	}
	return shop{
		Ports: column(field(get(t, services, namespace, "shop"), "spec", "ports"), "port"), ContainerPorts: column(web["ports"], "containerPort"),
		Env: column(web["env"], "name", "value", "valueFrom"), Data: config.Object["data"], Labels: labels,
	}
}

// becomes runs rules until they are settled, and waits for what becomes of the shop. It returns what a dry run and the run say.
func (s site) becomes(t *testing.T, namespace string, more map[string]any, options ...string) (said [2]string) {
	t.Helper()
	args := append([]string{"--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, s.text())}, options...)
	said[0], _ = once(t, append(args, "--dry-run=server")...)
	output, code := once(t, args...)
	if code != 0 {
		t.Fatalf("it ended with %d:\n%s", code, output)
	}
	said[1] = output
	want := shop{
		Ports: []any{int64(80)}, ContainerPorts: []any{int64(80)}, Env: []any{"TOKEN", "plain"},
		Data: map[string]any{"image": "1", s.data: "1"}, Labels: map[string]string{s.label: "yes"},
	}
	if s.port == "8081" {
		want.Ports, want.ContainerPorts = []any{int64(8081)}, []any{int64(8081)}
		want.Env = []any{"TOKEN", map[string]any{"secretKeyRef": map[string]any{"name": "x", "key": "token"}}}
	}
	maps.Copy(want.Data.(map[string]any), more)
	if diff := cmp.Diff(want, shopIn(t, namespace)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if output, code := once(t, args...); code != 0 || !strings.Contains(output, "0 writes") && !strings.Contains(output, "no write") {
		t.Errorf("a second run ended with %d:\n%s", code, output)
	}
	return said
}

// tellRemovals fails where what was said does not name what the change from the old to the new site removes.
func tellRemovals(t *testing.T, said ...string) {
	t.Helper()
	for _, text := range said {
		for _, what := range []string{"spec.ports[port=80]", "containers[name=web].ports[containerPort=80]", "env[name=TOKEN].value", "data.old", "metadata.labels.tier"} {
			if !regexp.MustCompile(regexp.QuoteMeta(what) + ": .* -> none").MatchString(text) {
				t.Errorf("it does not tell that %s is removed:\n%s", what, text)
			}
		}
	}
}

// TestFormerManagers holds that a rule removes from a child what its manifest has no more, whoever was the manager of that in its
// place: the rule under another name, its set under another name, the client that made the object before it was adopted, or one that
// restored it.
func TestFormerManagers(t *testing.T) {
	alongside(t)
	start := func(t *testing.T) (namespace string) {
		namespace = cluster(t).Namespace(t)
		tidbCluster(t, namespace, "db", "")
		return namespace
	}
	t.Run("RuleRenamed", func(t *testing.T) { // k8s#131147
		namespace := start(t)
		oldSite.becomes(t, namespace, nil)
		renamed := newSite
		renamed.rule = "new"
		said := renamed.becomes(t, namespace, nil)
		tellRemovals(t, said[:]...)
		for _, entry := range get(t, configmaps, namespace, "shop").GetManagedFields() {
			if entry.Manager != get(t, configmaps, namespace, "shop").GetManagedFields()[0].Manager {
				t.Errorf("the former rule owns something still: %v", entry)
			}
		}
	})
	t.Run("SetRenamed", func(t *testing.T) {
		namespace := start(t)
		oldSite.becomes(t, namespace, nil)
		renamed := newSite
		renamed.set, renamed.options = "other", "adopt: true, prune: true"
		said := renamed.becomes(t, namespace, nil, "--prune")
		tellRemovals(t, said[:]...)
	})
	t.Run("Adopted", func(t *testing.T) {
		for name, makes := range map[string]func(t *testing.T, gvr schema.GroupVersionResource, namespace, text string){
			"Created": func(t *testing.T, gvr schema.GroupVersionResource, namespace, text string) {
				create(t, gvr, namespace, text)
			},
			"Applied": func(t *testing.T, gvr schema.GroupVersionResource, namespace, text string) {
				object := &unstructured.Unstructured{Object: decode(t, text)}
				if _, err := client(t).Resource(gvr).Namespace(namespace).Apply(t.Context(), "shop", object, metav1.ApplyOptions{FieldManager: "kubectl"}); err != nil {
					t.Fatal(err)
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				namespace := start(t)
				makes(t, services, namespace, `{apiVersion: v1, kind: Service, metadata: {name: shop}, spec: {selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}]}}`)
				makes(t, deployments, namespace, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}, spec: {replicas: 0, selector: {matchLabels: {app: shop}},
					template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: web, image: "example.com/web:1", ports: [{containerPort: 80, name: http}], env: [{name: TOKEN, value: plain}]}]}}}}`)
				makes(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, labels: {tier: "yes"}}, data: {image: "1", old: "1", theirs: "1"}}`)
				adopting := oldSite
				adopting.options = "adopt: true, prune: true"
				adopting.becomes(t, namespace, map[string]any{"theirs": "1"})
				changed := newSite
				changed.options = adopting.options
				said := changed.becomes(t, namespace, map[string]any{"theirs": "1"})
				tellRemovals(t, said[:]...)
			})
		}
	})
	t.Run("Restored", func(t *testing.T) {
		namespace := start(t)
		oldSite.becomes(t, namespace, nil)
		for _, gvr := range []schema.GroupVersionResource{services, deployments, configmaps} {
			backup := get(t, gvr, namespace, "shop")
			deleteObject(t, gvr, namespace, "shop")
			eventually(t, "it is gone", func() bool { return len(find(t, gvr, namespace, "shop")) == 0 })
			backup.SetManagedFields(nil)
			backup.SetResourceVersion("")
			backup.SetUID("")
			if _, err := client(t).Resource(gvr).Namespace(namespace).Create(t.Context(), backup, metav1.CreateOptions{FieldManager: "backup"}); err != nil {
				t.Fatal(err)
			}
		}
		said := newSite.becomes(t, namespace, nil)
		tellRemovals(t, said[1]) // A dry run stores no entries, so that the API server refuses two ports of one name.
	})
}
