package tenants

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// wide is a cluster-wide set that leaves a finalizer on what others have in a namespace.
const wide = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: wide}
spec:
  serviceAccountName: bot
  serviceAccountNamespace: rules
  resources:
    services: {version: v1, resource: services, labelSelector: held}
  rules:
  - name: hold
    watch: services
    onDelete:
      actions: [{event: {reason: Held, message: held}}]
      done: object.metadata.labels.free == "yes"
`

const heldService = "apiVersion: v1\nkind: Service\nmetadata: {name: held, namespace: NAMESPACE, labels: {held: \"yes\"}}\nspec: {ports: [{port: 80}]}\n"

// TestSetDefinitionsDeleted holds that the CRDs of the sets can be deleted while there
// are sets: these clean up, and nothing of ours stays on any object. The process goes on,
// and takes new sets when there are CRDs again.
func TestSetDefinitionsDeleted(t *testing.T) {
	t.Parallel()
	on := alone(t)
	namespace := on.Namespace(t)
	p := start(t, on)
	keep(t, on, namespace)
	apply(t, on, namespace, heldService)
	apply(t, on, namespace, wide)
	services := schema.GroupVersionResource{Version: "v1", Resource: "services"}
	eventually(t, "the finalizer of the cluster-wide set", func() bool {
		return len(get(t, on, services, namespace, "held").GetFinalizers()) == 1
	})

	since := time.Now()
	names := []string{"rulesets.dyncontroller.dev", "clusterrulesets.dyncontroller.dev"}
	kubectl(t, on, append([]string{"delete", "crd", "--wait=false"}, names...)...)
	within(t, 2*time.Minute, "the CRDs are gone", func() bool {
		return get(t, on, definitions, "", names[0]) == nil && get(t, on, definitions, "", names[1]) == nil
	})
	t.Logf("the CRDs were gone after %s", time.Since(since).Round(time.Millisecond))
	if got := traces(t, on, namespace); got != "stays" {
		t.Errorf("when the CRDs are gone there is still %q", got)
	}
	for _, of := range []schema.GroupVersionResource{configmaps, services, pods, serviceaccounts, roles, tidbclusters} {
		list, err := client(t, on).Resource(of).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range list.Items {
			if f := strings.Join(object.GetFinalizers(), " "); strings.Contains(f, "dyncontroller.dev") {
				t.Errorf("%s %s has the finalizers %s", of.Resource, object.GetName(), f)
			}
		}
	}

	if err := install(t.Context(), on); err != nil {
		t.Fatal(err)
	}
	kubectl(t, on, "delete", "configmap", "a", "-n", namespace)
	keep(t, on, namespace)
	deleted(t, on, namespace)
	if p.over() {
		t.Error("the process has ended")
	}
}
