package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

const shrink = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: shrink, namespace: NAMESPACE}
spec:
  resources:
    deployments: {group: apps, version: v1, resource: deployments}
  rules:
  - name: at-most-two
    watch: deployments
    when: object.spec.replicas > 2
    actions:
    - patch: {subresource: scale, merge: {spec: {replicas: 2}}}
    - patch: {merge: {metadata: {annotations: {shrunk: "yes"}}}}
    - event: {reason: Shrunk, message: "had ${object.spec.replicas} replicas"}
`

// TestScale holds that a subresource that answers with another kind of object does
// not stop what else the rule wants.
func TestScale(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, deployments, namespace, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  paused: true # The Deployment controller stays out of it.
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}`)
		rules := rulesFile(t, namespace, shrink)
		if output, code := once(t, "--rules", rules); code != 0 {
			t.Fatalf("ended with %d:\n%s", code, output)
		}
		web := get(t, deployments, namespace, "web")
		if field(web, "spec", "replicas") != int64(2) || web.GetAnnotations()["shrunk"] != "yes" {
			t.Errorf("got %v replicas and the annotations %v", field(web, "spec", "replicas"), web.GetAnnotations())
		}
		if recorded := listEvents(t, namespace); len(recorded) != 1 {
			t.Errorf("want one event of the rule, have %v", recorded)
		}
		settled(t, "--rules", rules)
	})
}
