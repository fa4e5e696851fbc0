package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// everyAction has every kind of action, and everything that a rule can leave behind.
const everyAction = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: every-action, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    dashboards: {group: pingcap.com, version: v1alpha1, resource: tidbdashboards}
    doomed: {version: v1, resource: configmaps, labelSelector: doomed=yes}
    applied: {version: v1, resource: configmaps, labelSelector: applied=yes}
    created: {version: v1, resource: configmaps, labelSelector: created=yes}
  rules:
  - name: poke
    watch: tidbclusters,dashboards
    when: object.metadata.labels.poke != object.metadata.labels.seen
    actions: [{patch: {merge: {metadata: {labels: {seen: "${object.metadata.labels.poke}"}}}}}]
  - name: patches
    watch: dashboards
    actions:
    - patch: {merge: {metadata: {labels: {merged: "yes"}}}}
    - patch: {json: [{op: add, path: /metadata/labels/json, value: "yes"}]}
    - patch: {apply: {spec: {nodeSelector: {disk: ssd}}}, release: Remove}
    - patch: {subresource: status, merge: {status: {phase: Normal}}}
    - event: {reason: Seen, message: "${object.metadata.name} was seen"}
  - name: applies
    watch: tidbclusters
    actions:
    - apply: {resource: applied, manifest: {metadata: {name: applied, labels: {applied: "yes"}}, data: {of: "${object.metadata.name}"}}, prune: true}
    - when: object.metadata.labels.seen == nil
      apply: {resource: applied, manifest: {metadata: {name: pruned, labels: {applied: "yes"}}}, prune: true}
  - name: adopts
    watch: tidbclusters
    actions:
    - apply: {resource: applied, manifest: {metadata: {name: adopted, labels: {applied: "yes"}}, data: {of: us}}, adopt: true}
  - name: creates
    watch: tidbclusters
    with:
      created: {resource: created, matchLabels: {of: "${object.metadata.name}"}}
    when: len(created) < 3
    actions:
    - forEach: {number: "${len(created)..2}"}
      create: {in: created, manifest: {metadata: {generateName: made-, labels: {created: "yes", of: "${object.metadata.name}"}}}}
  - name: deletes
    watch: tidbclusters
    with:
      doomed: {resource: doomed, all: true}
    actions: [{delete: {target: doomed}}]
  - name: holds
    watch: dashboards
    with:
      note: {resource: applied, name: adopted}
    onDelete:
      actions: [{patch: {target: note, merge: {metadata: {annotations: {going: "${object.metadata.name}"}}}}}]
      done: note?.metadata?.labels?.released == "yes"
`

// TestOnceTwiceWritesNothing holds that once all is settled, a fresh process, which remembers nothing, writes nothing:
// neither with --once nor as one that goes on. Events are aside.
func TestOnceTwiceWritesNothing(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		tidbCluster(t, namespace, "db", "")
		for _, name := range []string{"living", "dying"} {
			create(t, tidbdashboards, namespace, fmt.Sprintf(
				`{apiVersion: pingcap.com/v1alpha1, kind: TidbDashboard, metadata: {name: %s}, spec: {clusters: [{name: db}]}}`, name))
		}
		for name, labels := range map[string]string{"doomed-1": `doomed: "yes"`, "doomed-2": `doomed: "yes"`, "adopted": `applied: "yes"`} {
			create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {%s}}}`, name, labels))
		}
		p, args := proxied(t, nil)
		args = append(args, "--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, everyAction))
		run := func() []proxy.Request {
			t.Helper()
			before := p.Last()
			if output, code := once(t, args...); code != 0 {
				t.Fatalf("--once ended with %d:\n%s", code, output)
			}
			return p.Since(before, storing)
		}
		run()
		poke := func(value string) {
			t.Helper()
			patch := fmt.Sprintf(`{"metadata":{"labels":{"poke":%q}}}`, value)
			edit(t, tidbclusters, namespace, "db", patch)
			edit(t, tidbdashboards, namespace, "living", patch)
		}
		poke("once")
		deleteObject(t, tidbdashboards, namespace, "dying")
		run()

		dashboard := get(t, tidbdashboards, namespace, "living")
		got := []any{
			dashboard.GetLabels(), field(dashboard, "spec", "nodeSelector", "disk"), field(dashboard, "status", "phase"),
			len(dashboard.GetFinalizers()), names(t, configmaps, namespace, "applied=yes"), names(t, configmaps, namespace, "doomed=yes"),
			len(names(t, configmaps, namespace, "created=yes")), get(t, configmaps, namespace, "adopted").GetAnnotations()["going"],
			get(t, tidbdashboards, namespace, "dying").GetDeletionTimestamp() != nil,
		}
		want := []any{
			map[string]string{"merged": "yes", "json": "yes", "poke": "once", "seen": "once"},
			"ssd", "Normal",
			1,
			[]string{"adopted", "applied"},
			[]string(nil), 3, "dying", true,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("once settled (-want +got):\n%s", diff)
		}

		if writes := run(); len(writes) > 0 {
			t.Errorf("a second --once sent writes: %v", writes)
		}
		before := p.Last()
		start(t, args...)
		poke("again")
		for gvr, name := range map[schema.GroupVersionResource]string{tidbclusters: "db", tidbdashboards: "living"} {
			eventually(t, name+" is evaluated", func() bool { return get(t, gvr, namespace, name).GetLabels()["seen"] == "again" })
		}
		writes := map[string]int{}
		for _, r := range p.Since(before, storing) {
			writes[r.Verb+" "+r.Resource+"/"+r.Name]++
		}
		if diff := cmp.Diff(map[string]int{"patch tidbclusters/db": 1, "patch tidbdashboards/living": 1}, writes); diff != "" {
			t.Errorf("a restarted process sends only what the test asks for (-want +got):\n%s", diff)
		}
	})
}

// TestOnceOfTwoVersions holds that two rules that undo each other are not said to be settled although each watches the object in
// another version: --once ends with the failure, however often it is run. What ends it early is a matter of time.
func TestOnceOfTwoVersions(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		version := func(name, stored string) string {
			return fmt.Sprintf(`{name: %s, served: true, storage: %s, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}`, name, stored)
		}
		crd := filepath.Join(t.TempDir(), "scales.yaml")
		writeFile(t, crd, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: scales.twice.example.com}, spec: {
  group: twice.example.com, scope: Namespaced, names: {plural: scales, singular: scale, kind: Scale, listKind: ScaleList},
  conversion: {strategy: None}, versions: [`+version("v1", "true")+", "+version("v1beta1", "false")+`]}}`)
		if err := cluster(t).InstallCRDs(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"v1", "v1beta1"} {
			scales := schema.GroupVersionResource{Group: "twice.example.com", Version: of, Resource: "scales"}
			eventually(t, of+" is served", func() bool {
				_, err := client(t).Resource(scales).Namespace(namespace).Apply(t.Context(), "s", &unstructured.Unstructured{Object: decode(t,
					`{apiVersion: twice.example.com/`+of+`, kind: Scale, metadata: {name: s}}`)}, metav1.ApplyOptions{FieldManager: "test"})
				return err == nil
			})
		}
		rules := rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: versions, namespace: NAMESPACE}
spec:
  resources:
    old: {group: twice.example.com, version: v1beta1, resource: scales}
    new: {group: twice.example.com, version: v1, resource: scales}
  rules:
  - name: two
    watch: old
    actions: [{patch: {merge: {spec: {size: 2}}}}]
  - name: three
    watch: new
    actions: [{patch: {merge: {spec: {size: 3}}}}]
`)
		for range times(50, 500) {
			output, code := once(t, "--namespace", namespace, "--instance", namespace, "--rules", rules)
			if code != 1 || !strings.Contains(output, "it does not settle") {
				t.Fatalf("two rules that undo each other ended with %d:\n%s", code, output)
			}
		}
	})
}
