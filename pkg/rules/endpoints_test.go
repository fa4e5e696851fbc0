package rules_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// endpointsRule does the work of Kubernetes' endpoints controller.
const endpointsRule = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    services: {version: v1, resource: services}
    pods: {version: v1, resource: pods}
    endpoints: {version: v1, resource: endpoints}
  rules:
  - name: endpoints
    watch: services
    with:
      selected: {resource: pods, matchLabels: "${object.spec.selector}"}
    let:
      ready: sortBy(filter(selected, condition(#, "Ready")?.status == "True"), [.spec.nodeName, .metadata.name])
    when: object.spec.selector != nil
    actions:
    - apply:
        resource: endpoints
        manifest:
          metadata: {name: "${object.metadata.name}"}
          subsets: |
            ${flatten(map(ready, {
              let pod = #;
              map(object.spec.ports, {{
                addresses: [{
                  ip: pod.status.podIP,
                  nodeName: pod.spec.nodeName,
                  targetRef: {kind: "Pod", name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid},
                }],
                ports: [{name: .name, port: .port}],
              }})
            }))}
`

// TestEndpoints is a legitimate heavy rule, which the budget must let pass: 1,000
// pods and two ports each.
func TestEndpoints(t *testing.T) {
	services := schema.GroupVersionResource{Version: "v1", Resource: "services"}
	endpoints := schema.GroupVersionResource{Version: "v1", Resource: "endpoints"}
	set := mustLoad(t, endpointsRule)
	service := named(t, "Service", `{metadata: {name: tikv}, spec: {selector: {app: tikv}, ports: [{name: client, port: 20160}, {name: status, port: 20180}]}}`)
	decided := set.Evaluate(rules.Snapshot{
		GVR: services, Object: service, SelectedBy: set.Selections(), Now: noon,
		Kinds:   map[schema.GroupVersionResource]plan.Kind{pods: {Name: "Pod", Namespaced: true}, endpoints: {Name: "Endpoints", Namespaced: true}},
		Related: lookup.Objects{pods: readyPods(1000)},
	})
	if len(decided.Operations) != 1 {
		t.Fatalf("got %d operations, decisions %v", len(decided.Operations), decided.Decisions)
	}
	manifest, _ := decided.Operations[0].Body.(map[string]any)
	subsets, _ := manifest["subsets"].([]any)
	if len(subsets) != 2000 {
		t.Fatalf("got %d subsets, want two for each pod", len(subsets))
	}
}

func readyPods(n int) []map[string]any {
	out := make([]map[string]any, n)
	for i := range out {
		out[i] = map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{
				"name": fmt.Sprintf("tikv-%d", i), "namespace": "db", "uid": fmt.Sprintf("u-%d", i), "resourceVersion": "1",
				"labels": map[string]any{"app": "tikv"},
			},
			"spec": map[string]any{"nodeName": fmt.Sprintf("node-%d", i%100)},
			"status": map[string]any{
				"podIP":      fmt.Sprintf("10.0.%d.%d", i/250, i%250),
				"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
			},
		}
	}
	return out
}
