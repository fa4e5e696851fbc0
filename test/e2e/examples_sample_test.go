package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var foos = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}

// eventsAbout are the Events about an object of a kind, as type, reason and note, in no order.
func eventsAbout(t *testing.T, namespace, kind, name string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, event := range listEvents(t, namespace) {
		if event.Regarding.Kind == kind && event.Regarding.Name == name {
			out[event.Type+" "+event.Reason+": "+event.Note] = true
		}
	}
	return out
}

// TestExamplesSampleController holds that a Foo has its Deployment and the status of it, whatever the API server adds to a
// Deployment, and that a Deployment of nobody is left as it is.
func TestExamplesSampleController(t *testing.T) {
	alongside(t)
	crd := filepath.Join("..", "..", "examples", "rules", "sample-controller", "crds", "foos.yaml")
	if err := cluster(t).InstallCRDs(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	namespace := cluster(t).Namespace(t)
	foo := func(name string) {
		create(t, foos, namespace, fmt.Sprintf(`{apiVersion: samplecontroller.k8s.io/v1alpha1, kind: Foo,
			metadata: {name: %s}, spec: {deploymentName: %s-deployment, replicas: 1}}`, name, name))
	}
	create(t, deployments, namespace, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: late-deployment}, spec: {replicas: 5,
		selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: registry.example/a}]}}}}`)
	foreign := get(t, deployments, namespace, "late-deployment").GetResourceVersion()
	foo("first")
	foo("late")
	p := start(t, append(apart(namespace), "--rules", example(t, namespace, "sample-controller"))...)

	eventually(t, "the status is there", func() bool {
		return field(get(t, foos, namespace, "first"), "status", "availableReplicas") == int64(0)
	})
	made := get(t, deployments, namespace, "first-deployment")
	if owners := made.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != get(t, foos, namespace, "first").GetUID() {
		t.Errorf("the Deployment belongs to %v", owners)
	}
	edit(t, foos, namespace, "first", `{"spec":{"replicas":2}}`)
	eventually(t, "the Deployment follows", func() bool {
		return field(get(t, deployments, namespace, "first-deployment"), "spec", "replicas") == int64(2)
	})
	status := `{"status":{"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}`
	if _, err := controlPlane(t).Kubectl(t.Context(), "patch", "deployment", "first-deployment", "-n", namespace,
		"--subresource=status", "--type=merge", "-p", status); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the status follows", func() bool {
		return field(get(t, foos, namespace, "first"), "status", "availableReplicas") == int64(2)
	})
	want := map[string]bool{`Warning ErrResourceExists: Resource "late-deployment" already exists and is not managed by Foo`: true}
	eventually(t, "what belongs to nobody is told", func() bool { return cmp.Equal(want, eventsAbout(t, namespace, "Foo", "late")) })
	if diff := cmp.Diff(map[string]bool{"Normal Synced: Foo synced successfully": true}, eventsAbout(t, namespace, "Foo", "first")); diff != "" {
		t.Errorf("what is told of the Foo that is served (-want +got):\n%s", diff)
	}
	if now := get(t, deployments, namespace, "late-deployment").GetResourceVersion(); now != foreign {
		t.Error("the Deployment of nobody was written")
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("ended with %d", code)
	}
	settled(t, append(apart(namespace), "--rules", example(t, namespace, "sample-controller"))...)
}
