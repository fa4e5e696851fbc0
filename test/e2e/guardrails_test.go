package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

const guardrails = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: guardrails, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: pd-quorum
    watch: tidbclusters
    let:
      pd: object.spec.pd?.replicas ?? 0
    when: pd > 0 && pd % 2 == 0
    actions:
    - patch: {merge: {spec: {pd: {replicas: "${pd + 1}"}}}}
    - event: {type: Warning, reason: EvenPD, message: "PD had ${pd} members, an even number"}
  - name: tikv-minimum
    watch: tidbclusters
    let:
      tikv: object.spec.tikv?.replicas ?? 0
    when: tikv in 1..2
    actions:
    - patch: {json: [{op: replace, path: /spec/tikv/replicas, value: 3}]}
    - event: {type: Warning, reason: FewTiKV, message: "TiKV had ${tikv} stores"}
  - name: team-label
    watch: tidbclusters
    when: object.metadata.labels.team == nil
    actions:
    - patch: {merge: {metadata: {labels: {team: unassigned}}}}
  - name: pinned-version
    watch: tidbclusters
    when: object.spec.version in [nil, "", "latest"]
    actions:
    - patch: {merge: {spec: {version: v8.5.5}}}
    - event: {type: Warning, reason: FloatingVersion, message: "the version was not pinned"}
`

// broken is a TidbCluster that breaks every guardrail.
const broken = `{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, metadata: {name: %s}, spec: {version: latest,
	pd: {replicas: 2, requests: {storage: 1Gi}}, tikv: {replicas: 1, requests: {storage: 1Gi}}, tidb: {replicas: 1}}}`

func TestGuardrails(t *testing.T) {
	alongside(t)
	const objects = 5
	namespace := cluster(t).Namespace(t)
	for i := range objects {
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, fmt.Sprintf("basic-%d", i)))
	}
	before := requests(t)
	rules := rulesFile(t, namespace, guardrails)
	p := start(t, "--rules", rules)
	for i := range objects {
		name := fmt.Sprintf("basic-%d", i)
		eventually(t, name+" is repaired", func() bool { return repaired(t, namespace, name) == "" })
	}
	eventually(t, "all events are there", func() bool { return len(listEvents(t, namespace)) == 3*objects })
	if code := p.wait(t); code != 0 {
		t.Errorf("a graceful stop ends with %d", code)
	}

	writes := requests(t).Since(before).Writes()
	want := controlplane.Request{Verb: "PATCH", Group: "pingcap.com", Resource: "tidbclusters", Code: "200"}
	if got := writes.Count(want); got != objects {
		t.Errorf("four rules wrote each of %d objects in %d requests in all, want one each:\n%s", objects, got, writes)
	}
	seen := map[string]int{}
	for _, event := range listEvents(t, namespace) {
		seen[event.Type+" "+event.Reason+": "+event.Note]++
	}
	if diff := cmp.Diff(map[string]int{
		"Warning EvenPD: PD had 2 members, an even number":    objects,
		"Warning FewTiKV: TiKV had 1 stores":                  objects,
		"Warning FloatingVersion: the version was not pinned": objects,
	}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	shown, err := controlPlane(t).Kubectl(t.Context(), "get", "events", "-n", namespace)
	if err != nil || !strings.Contains(shown, "EvenPD") {
		t.Errorf("kubectl shows %q, err %v", shown, err)
	}

	before = requests(t)
	output, code := once(t, "--rules", rules)
	if code != 0 {
		t.Errorf("a second run ended with %d:\n%s", code, output)
	}
	if writes := ours(requests(t).Since(before)); len(writes) > 0 {
		t.Errorf("a second run sent writes:\n%s", writes)
	}
}

// repaired says what is still wrong with a cluster that was broken.
func repaired(t *testing.T, namespace, name string) string {
	t.Helper()
	object := get(t, tidbclusters, namespace, name)
	return cmp.Diff(
		[]any{int64(3), int64(3), "v8.5.5", "unassigned"},
		[]any{
			field(object, "spec", "pd", "replicas"), field(object, "spec", "tikv", "replicas"),
			field(object, "spec", "version"), field(object, "metadata", "labels", "team"),
		})
}

// ours are the writes that dyncontroller may have sent: the API server's own,
// of leases and the like, are not.
func ours(all controlplane.Requests) controlplane.Requests {
	out := controlplane.Requests{}
	for request, n := range all.Writes() {
		switch request.Group {
		case "pingcap.com", "events.k8s.io", "autoscaling":
			out[request] = n
		case "":
			if slices.Contains([]string{"configmaps", "events", "services"}, request.Resource) {
				out[request] = n
			}
		}
	}
	return out
}

// everyPatch has every kind of patch that the language knows.
const everyPatch = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: every-patch, namespace: NAMESPACE}
spec:
  resources:
    dashboards: {group: pingcap.com, version: v1alpha1, resource: tidbdashboards}
    configmaps: {version: v1, resource: configmaps, labelSelector: managed=true}
    services: {version: v1, resource: services}
    autoscalers: {group: autoscaling, version: v2, resource: horizontalpodautoscalers}
  rules:
  - name: dashboard
    watch: dashboards
    actions:
    - patch: {merge: {metadata: {labels: {seen: "yes"}}}}
    - patch: {apply: {spec: {service: {type: NodePort}, nodeSelector: {disk: ssd}}}}
    - patch: {subresource: status, merge: {status: {phase: Normal}}}
    - event: {reason: Seen, message: "${object.metadata.name} was seen"}
  - name: configmap
    watch: configmaps
    actions:
    - patch: {json: [{op: add, path: /data/json, value: "1"}]}
    - patch: {apply: {data: {applied: "${object.metadata.name}"}}}
  # A list that is merged by a key of which a part is defaulted.
  - name: service
    watch: services
    actions:
    - patch: {apply: {spec: {ports: [{port: 8080, name: extra}]}}}
  # A reference has a kind and an apiVersion, and they are fields like others.
  - name: autoscaler
    watch: autoscalers
    actions:
    - patch: {apply: {spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: tikv}}}, force: true}
`

// TestEveryPatchSettles holds that each kind of patch writes once and that a
// fresh process, which remembers nothing, sees that nothing is left to do.
func TestEveryPatchSettles(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, tidbdashboards, namespace,
		`{apiVersion: pingcap.com/v1alpha1, kind: TidbDashboard, metadata: {name: d}, spec: {clusters: [{name: basic}]}}`)
	create(t, configmaps, namespace,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {managed: "true"}}, data: {theirs: "1"}}`)
	create(t, services, namespace,
		`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}, ports: [{port: 80, name: first}]}}`)
	create(t, autoscalers, namespace, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h},
		spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: tikv}}}`)
	rules := rulesFile(t, namespace, everyPatch)
	if output, code := once(t, "--rules", rules); code != 0 {
		t.Fatalf("the first run ended with %d:\n%s", code, output)
	}
	ports, _ := field(get(t, services, namespace, "s"), "spec", "ports").([]any)
	dashboard, configMap := get(t, tidbdashboards, namespace, "d"), get(t, configmaps, namespace, "c")
	got := []any{
		field(dashboard, "metadata", "labels", "seen"), field(dashboard, "spec", "service", "type"),
		field(dashboard, "spec", "nodeSelector", "disk"), field(dashboard, "status", "phase"), field(configMap, "data"),
		field(get(t, autoscalers, namespace, "h"), "spec", "scaleTargetRef", "kind"), len(ports),
	}
	want := []any{"yes", "NodePort", "ssd", "Normal", map[string]any{"theirs": "1", "json": "1", "applied": "c"}, "StatefulSet", 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the first run (-want +got):\n%s", diff)
	}
	before := requests(t)
	if output, code := once(t, "--rules", rules); code != 0 {
		t.Fatalf("the second run ended with %d:\n%s", code, output)
	}
	if writes := ours(requests(t).Since(before)); len(writes) > 0 {
		t.Errorf("a second run sent writes:\n%s", writes)
	}
}

// TestIneffectiveWrite holds that a write that the API server undoes, which no schema
// tells, is tried once and not again, whatever else changes.
func TestIneffectiveWrite(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, services, namespace, `{apiVersion: v1, kind: Service, metadata: {name: basic}, spec: {ports: [{port: 80}]}}`)
	before := requests(t)
	p := start(t, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: ineffective, namespace: NAMESPACE}
spec:
  resources:
    services: {version: v1, resource: services}
  rules:
  - name: without-address
    watch: services
    actions: [{patch: {merge: {spec: {clusterIP: null}}}}]
  - name: copied
    watch: services
    when: object.metadata.labels.copy != object.metadata.labels.original
    actions: [{patch: {merge: {metadata: {labels: {copy: "${object.metadata.labels.original}"}}}}}]
`))
	eventually(t, "the write was tried", func() bool { return strings.Contains(p.output.String(), "no effect") })
	for i := range 5 {
		value := fmt.Sprint("v", i)
		edit(t, services, namespace, "basic", fmt.Sprintf(`{"metadata":{"labels":{"original":%q}}}`, value))
		eventually(t, "the other rule acts", func() bool {
			return field(get(t, services, namespace, "basic"), "metadata", "labels", "copy") == value
		})
	}
	p.wait(t)
	patches := requests(t).Since(before).Count(controlplane.Request{Verb: "PATCH", Resource: "services"})
	if patches != 1+5+5 {
		t.Errorf("%d patches arrived, want 1 that had no effect, 5 of the test and 5 of the other rule:\n%s", patches, p.output)
	}
}
