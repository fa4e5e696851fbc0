package rules_test

import (
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// TestRestoreKnowsAll holds that what is recorded to be restored is the same whether the cache keeps the whole object or only what the rules
// need of it: nothing of it may depend on fields that are not kept.
func TestRestoreKnowsAll(t *testing.T) {
	for name, tc := range map[string]struct{ reason, resource, patch, object string }{
		"one field": {
			"Only that is recorded.", "deployments", "merge: {spec: {replicas: 0}}", "spec: {replicas: 3, paused: false}",
		},
		"of an atomic map": {
			"The map is owned, and restored, as a whole.", "services", "merge: {spec: {selector: {app: maintenance}}}", "spec: {selector: {app: web, tier: front}}",
		},
		"removed from an atomic map": {
			"So it is.", "services", "merge: {spec: {selector: {app: '${nil}'}}}", "spec: {selector: {app: web, tier: front}}",
		},
		"removed from an atomic map further below": {
			"So it is.", "deployments", "merge: {spec: {template: {spec: {nodeSelector: {disk: '${nil}'}}}}}", "spec: {template: {spec: {nodeSelector: {disk: ssd, zone: a}}}}",
		},
		"removed beside another": {
			"The map around it is not empty then.", "deployments", "merge: {spec: {strategy: {rollingUpdate: null}}}", "spec: {strategy: {rollingUpdate: {maxSurge: 1}, type: RollingUpdate}}",
		},
		"removed beside another, without a schema": {
			"So it is.", "widgets", "merge: {spec: {sync: {automated: '${nil}'}}}", "spec: {sync: {automated: {prune: true}, options: [a]}}",
		},
		"removed by an expression": {
			"It may be nil, or not.", "deployments", "merge: {spec: {strategy: {rollingUpdate: '${false ? {maxSurge: 1} : nil}'}}}", "spec: {strategy: {rollingUpdate: {maxSurge: 1}, type: RollingUpdate}}",
		},
		"the last one of its map": {
			"The empty map goes.", "deployments", "merge: {spec: {strategy: {type: null}}}", "spec: {strategy: {type: Recreate}}",
		},
		"in an element": {
			"It is told by its key, which the patch does not name.", "services", "json: [{op: replace, path: /spec/ports/1/port, value: 81}]",
			"spec: {ports: [{name: a, port: 80}, {name: b, port: 90}]}",
		},
		"an element that goes": {
			"It is restored with all that it had.", "services", "json: [{op: remove, path: /spec/ports/0}]", "spec: {ports: [{name: a, port: 80, appProtocol: x}, {name: b, port: 90}]}",
		},
		"a label": {
			"Of metadata, labels are kept anyway.", "services", "merge: {metadata: {labels: {a: null, c: d}}}", "metadata: {name: web, labels: {a: b, e: f}}",
		},
		"an annotation": {
			"The record is one itself.", "services", "merge: {metadata: {annotations: {a: null}}}", "metadata: {name: web, annotations: {a: b, e: f}}",
		},
		"by a name that is computed": {
			"It is not known which field it is.", "services", "merge: {spec: {selector: {'${object.metadata.name}': x}}}", "spec: {selector: {web: y, tier: front}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			group := map[string]string{"deployments": "apps", "widgets": "example.com"}[tc.resource]
			set := loadFiles(t, rules.Options{Schemas: schema.NewCatalog(builtin.Source())}, strings.NewReplacer("GROUP", group, "RESOURCE", tc.resource, "PATCH", tc.patch).Replace(`
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {all: {group: "GROUP", version: v1, resource: RESOURCE}}
  rules:
  - name: rule
    watch: all
    actions: [{patch: {PATCH, restore: true}}]
`))
			object := map[string]any{}
			data, err := yaml.YAMLToJSON([]byte(tc.object))
			if err == nil {
				err = utiljson.Unmarshal(data, &object)
			}
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range map[string]string{"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "1"} {
				object = plan.WithField(object, plan.Path{"metadata", key}, value)
			}
			sameWhenReduced(t, set, rules.Snapshot{GVR: set.Selections()[0].GVR, Object: object, SelectedBy: set.Selections(), Now: noon})
		})
	}
}
